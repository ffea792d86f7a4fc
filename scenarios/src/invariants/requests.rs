//! The requests of a history, each with its begin, head and end together.

use super::in_use::InUse;
use crate::plan::{Action, ClientPlan, Elicitation, Plan, Token, client_of};
use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;

/// A client that waits less than this, in ms, may give up while its request is still on a hostile world's wires: each
/// of a request's dozen trips takes up to a second there.
const SHORT_PATIENCE_MS: u64 = 12_000;

/// A resume in the browser waits so long for the person, in ms (session-core §1.7, PAUSED_APPROVAL_TIMEOUT_MS).
const APPROVAL_MS: u64 = 240_000;

/// One request as its client saw it.
pub struct Request<'a> {
    /// The event of its begin.
    pub begin: &'a Event,
    /// The head of its answer, if one came.
    pub head: Option<&'a Event>,
    /// Its end, if it ended.
    pub end: Option<&'a Event>,
    /// Alias of the session that its client used when it began.
    pub session: String,
}

/// All requests, by begin.
pub fn requests(trace: &Trace) -> Vec<Request<'_>> {
    let mut requests: Vec<Request> = Vec::new();
    let mut by_number: BTreeMap<u64, usize> = BTreeMap::new();
    let mut in_use = InUse::default();
    for event in &trace.events {
        in_use.apply(event);
        let Some(number) = event.number("request").filter(|_| event.stream == Stream::History) else {
            continue;
        };
        if event.name == "request.begin" {
            by_number.insert(number, requests.len());
            let session = in_use.session_for(event).to_owned();
            requests.push(Request { begin: event, head: None, end: None, session });
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
    /// Name of the client.
    pub fn client(&self) -> &'a str {
        self.begin.who().unwrap_or("")
    }

    /// What it is for: `open`, `call`, ….
    pub fn op(&self) -> &'a str {
        self.begin.text("op").unwrap_or("")
    }

    /// What it is for, as a sentence begins with it: `a call`, `an open`.
    pub fn what(&self) -> String {
        match self.op() {
            op @ ("open" | "initialized") => format!("an {op}"),
            "cancel" => "a cancellation".to_owned(),
            op => format!("a {op}"),
        }
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

    /// Whether its code or its person by itself takes more than half of the time that its client waits, the client reads
    /// nothing for so long, or it waits no longer than the wires of a hostile world may take: what it comes to then says
    /// nothing about the host.
    pub fn outlasts_patience(&self, plan: &Plan, all: &[Request]) -> bool {
        let Some(client) = plan.clients.iter().find(|client| client.name == self.client()) else { return false };
        let patience_ms = self.patience_ms(plan);
        let waits_for_person = self.op() == "resume" && self.is_asked_in_browser(plan);
        if patience_ms < SHORT_PATIENCE_MS || waits_for_person && patience_ms < APPROVAL_MS + SHORT_PATIENCE_MS {
            return true;
        }
        if self.stalled_ms(client, all) > patience_ms / 2 {
            return true;
        }
        let step = self.begin.number("step").and_then(|step| usize::try_from(step).ok());
        let code = step.filter(|_| self.op() == "call").and_then(|step| client.code_of_step(step));
        let expected = code.and_then(|code| crate::expect::evaluate(&code));
        expected.is_some_and(|expected| expected.wait_ms > patience_ms / 2)
    }

    /// The ms of it in which its client reads nothing. A stall begins between its time and the next request of a later step.
    fn stalled_ms(&self, client: &ClientPlan, all: &[Request]) -> u64 {
        let stalls = client.steps.iter().enumerate().filter_map(|(at, step)| match step.action {
            Action::Stall { ms } => Some((at as u64, step.at_ms, ms)),
            _ => None,
        });
        let end_ms = self.end.map_or(u64::MAX, |end| end.at_ms);
        let overlap = |(at, from_ms, ms): (u64, u64, u64)| {
            let is_after = |other: &&Request| {
                other.client() == self.client() && other.begin.number("step").is_some_and(|step| step > at)
            };
            let latest_ms = all.iter().find(is_after).map_or(end_ms, |other| other.begin.at_ms);
            latest_ms.saturating_add(ms).min(end_ms).saturating_sub(from_ms.max(self.begin.at_ms))
        };
        stalls.map(overlap).max().unwrap_or(0)
    }

    /// Whether people are asked in the browser in its session: who opened a session says where (session-core §2.9).
    pub fn is_asked_in_browser(&self, plan: &Plan) -> bool {
        let opener = plan.clients.iter().find(|client| client.name == client_of(&self.session));
        opener.is_some_and(|client| client.elicitation == Elicitation::Browser)
    }

    /// How long its client waits, in ms: a persona may wait less than its person would.
    pub fn patience_ms(&self, plan: &Plan) -> u64 {
        let of_plan = || plan.clients.iter().find(|client| client.name == self.client());
        self.begin.number("patience_ms").unwrap_or_else(|| of_plan().map_or(0, |client| client.request_timeout_ms))
    }

    /// Whether it is about no session that its client was given: it asks for one, or is not MCP.
    pub fn is_sessionless(&self) -> bool {
        matches!(self.op(), "open" | "discover" | "probe" | "look" | "decide")
    }

    /// The token that it presented; in the touch it is the one that the client came to last.
    pub fn token(&self, plan: &Plan) -> Token {
        let client = plan.clients.iter().find(|client| client.name == self.client());
        let step = self.begin.number("step").and_then(|step| usize::try_from(step).ok());
        client.zip(step).map(|(client, step)| client.token_at(step)).unwrap_or_default()
    }

    /// Whether the client was given the session that it asked for last: asking makes it forget what it had. Nothing for one
    /// that never asked.
    pub fn was_given_session(&self, all: &[Request]) -> Option<bool> {
        let is_own = |other: &&Request| other.op() == "open" && other.client() == self.client();
        let last = all.iter().filter(is_own).rfind(|open| open.begin.ordinal < self.begin.ordinal);
        let was_given =
            |open: &Request| open.is_served() && open.end.is_some_and(|end| end.ordinal < self.begin.ordinal);
        last.map(was_given)
    }

    /// Whether the client got what it came for: an answer, or for a stream its 200.
    pub fn is_served(&self) -> bool {
        match self.op() {
            // What its client left was served as long as it looked.
            _ if self.outcome() == Some("cut") => true,
            "stream" | "recover" => self.status() == Some(200),
            "initialized" | "cancel" => self.status().is_some_and(|status| status / 100 == 2),
            _ => self.outcome() == Some("answered"),
        }
    }
}
