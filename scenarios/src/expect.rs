//! What a call must answer: a tiny evaluator of the engine's code language, independent of the engine.
//!
//! The language: statements separated by `;`, run in order: `return <json>`, `wait <ms>`, `emit <json>`,
//! `fail "<text>"`, and `ask <question>` or `offer <question>`, which answer the call with the question: what follows is
//! for whoever resumes. A run without `return` completes with null; `answer` for a value is null before a question, and
//! `large <bytes> "<text>"` is a text of that length which begins so and goes on with dots.

use serde_json::{Value as Json, json};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the longest text that code can ask for.
const LARGE_BYTES_MAX: usize = 4_000_000;
/// Texts of answers that are longer than this are condensed, in bytes.
const TEXT_BYTES_MAX: usize = 2_000;

/// What a run of the code comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Its result or its failure.
    pub outcome: Outcome,
    /// What it emitted before, in order.
    pub emitted: Vec<Json>,
    /// The ms it waits in all.
    pub wait_ms: u64,
}

/// How a run of code ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It completed with this result.
    Value(Json),
    /// It failed with this text.
    Failure(String),
    /// It waits for a person, who is asked this.
    Question(String),
    /// It waits for a person, who is asked in the browser.
    Approval,
}

/// Evaluates code; nothing if it is not of the language up to where it ends.
pub fn evaluate(code: &str) -> Option<Expected> {
    let mut expected = Expected { outcome: Outcome::Value(Json::Null), emitted: Vec::new(), wait_ms: 0 };
    for statement in statements(code) {
        let statement = statement.trim();
        if statement.is_empty() {
            continue;
        }
        let (word, operand) = statement.split_once(char::is_whitespace)?;
        let value: Json = match operand.trim() {
            "answer" => Json::Null,
            operand if operand.starts_with("large ") => Json::String(large(operand)?),
            operand => serde_json::from_str(operand).ok()?,
        };
        match word {
            "return" => {
                expected.outcome = Outcome::Value(value);
                break;
            }
            "fail" => {
                expected.outcome = Outcome::Failure(value.as_str()?.to_owned());
                break;
            }
            "ask" | "offer" => {
                expected.outcome = Outcome::Question(question(&value)?);
                break;
            }
            "emit" => expected.emitted.push(value),
            "wait" => expected.wait_ms = expected.wait_ms.saturating_add(value.as_u64()?),
            _ => return None,
        }
    }
    Some(expected)
}

fn large(operand: &str) -> Option<String> {
    let rest = operand["large ".len()..].trim_start();
    let (digits, quoted) = rest.split_once(' ')?;
    let length: usize = digits.parse().ok()?;
    let beginning: String = serde_json::from_str(quoted.trim()).ok()?;
    let dots = length.saturating_sub(beginning.len());
    (length <= LARGE_BYTES_MAX).then(|| beginning + &".".repeat(dots))
}

/// The same with each long text as its beginning, length and hash: what a trace keeps of a large answer.
pub fn condensed(value: &Json) -> Json {
    match value {
        Json::String(text) if text.len() > TEXT_BYTES_MAX => {
            let beginning: String = text.chars().take(40).collect();
            Json::String(format!("{beginning}… ({} bytes, xxh3 {:016x})", text.len(), xxh3_64(text.as_bytes())))
        }
        Json::Array(items) => Json::Array(items.iter().map(condensed).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(key, value)| (key.clone(), condensed(value))).collect())
        }
        value => value.clone(),
    }
}

/// The message of a question: a form, or a page with its address.
fn question(value: &Json) -> Option<String> {
    let has_url = value["url"].is_string();
    let is_whole = match value["kind"].as_str()? {
        "form" => !has_url,
        "url" => has_url,
        _ => false,
    };
    value["message"].as_str().filter(|_| is_whole).map(str::to_owned)
}

