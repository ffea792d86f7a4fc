//! The requests of a history, each with its begin, head and end together.

use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;

/// One request as its client saw it.
pub struct Request<'a> {
    /// The event of its begin.
    pub begin: &'a Event,
    /// The head of its answer, if one came.
    pub head: Option<&'a Event>,
    /// Its end, if it ended.
    pub end: Option<&'a Event>,
}

/// All requests, by begin.
pub fn requests(trace: &Trace) -> Vec<Request<'_>> {
    let mut requests: Vec<Request> = Vec::new();
    let mut by_number: BTreeMap<u64, usize> = BTreeMap::new();
    for event in trace.of(Stream::History) {
        let Some(number) = event.number("request") else {
            continue;
        };
        if event.name == "request.begin" {
            by_number.insert(number, requests.len());
            requests.push(Request { begin: event, head: None, end: None });
        } else if let Some(request) = by_number.get(&number).and_then(|at| requests.get_mut(*at)) {
            match &*event.name {
                "request.head" => request.head = Some(event),
                "request.end" => request.end = Some(event),
                _ => {}
            }
        }
    }
    requests
}

impl<'a> Request<'a> {
    /// Alias of the client.
    pub fn client(&self) -> &'a str {
        self.begin.who().unwrap_or("")
    }

    /// What it is for: `open`, `call`, ….
    pub fn op(&self) -> &'a str {
        self.begin.text("op").unwrap_or("")
    }

    /// How it ended: `answered`, `refused`, `ended`, `gave-up`, `failed`.
    pub fn outcome(&self) -> Option<&'a str> {
        self.end?.text("outcome")
    }

    /// The status that came, by head or end.
    pub fn status(&self) -> Option<u64> {
        let of = |event: Option<&Event>| event.and_then(|event| event.number("status"));
        of(self.head).or(of(self.end))
    }

    /// Whether the client got what it came for: an answer, or for a stream its 200.
    pub fn is_served(&self) -> bool {
        match self.op() {
            "stream" => self.status() == Some(200),
            "initialized" => self.status().is_some_and(|status| status / 100 == 2),
            _ => self.outcome() == Some("answered"),
        }
    }
}
