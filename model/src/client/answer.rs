//! Reads what the server answers: a JSON body, or an event stream with the answers somewhere in it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reading::{Progress, Told, is_success};
use super::{Answer, Outcome};
use crate::net::http_client::{BodyStream, Response};
use crate::net::sse::SseParser;

/// Bytes of a body that is not a stream that a client takes.
const BODY_MAX: usize = 16 * 1024 * 1024;

/// What one body came to.
pub(super) struct Reading {
    /// How the request ended.
    pub(super) outcome: Outcome,
    /// True when the body was read to its end, so that the connection can be used again.
    pub(super) complete: bool,
}

impl Reading {
    fn failed(text: String) -> Reading {
        Reading { outcome: Outcome::Failed(text), complete: false }
    }

    fn complete(outcome: Outcome) -> Reading {
        Reading { outcome, complete: true }
    }
}

/// Reads the whole body of the answer to the requests `ids` (none: no response is expected).
pub(super) async fn read_answer(response: Response, ids: &[String], progress: &Progress<'_>) -> Reading {
    let is_stream = response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    if is_stream && !ids.is_empty() && is_success(response.status) {
        return read_stream(response.body, ids, progress).await;
    }
    read_whole(response, ids, progress).await
}

async fn read_whole(response: Response, ids: &[String], progress: &Progress<'_>) -> Reading {
    let status = response.status;
    let body = match collect(response.body, progress).await {
        Ok(body) => body,
        Err(text) => return Reading::failed(text),
    };
    let json = serde_json::from_slice::<Value>(&body).ok();
    if !is_success(status) {
        progress.told.set(json.as_ref().map_or(Told::Nothing, |json| told(json, ids)));
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        let error = match json {
            Some(mut json) => json.get_mut("error").map(Value::take).unwrap_or(json),
            None if body.is_empty() => Value::Null,
            None => text(),
        };
        return Reading::complete(Outcome::Refused { error });
    }
    if ids.is_empty() {
        return Reading::complete(Outcome::Answered(Answer::Empty));
    }
    let Some(json) = json else {
        let is_nothing = body.is_empty();
        return Reading::complete(if is_nothing { Outcome::Ended } else { failed("the body is not JSON") });
    };
    let mut answers = Answers::to(ids);
    answers.take(json);
    let outcome = answers.all().map_or_else(|| failed("the body is not the answer to the request"), Outcome::Answered);
    Reading::complete(outcome)
}

fn failed(text: &str) -> Outcome {
    Outcome::Failed(text.to_owned())
}

/// What a refusal says to the requests `ids`.
fn told(json: &Value, ids: &[String]) -> Told {
    let id = json.get("id").and_then(Value::as_str);
    match json.get("error").is_some() {
        true if id.is_some_and(|id| ids.iter().any(|own| own == id)) => Told::Own,
        true => Told::Foreign,
        false => Told::Nothing,
    }
}

async fn collect(mut body: BodyStream, progress: &Progress<'_>) -> Result<Vec<u8>, String> {
    let mut whole = Vec::new();
    while let Some(bytes) = progress.next_of(&mut body).await {
        let bytes = bytes?;
        if whole.len() + bytes.len() > BODY_MAX {
            return Err(format!("the body has more than {BODY_MAX} bytes"));
        }
        whole.extend_from_slice(&bytes);
    }
    Ok(whole)
}

/// Reads an event stream to its end, for the answers to the requests `ids`.
pub(super) async fn read_stream(mut body: BodyStream, ids: &[String], progress: &Progress<'_>) -> Reading {
    let (mut parser, mut answers) = (SseParser::default(), Answers::to(ids));
    while let Some(bytes) = progress.next_of(&mut body).await {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            // An answer that arrived whole stays one, whatever becomes of its connection.
            Err(text) => {
                let outcome = answers.all().map_or(Outcome::Failed(text), Outcome::Answered);
                return Reading { outcome, complete: false };
            }
        };
        for item in parser.feed(&bytes) {
            match progress.look_at(item).await {
                Ok(Some(message)) => match answers.take(message) {
                    true => progress.answer(|| answers.clone().all()),
                    false => progress.count_message(),
                },
                Ok(None) => {}
                Err(text) => return Reading::failed(text),
            }
            progress.set_answered(answers.are_complete());
        }
    }
    Reading::complete(answers.all().map_or(Outcome::Ended, Outcome::Answered))
}

/// The answers to the requests of one body, as they come.
#[derive(Clone)]
struct Answers<'a> {
    ids: &'a [String],
    found: BTreeMap<&'a str, Answer>,
}

impl<'a> Answers<'a> {
    fn to(ids: &'a [String]) -> Self {
        Answers { ids, found: BTreeMap::new() }
    }

    /// Takes a message that is the first answer to one of the requests; false for any other.
    fn take(&mut self, mut message: Value) -> bool {
        let of = message.get("id").and_then(Value::as_str);
        let Some(id) = self.ids.iter().find(|id| Some(id.as_str()) == of) else { return false };
        let answer = if let Some(result) = message.get_mut("result") {
            Answer::Result(result.take())
        } else if let Some(error) = message.get_mut("error") {
            Answer::Error(error.take())
        } else {
            return false;
        };
        let is_first = !self.found.contains_key(id.as_str());
        self.found.entry(id).or_insert(answer);
        is_first
    }

    fn are_complete(&self) -> bool {
        self.found.len() == self.ids.len()
    }

    /// The answer of the whole body, once every request has its own.
    fn all(mut self) -> Option<Answer> {
        if !self.are_complete() || self.ids.is_empty() {
            return None;
        }
        let mut results = Vec::new();
        for id in self.ids {
            match self.found.remove(id.as_str())? {
                Answer::Result(result) => results.push(result),
                error => return Some(error),
            }
        }
        Some(Answer::Result(if self.ids.len() == 1 { results.remove(0) } else { Value::Array(results) }))
    }
}
