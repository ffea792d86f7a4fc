//! What a paused execution asks of a person, and what the person responds.

use serde_json::{Map, Value, json};

/// How the person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InteractionKind {
    /// A page to open.
    Url,
    /// A form to fill in.
    Form,
}

impl InteractionKind {
    /// The word in results and in code.
    pub fn word(self) -> &'static str {
        match self {
            InteractionKind::Url => "url",
            InteractionKind::Form => "form",
        }
    }
}

/// One question of running code.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// How the person is asked.
    pub kind: InteractionKind,
    /// The question.
    pub message: String,
    /// Address of the tool that asks.
    pub address: String,
    /// Arguments that the tool was called with.
    pub args: Value,
    /// The page, for a question of kind `url`.
    pub url: Option<String>,
    /// What a filled in form must look like, for one of kind `form`.
    pub requested_schema: Option<Value>,
    /// The asking code gives up after so many milliseconds.
    pub within_ms: Option<u64>,
}

impl Interaction {
    /// The question that stands in code as a JSON object; none when it is no question.
    pub fn from_json(value: &Value) -> Option<Interaction> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = match value.get("kind")?.as_str()? {
            "url" => InteractionKind::Url,
            "form" => InteractionKind::Form,
            _ => return None,
        };
        let url = text("url");
        if (kind == InteractionKind::Url) != url.is_some() {
            return None;
        }
        Some(Interaction {
            kind,
            message: text("message")?,
            address: text("address").unwrap_or_default(),
            args: value.get("args").cloned().unwrap_or_else(|| json!({})),
            url,
            requested_schema: value.get("requestedSchema").cloned(),
            within_ms: value.get("withinMs").and_then(Value::as_u64),
        })
    }
}

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Yes, with content if asked for.
    Accept,
    /// No.
    Decline,
    /// Neither.
    Cancel,
}

impl Action {
    /// The word in requests, records and attributes.
    pub fn word(self) -> &'static str {
        match self {
            Action::Accept => "accept",
            Action::Decline => "decline",
            Action::Cancel => "cancel",
        }
    }
}

/// A person's response.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// What was decided.
    pub action: Action,
    /// What goes with it, an object.
    pub content: Option<Map<String, Value>>,
}

impl Response {
    /// The response for what waits for none: the engine knows what became of it, or nothing.
    pub fn none() -> Response {
        Response { action: Action::Cancel, content: None }
    }

    /// The response for an approval that nobody gave in time.
    pub fn timed_out() -> Response {
        let content = Map::from_iter([("reason".to_owned(), json!("approval_timeout"))]);
        Response { action: Action::Decline, content: Some(content) }
    }

    /// The response of a JSON object `{action, content?}`; none for another action or a content that is no object.
    pub fn from_json(value: &Value) -> Option<Response> {
        let action = match value.get("action")?.as_str()? {
            "accept" => Action::Accept,
            "decline" => Action::Decline,
            "cancel" => Action::Cancel,
            _ => return None,
        };
        let content = match value.get("content") {
            None | Some(Value::Null) => None,
            Some(content) => Some(content.as_object()?.clone()),
        };
        Some(Response { action, content })
    }

    /// As it is stored and passed on.
    pub fn to_json(&self) -> Value {
        let mut record = json!({"action": self.action.word()});
        if let Some(content) = &self.content {
            record["content"] = Value::Object(content.clone());
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_comes_back_the_same_and_anything_else_is_none() {
        for text in [r#"{"action":"accept","content":{"a":1}}"#, r#"{"action":"decline"}"#, r#"{"action":"cancel"}"#] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(Response::from_json(&value).expect("a response").to_json(), value);
        }
        for value in [json!({}), json!({"action": "maybe"}), json!({"action": "accept", "content": [1]})] {
            assert_eq!(Response::from_json(&value), None, "{value}");
        }
    }

    #[test]
    fn a_question_needs_a_kind_a_message_and_a_page_exactly_when_it_is_one() {
        let form = json!({"kind": "form", "message": "Deploy?", "args": {"env": "prod"}, "withinMs": 5});
        let asked = Interaction::from_json(&form).expect("a question");
        assert_eq!((asked.kind, asked.within_ms, &asked.args["env"]), (InteractionKind::Form, Some(5), &json!("prod")));
        for wrong in [
            json!({"kind": "form"}),
            json!({"kind": "url", "message": "Sign in"}),
            json!({"kind": "form", "message": "m", "url": "https://a"}),
            json!({"kind": "poll", "message": "m"}),
        ] {
            assert_eq!(Interaction::from_json(&wrong), None, "{wrong}");
        }
    }
}
