//! What is wrong with something a person handed in: where, what, and what to do about it, in one sentence.

use std::fmt;

/// A refusal of input from outside, for the plan and trace readers and for validation.
///
/// `Display` is one sentence: place, problem, remedy. Text from outside that stands in a part is bounded and its control
/// characters are written out, so that the sentence stays one line whatever the file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    /// Where: a file name, a line and column, or a field path such as `clients[0].steps[3].at_ms`.
    pub place: String,
    /// What was found and what was expected instead.
    pub problem: String,
    /// What the person can do.
    pub remedy: String,
}

impl BadInput {
    /// Builds a refusal from its three parts.
    pub fn new(place: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            place: told(place.into(), 200),
            problem: told(problem.into(), PROBLEM_CHARS_MAX),
            remedy: told(remedy.into(), 200),
        }
    }

    /// The same refusal with the name of the file put before its place.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        self.place = format!("{file}: {}", self.place);
        self
    }
}

/// The longest problem, in characters: what was expected stands at its end, and is some two hundred.
const PROBLEM_CHARS_MAX: usize = 500;

/// A part of a sentence: control characters written out, and the middle left out where it is too long, since a reader's
/// message begins with what was found and ends with what was expected.
fn told(part: String, chars_max: usize) -> String {
    let part = if part.contains(char::is_control) { part.chars().map(written_out).collect() } else { part };
    let count = part.chars().count();
    if count <= chars_max {
        return part;
    }
    let head = chars_max / 4;
    let tail = chars_max - head - 3;
    let head: String = part.chars().take(head).collect();
    let tail: String = part.chars().skip(count - tail).collect();
    format!("{head} … {tail}")
}

fn written_out(each: char) -> String {
    if each.is_control() { each.escape_default().to_string() } else { each.to_string() }
}

impl fmt::Display for BadInput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: {}", self.place, self.problem, self.remedy)
    }
}

impl std::error::Error for BadInput {}

/// The longest input that is read at all, in bytes: 16 MiB for a plan.
pub const PLAN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest trace that is read at all, in bytes: 1 GiB.
pub const TRACE_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Turns bytes into text, or says at which byte they stop being UTF-8; `what` they are, such as `plan`.
///
/// # Errors
/// Bytes that are empty or no UTF-8.
pub fn text_of<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, BadInput> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(BadInput::new(
            "byte 0",
            format!("the {what} is empty, expected JSON"),
            format!("write the {what} again"),
        ));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        BadInput::new(
            format!("byte {}", error.valid_up_to()),
            format!("the {what} is not UTF-8 text"),
            "save it as UTF-8, or check that it is the right file",
        )
    })
}

/// Words a JSON error of the reader as a refusal with line and column.
pub fn from_json(error: &serde_json::Error, what: &str) -> BadInput {
    let place = format!("line {} column {}", error.line(), error.column());
    let told = error.to_string();
    let told = told.rfind(" at line ").map_or(told.as_str(), |end| &told[..end]);
    if error.is_eof() {
        return BadInput::new(
            place,
            format!("the {what} ends in the middle"),
            "it was cut off, so copy or write it again",
        );
    }
    if told.starts_with("recursion limit exceeded") {
        return BadInput::new(
            place,
            "the JSON is nested more than 128 levels deep",
            format!("check that it is a {what}"),
        );
    }
    let remedy = if error.is_data() { "correct the value or remove the field" } else { "correct the JSON there" };
    BadInput::new(place, plainly(told), remedy)
}

/// What a reader tells, in the words of JSON instead of those of the types that are read into.
fn plainly(told: &str) -> String {
    let mismatch = told.strip_prefix("invalid type: ").or_else(|| told.strip_prefix("invalid value: "));
    match mismatch.and_then(|mismatch| mismatch.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("found {}, expected {}", found_plainly(found), expected_plainly(expected)),
        None => match told.strip_prefix("unknown variant ") {
            Some(rest) => format!("unknown value {rest}"),
            None => told.to_owned(),
        },
    }
}

fn found_plainly(found: &str) -> String {
    let kinds =
        [("string ", "the text "), ("integer ", "the number "), ("floating point ", "the number "), ("boolean ", "")];
    let plain = kinds.iter().find_map(|(kind, plain)| Some(format!("{plain}{}", found.strip_prefix(kind)?)));
    plain.unwrap_or_else(|| match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        other => other.to_owned(),
    })
}

fn expected_plainly(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number, not negative",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a map" => "an object",
        "a sequence" => "a list",
        "a string" => "a text",
        "a boolean" => "true or false",
        "enum" | "unit variant" | "unit" => "a name alone",
        other if other.starts_with("struct ") || other.contains(" tagged enum ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_reads_as_one_sentence_with_the_file_first() {
        let refusal = BadInput::new("line 3", "no such field", "remove it").in_file("plan.json");
        assert_eq!(refusal.to_string(), "plan.json: line 3: no such field: remove it");
    }

    #[test]
    fn text_from_outside_neither_breaks_the_line_nor_makes_it_endless() {
        let field = format!("unknown field `a\n\u{1b}[31m{}`, expected `b` or `c`", "é".repeat(100_000));
        let told = BadInput::new("line 3", field, "remove it").to_string();
        assert!(told.starts_with("line 3: unknown field `a\\n\\u{1b}[31mé"), "{told}");
        assert!(told.ends_with("é`, expected `b` or `c`: remove it"), "{told}");
        assert!(told.chars().count() < 600, "{told}");
    }
}
