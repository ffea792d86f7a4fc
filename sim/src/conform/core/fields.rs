//! The fields of a JSON object from outside, taken one by one: each refusal names field, what stands there and what was
//! expected.

use scenarios::bad_input::BadInput;
use serde_json::{Map, Value};

use crate::text::{printable, shortened};

/// An object that is read.
pub struct Fields<'a> {
    map: &'a Map<String, Value>,
    place: &'a str,
    /// What it is within its place, with a point behind it, or nothing.
    inside: String,
}

/// What to do about a value that is not as expected.
const CORRECT: &str = "correct the value, or take the recording again";

impl<'a> Fields<'a> {
    /// An object that stands in a place.
    pub fn new(map: &'a Map<String, Value>, place: &'a str) -> Self {
        Fields { map, place, inside: String::new() }
    }

    /// The object in a field.
    pub fn object(&self, name: &str) -> Result<Fields<'a>, BadInput> {
        let map = self.taken(name, "an object", Value::as_object)?;
        Ok(Fields { map, place: self.place, inside: format!("{}{name}.", self.inside) })
    }

    /// The objects of the list in a field.
    pub fn objects(&self, name: &str) -> Result<Vec<Fields<'a>>, BadInput> {
        let items = self.list(name)?.iter().enumerate();
        let read = |(index, item): (usize, &'a Value)| {
            let at = format!("{name}[{index}]");
            let map = item.as_object().ok_or_else(|| self.unlike(&at, item, "an object"))?;
            Ok(Fields { map, place: self.place, inside: format!("{}{at}.", self.inside) })
        };
        items.map(read).collect()
    }

    /// Refuses a field that is none of these.
    pub fn only(&self, known: &[&str]) -> Result<(), BadInput> {
        match self.map.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let problem = format!("unknown field {}, expected {}", self.quoted(name), known.join(", "));
                Err(BadInput::new(self.place, problem, "remove it"))
            }
        }
    }

    /// Whether a field is there.
    pub fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// A whole number that is not negative.
    pub fn whole(&self, name: &str) -> Result<u64, BadInput> {
        self.taken(name, "a whole number, not negative", Value::as_u64)
    }

    /// A whole number, or none where nothing is.
    pub fn number_or_null(&self, name: &str) -> Result<Option<i64>, BadInput> {
        let number = |value: &Value| if value.is_null() { Some(None) } else { value.as_i64().map(Some) };
        self.taken(name, "a whole number or null", number)
    }

    /// A whole number that may be negative.
    pub fn number(&self, name: &str) -> Result<i64, BadInput> {
        self.taken(name, "a whole number", Value::as_i64)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<&'a str, BadInput> {
        self.taken(name, "a text", Value::as_str)
    }

    /// One of these words.
    pub fn word(&self, name: &str, words: &[&str]) -> Result<&'a str, BadInput> {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        self.taken(name, &quoted.join(" or "), |value| value.as_str().filter(|word| words.contains(word)))
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Result<bool, BadInput> {
        self.taken(name, "true or false", Value::as_bool)
    }

    /// A list.
    pub fn list(&self, name: &str) -> Result<&'a [Value], BadInput> {
        self.taken(name, "a list", |value| value.as_array().map(Vec::as_slice))
    }

    /// What is there, of whatever kind.
    pub fn any(&self, name: &str) -> Result<&'a Value, BadInput> {
        self.map.get(name).ok_or_else(|| {
            BadInput::new(
                self.place,
                format!("{} is missing", self.quoted(name)),
                "add it, or take the recording again",
            )
        })
    }

    /// All fields with their names.
    pub fn all(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// Where it stands.
    pub fn place(&self) -> &'a str {
        self.place
    }

    /// A refusal of what a field says.
    pub fn wrong(&self, name: &str, problem: &str, remedy: &str) -> BadInput {
        BadInput::new(self.place, format!("{} {problem}", self.quoted(name)), remedy)
    }

    fn taken<T>(&self, name: &str, expected: &str, take: impl FnOnce(&'a Value) -> Option<T>) -> Result<T, BadInput> {
        let value = self.any(name)?;
        take(value).ok_or_else(|| self.unlike(name, value, expected))
    }

    fn unlike(&self, name: &str, value: &Value, expected: &str) -> BadInput {
        self.wrong(name, &format!("is {}, expected {expected}", shown(value)), CORRECT)
    }

    fn quoted(&self, name: &str) -> String {
        format!("`{}{}`", self.inside, printable(&shortened(name, 60)))
    }
}

/// A value in a sentence.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => printable(&shortened(&other.to_string(), 60)).into_owned(),
    }
}