/// Splits at each `;` outside of strings.
pub fn statements(code: &str) -> impl Iterator<Item = &str> {
    let mut in_string = false;
    let mut is_escaped = false;
    code.split(move |each: char| {
        if in_string {
            match each {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            return false;
        }
        in_string = each == '"';
        each == ';'
    })
}

/// The ms of each `wait` of a code, wherever it stands.
pub fn waits(code: &str) -> impl Iterator<Item = u64> {
    let words = statements(code).filter_map(|statement| statement.trim().split_once(char::is_whitespace));
    words.filter(|(word, _)| *word == "wait").filter_map(|(_, ms)| ms.trim().parse().ok())
}

impl Expected {
    /// The same where people are asked in the browser.
    #[must_use]
    pub fn in_browser(mut self) -> Self {
        if matches!(self.outcome, Outcome::Question(_)) {
            self.outcome = Outcome::Approval;
        }
        self
    }

    /// Compares with the JSON-RPC result of the call, condensed.
    ///
    /// # Errors
    /// One sentence on the first difference.
    pub fn compare(&self, answer: &Json) -> Result<(), String> {
        let told = &answer["structuredContent"];
        if let Outcome::Question(message) = &self.outcome {
            same("status", &told["status"], &json!("waiting_for_interaction"))?;
            same("message", &told["interaction"]["message"], &json!(message))?;
            return same("isError", &answer["isError"], &Json::Null);
        }
        let (status, key, value) = match &self.outcome {
            Outcome::Approval => {
                same("status", &told["status"], &json!("user_approval_required"))?;
                return same("isError", &answer["isError"], &Json::Null);
            }
            Outcome::Value(value) => ("completed", "result", value.clone()),
            Outcome::Failure(text) | Outcome::Question(text) => ("error", "error", Json::from(text.as_str())),
        };
        same("status", &told["status"], &json!(status))?;
        same(key, &told[key], &value)?;
        let is_error = answer["isError"].as_bool().unwrap_or(false);
        let must_fail = matches!(self.outcome, Outcome::Failure(_));
        same("isError", &is_error.into(), &must_fail.into())?;
        // Whatever was emitted is in the answer; the field may be absent when nothing was.
        let emitted = told.get("emitted").cloned().unwrap_or_else(|| json!([]));
        same("emitted", &emitted, &json!(self.emitted))?;
        if let Outcome::Value(value) = &self.outcome {
            let text = match value {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            same("text", &answer["content"][0]["text"], &Json::from(text))?;
        }
        Ok(())
    }
}

fn same(what: &str, found: &Json, expected: &Json) -> Result<(), String> {
    let expected = &condensed(expected);
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is {}, expected {}", shown(found), shown(expected)))
}

fn shown(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: &str) -> Option<Outcome> {
        evaluate(code).map(|expected| expected.outcome)
    }

    #[test]
    fn code_runs_in_order_up_to_its_return_or_failure() {
        let expected = evaluate(r#" wait 20; emit {"a":"x;y"} ; emit 2;wait 5; return "b;1"; fail "no" "#)
            .expect("of the language");
        assert_eq!(expected.outcome, Outcome::Value("b;1".into()));
        assert_eq!(expected.emitted, [json!({"a": "x;y"}), json!(2)]);
        assert_eq!(expected.wait_ms, 25);
        assert_eq!(outcome(r#"fail "boom""#), Some(Outcome::Failure("boom".into())));
        assert_eq!(outcome(r#"return large 8 "a;""#), Some(Outcome::Value("a;......".into())));
        assert_eq!(outcome("wait 1"), Some(Outcome::Value(Json::Null)));
        assert_eq!(outcome(""), Some(Outcome::Value(Json::Null)));
    }

    #[test]
    fn what_is_not_of_the_language_is_not_guessed() {
        for code in
            ["return", "return 1 2", "wait x", "fail 1", "jump 1", "return {", "wait -1", "emit large 5000000 \"a\""]
        {
            assert_eq!(evaluate(code), None, "{code}");
        }
    }

    #[test]
    fn a_question_answers_the_call_and_hides_what_follows() {
        let ask = r#"emit answer; ask {"kind":"form","message":"Deploy?"}; jump"#;
        assert_eq!(outcome(ask), Some(Outcome::Question("Deploy?".into())));
        for wrong in [r#"ask {"kind":"url","message":"m"}"#, r#"offer {"kind":"poll","message":"m"}"#, "ask 1"] {
            assert_eq!(outcome(wrong), None, "{wrong}");
        }
        let expected = evaluate(ask).expect("of the language");
        let answer = |message: &str| {
            let interaction = json!({"message": message});
            json!({"structuredContent": {"status": "waiting_for_interaction", "interaction": interaction}})
        };
        assert_eq!(expected.compare(&answer("Deploy?")), Ok(()));
        assert_eq!(expected.compare(&answer("No?")), Err("message is \"No?\", expected \"Deploy?\"".into()));
    }

    #[test]
    fn an_answer_is_compared_in_all_its_parts() {
        let expected = evaluate(r#"emit 1; return {"a":2}"#).expect("of the language");
        let right = json!({
            "structuredContent": {"status": "completed", "result": {"a": 2}, "emitted": [1], "logs": []},
            "content": [{"type": "text", "text": "{\"a\":2}"}],
        });
        assert_eq!(expected.compare(&right), Ok(()));
        for (pointer, wrong) in [
            ("/structuredContent/status", json!("error")),
            ("/structuredContent/result", json!({"a": 3})),
            ("/structuredContent/emitted", json!([])),
            ("/content/0/text", json!("other")),
        ] {
            let mut answer = right.clone();
            *answer.pointer_mut(pointer).expect("stands there") = wrong;
            assert!(expected.compare(&answer).is_err(), "{pointer}");
        }
    }

    #[test]
    fn a_failure_is_an_answer_too() {
        let expected = evaluate(r#"fail "boom""#).expect("of the language");
        let answer = json!({"isError": true, "structuredContent": {"status": "error", "error": "boom", "logs": []}});
        assert_eq!(expected.compare(&answer), Ok(()));
        let other = evaluate("return 1").expect("of the language");
        let told = other.compare(&answer).expect_err("a failure is no value");
        assert_eq!(told, "status is \"error\", expected \"completed\"");
    }
}
