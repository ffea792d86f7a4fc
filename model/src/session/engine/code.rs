//! The language of the code that an engine runs: statements separated by `;` (outside of strings), run in order.
//!
//! | statement | effect |
//! |---|---|
//! | `return <value>` | completes with the value; what follows is not looked at |
//! | `wait <ms>` | takes that many whole milliseconds |
//! | `emit <value>` | shows the value to the user |
//! | `fail "<text>"` | fails with the text |
//! | `ask <question>` | asks a person and waits; a response other than accept fails the code |
//! | `offer <question>` | asks a person and waits; goes on whatever the response is |
//!
//! A value is JSON, or the word `answer` for the last response (`{"action", "content"?}`, null before there is one), or
//! `large <bytes> "<text>"` for a text of that length (at most 4,000,000) which begins so and goes on with dots. A
//! question is a JSON object: `{"kind": "form", "message": …}` with `requestedSchema` if the person is to fill in
//! something, or `{"kind": "url", "message": …, "url": …}`; `address` and `args` say which tool asks, and with
//! `withinMs` the code gives up after so long. Questions in a row are pauses in a row.
//!
//! Code that ends without `return` completes with null. A statement that is none of these fails when it is reached.

use std::future::Future;

use serde_json::Value;

use crate::js::timer;
use crate::platform::JsError;
use crate::session::interaction::{Action, Interaction, Response};

/// How a run of code ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteResult {
    /// Its value, or the text of its failure.
    pub outcome: Result<Value, String>,
    /// What it showed to the user, in order.
    pub emitted: Vec<Value>,
}

/// Runs code; `ask` puts its questions and gives none when nobody responded in time.
///
/// # Errors
/// When a question cannot be put; code that fails is a result.
pub(super) async fn run<F, Fut>(code: &str, ask: F) -> Result<ExecuteResult, JsError>
where
    F: Fn(Interaction) -> Fut,
    Fut: Future<Output = Result<Option<Response>, JsError>>,
{
    let (mut emitted, mut answer) = (Vec::new(), Value::Null);
    for text in statements(code).map(str::trim).filter(|text| !text.is_empty()) {
        match Statement::parse(text, &answer) {
            Ok(Statement::Wait(ms)) => timer(ms).wait_hops(0).await,
            Ok(Statement::Emit(value)) => emitted.push(value),
            Ok(Statement::End(outcome)) => return Ok(ExecuteResult { outcome, emitted }),
            Ok(Statement::Ask { question, is_binding }) => match ask(question).await? {
                Some(response) if is_binding && response.action != Action::Accept => {
                    let outcome = Err(format!("InteractionRefused: {}", response.action.word()));
                    return Ok(ExecuteResult { outcome, emitted });
                }
                Some(response) => answer = response.to_json(),
                None => return Ok(ExecuteResult { outcome: Err("InteractionTimeout".to_owned()), emitted }),
            },
            Err(error) => return Ok(ExecuteResult { outcome: Err(error), emitted }),
        }
    }
    Ok(ExecuteResult { outcome: Ok(Value::Null), emitted })
}

#[derive(Debug, PartialEq)]
enum Statement {
    Wait(u64),
    Emit(Value),
    End(Result<Value, String>),
    Ask { question: Interaction, is_binding: bool },
}

impl Statement {
    fn parse(text: &str, answer: &Value) -> Result<Statement, String> {
        let refused = || format!("SyntaxError: Unexpected statement: {text}");
        let (word, operand) = text.split_once(char::is_whitespace).ok_or_else(refused)?;
        let value = match operand.trim() {
            "answer" => answer.clone(),
            operand if operand.starts_with("large ") => Value::String(large(operand).ok_or_else(refused)?),
            operand => serde_json::from_str(operand).map_err(|_| refused())?,
        };
        match (word, value) {
            ("return", value) => Ok(Statement::End(Ok(value))),
            ("emit", value) => Ok(Statement::Emit(value)),
            ("fail", Value::String(text)) => Ok(Statement::End(Err(text))),
            ("wait", value) => value.as_u64().map(Statement::Wait).ok_or_else(refused),
            ("ask" | "offer", value) => {
                let question = Interaction::from_json(&value).ok_or_else(refused)?;
                Ok(Statement::Ask { question, is_binding: word == "ask" })
            }
            _ => Err(refused()),
        }
    }
}

/// Bytes of the longest text that code can ask for.
const LARGE_BYTES_MAX: usize = 4_000_000;

/// The text of `large <bytes> "<text>"`.
fn large(operand: &str) -> Option<String> {
    let (bytes, beginning) = operand.strip_prefix("large ")?.trim_start().split_once(char::is_whitespace)?;
    let bytes: usize = bytes.parse().ok().filter(|bytes| *bytes <= LARGE_BYTES_MAX)?;
    let mut text: String = serde_json::from_str(beginning.trim()).ok()?;
    text.extend(std::iter::repeat_n('.', bytes.saturating_sub(text.len())));
    Some(text)
}

/// Splits at each `;` outside of strings.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    code.split(move |each| {
        if is_quoted {
            is_quoted = is_escaped || each != '"';
            is_escaped = each == '\\' && !is_escaped;
            return false;
        }
        is_quoted = each == '"';
        each == ';'
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Statement, String> {
        Statement::parse(text.trim(), &json!({"action": "accept"}))
    }

    #[test]
    fn strings_hide_semicolons_and_what_is_no_statement_is_refused() {
        let code = r#"emit {"a":"x;\";y"} ; wait 5;return "b;1";emit answer; return large 8 "a;""#;
        let parsed: Vec<_> = statements(code).map(parse).collect();
        let expected = [
            Ok(Statement::Emit(json!({"a": "x;\";y"}))),
            Ok(Statement::Wait(5)),
            Ok(Statement::End(Ok(json!("b;1")))),
            Ok(Statement::Emit(json!({"action": "accept"}))),
            Ok(Statement::End(Ok(json!("a;......")))),
        ];
        assert_eq!(parsed, expected);
        for text in ["return large", "emit large 5000000 \"a\"", "emit large 5 a"] {
            assert_eq!(parse(text), Err(format!("SyntaxError: Unexpected statement: {text}")));
        }
        for text in ["return", "return 1 2", "wait x", "wait -1", "fail 1", "jump 1", "return {", "ask {}", "offer 1"] {
            assert_eq!(parse(text), Err(format!("SyntaxError: Unexpected statement: {text}")));
        }
    }

    #[test]
    fn a_question_is_binding_when_it_is_asked_and_not_when_it_is_offered() {
        for (word, expected) in [("ask", true), ("offer", false)] {
            let parsed = parse(&format!(r#"{word} {{"kind":"form","message":"m"}}"#));
            assert!(matches!(parsed, Ok(Statement::Ask { is_binding, .. }) if is_binding == expected), "{parsed:?}");
        }
    }
}
