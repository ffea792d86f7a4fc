//! Reads what the server answers: a JSON body, or an event stream with the answer somewhere in it.

use std::cell::Cell;

use serde_json::Value;

use super::{Answer, Noticed, Outcome};
use crate::net::http_client::{BodyStream, Response};
use crate::net::sse::{SseEvent, SseItem, SseParser};

/// Bytes of a body that is not a stream that a client takes.
const BODY_MAX: usize = 16 * 1024 * 1024;

/// How far a request has come, for the case that the client gives it up.
#[derive(Default)]
pub(super) struct Progress {
    /// Status, once the head came.
    pub(super) status: Cell<Option<u16>>,
    answered: Cell<bool>,
}

impl Progress {
    /// What is still missing.
    pub(super) fn waiting_for(&self) -> &'static str {
        match (self.status.get(), self.answered.get()) {
            (None, _) => "head",
            (Some(_), false) => "answer",
            (Some(_), true) => "end of body",
        }
    }
}

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

/// Reads the whole body of the answer to the message `id` (`None`: no response is expected).
pub(super) async fn read_answer(
    response: Response,
    id: Option<&str>,
    progress: &Progress,
    noticed: &Cell<Noticed>,
) -> Reading {
    let is_stream = response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    match id {
        Some(id) if is_stream && is_success(response.status) => read_stream(response.body, id, progress, noticed).await,
        id => read_whole(response, id).await,
    }
}

/// True for 2xx.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

async fn read_whole(response: Response, id: Option<&str>) -> Reading {
    let status = response.status;
    let body = match collect(response.body).await {
        Ok(body) => body,
        Err(text) => return Reading::failed(text),
    };
    let json = serde_json::from_slice::<Value>(&body).ok();
    if !is_success(status) {
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        let error = match json {
            Some(mut json) => json.get_mut("error").map(Value::take).unwrap_or(json),
            None if body.is_empty() => Value::Null,
            None => text(),
        };
        return Reading::complete(Outcome::Refused { error });
    }
    let Some(id) = id else {
        return Reading::complete(Outcome::Answered(Answer::Empty));
    };
    Reading::complete(match json.map(|json| answer_to(id, json)) {
        Some(Some(answer)) => Outcome::Answered(answer),
        Some(None) => Outcome::Failed("the body is not the answer to the request".to_owned()),
        None if body.is_empty() => Outcome::Ended,
        None => Outcome::Failed("the body is not JSON".to_owned()),
    })
}

async fn collect(mut body: BodyStream) -> Result<Vec<u8>, String> {
    let mut whole = Vec::new();
    while let Some(bytes) = body.next().await {
        let bytes = bytes?;
        if whole.len() + bytes.len() > BODY_MAX {
            return Err(format!("the body has more than {BODY_MAX} bytes"));
        }
        whole.extend_from_slice(&bytes);
    }
    Ok(whole)
}

async fn read_stream(mut body: BodyStream, id: &str, progress: &Progress, noticed: &Cell<Noticed>) -> Reading {
    let mut parser = SseParser::default();
    let mut found = None;
    while let Some(bytes) = body.next().await {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            // An answer that arrived whole stays one, whatever becomes of its connection.
            Err(text) => {
                return Reading { outcome: found.map_or(Outcome::Failed(text), Outcome::Answered), complete: false };
            }
        };
        for item in parser.feed(&bytes) {
            match look_at(item, noticed) {
                Ok(Some(message)) => match answer_to(id, message) {
                    Some(answer) if found.is_none() => found = Some(answer),
                    _ => notice(noticed, |noticed| &mut noticed.messages),
                },
                Ok(None) => {}
                Err(text) => return Reading::failed(text),
            }
        }
        progress.answered.set(found.is_some());
    }
    Reading::complete(found.map_or(Outcome::Ended, Outcome::Answered))
}

/// The message of one item, if it has one; counts the rest. An error when it is not what MCP sends.
pub(super) fn look_at(item: SseItem, noticed: &Cell<Noticed>) -> Result<Option<Value>, String> {
    match item {
        SseItem::Comment(_) => notice(noticed, |noticed| &mut noticed.comments),
        SseItem::TooLong => return Err("an event is too long".to_owned()),
        SseItem::Event(event) if is_priming(&event) => notice(noticed, |noticed| &mut noticed.priming),
        SseItem::Event(event) => {
            let data = event.data.unwrap_or_default();
            return match serde_json::from_str(&data) {
                Ok(message) => Ok(Some(message)),
                Err(error) => Err(format!("the data of an event is not JSON: {error}")),
            };
        }
    }
    Ok(None)
}

fn is_priming(event: &SseEvent) -> bool {
    event.event.as_deref() == Some("mcp-priming") || event.data.as_deref().unwrap_or_default().is_empty()
}

/// Counts one more of something.
pub(super) fn notice(noticed: &Cell<Noticed>, which: impl FnOnce(&mut Noticed) -> &mut u64) {
    let mut counts = noticed.get();
    *which(&mut counts) += 1;
    noticed.set(counts);
}

/// The result or error that `message` gives to the request `id`.
fn answer_to(id: &str, mut message: Value) -> Option<Answer> {
    if message.get("id").and_then(Value::as_str) != Some(id) {
        return None;
    }
    if let Some(result) = message.get_mut("result") {
        return Some(Answer::Result(result.take()));
    }
    message.get_mut("error").map(|error| Answer::Error(error.take()))
}
