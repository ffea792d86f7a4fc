//! L14: an answer that was stored is brought by the next GET that asks for it, until it was delivered or trimmed.
//!
//! A GET asks for an answer when it has a cursor of its stream from before it, or, without one, when the stream is
//! answered in full and no other live listener replays it; what it asks for is settled when its connection is attached.
//! It is judged when the host ended its body, or when it was open for long enough. Of two GETs that are on their way at
//! once nobody can tell which is attached first: they are not judged. A fresh GET that brought as much as a bridge can take
//! leaves whole streams for the next one.

use super::limits::REPLAY_BYTES_MIN;
use super::one_replay_at_a_time::Replays;
use super::requests::Request;
use super::streams::{cuts_connections, ends_session, happened, parts};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "lost-answers-are-obtainable",
    kind: Kind::Always,
    claim: "a stored answer that was neither delivered nor trimmed is brought by the GET that asks for it",
    covers: &["L14"],
    judge,
};

/// A GET brings what it is asked for within this time, in ms: some dozen trips of a hostile world.
const BROUGHT_WITHIN_MS: u64 = 30_000;
const UNDELIVERED: &str = "__mcp_undelivered_stream__:";

fn judge(case: &Case<'_>) -> Verdict {
    let kept = Kept::asked(case);
    let mut brought: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for event in case.trace.named(Stream::History, "request.event") {
        if let (Some(request), Some(id)) = (event.number("request"), event.text("id")) {
            brought.entry(request).or_default().insert(id);
        }
    }
    let faults = case.faults();
    let nothing = BTreeSet::new();
    let mut violations = Vec::new();
    for (get, asked) in case.requests().iter().filter_map(|get| Some((get, kept.get(&get.begin.ordinal)?))) {
        let Some(shown) = judged_at(case, get) else { continue };
        let has = get.begin.number("request").and_then(|number| brought.get(&number)).unwrap_or(&nothing);
        for (id, rpc) in asked.iter().filter(|(id, _)| !has.contains(id)) {
            if faults.is_disturbed(&get.session, 0, shown.at_ms) || faults.held_ms(get.begin.at_ms, shown.at_ms) > 0 {
                continue;
            }
            let is_begun = || has.iter().any(|brought| same_stream(brought, id));
            if is_bounded(case, get, shown) && !is_begun() {
                continue;
            }
            let what =
                format!("{} did not bring the answer to {rpc}, which was stored and never delivered", get.what());
            violations.push(Violation::at(shown, what).of(&get.session).pending(format!("event {id}")));
        }
    }
    Verdict::of(violations, None)
}

/// Whether the session stopped a replay on the way of a GET, because it had sent as much as a bridge can take.
fn is_bounded(case: &Case<'_>, get: &Request<'_>, shown: &Event) -> bool {
    happened(case, &get.session, get.begin.ordinal, shown.ordinal, |event| {
        let is_full = event.number("bytes").is_some_and(|bytes| bytes >= REPLAY_BYTES_MIN);
        event.is(Stream::State, "replay.bounded") && is_full
    })
}

fn same_stream(one: &str, other: &str) -> bool {
    parts(one).map(|(stream, _)| stream) == parts(other).map(|(stream, _)| stream)
}

/// The event that shows what a GET has brought; nothing for one that says nothing.
fn judged_at<'t>(case: &Case<'t>, get: &Request<'t>) -> Option<&'t Event> {
    let head = get.head.filter(|_| get.status() == Some(200))?;
    let is_whole = matches!(get.outcome(), Some("ended" | "answered")) && !is_left_by_client(case, get);
    let shown = get.end.or(case.trace.events.last())?;
    let is_long = shown.at_ms >= head.at_ms + BROUGHT_WITHIN_MS;
    let is_told = (is_whole || is_long) && get.outcome() != Some("failed");
    // A teardown closes every connection, and a newer GET takes a stream over.
    let is_cut = happened(case, &get.session, get.begin.ordinal, shown.ordinal, |event| {
        cuts_connections(event) || ends_session(event)
    });
    let is_superseded = case.requests().iter().any(|other| {
        let is_later = (get.begin.ordinal + 1..shown.ordinal).contains(&other.begin.ordinal);
        is_later && other.session == get.session && other.begin.text("cursor").is_some()
    });
    (is_told && !is_cut && !is_superseded).then_some(shown)
}

/// Whether a GET has begun and shown nothing yet; one that its client left goes on for a while.
fn may_be_on_its_way(get: &Request<'_>, event: &Event) -> bool {
    let is_shown = match (get.head, get.end) {
        (Some(head), _) => head.ordinal < event.ordinal,
        (None, Some(end)) => end.at_ms + BROUGHT_WITHIN_MS < event.at_ms,
        (None, None) => false,
    };
    get.begin.ordinal < event.ordinal && !is_shown
}

/// Whether the client itself ended the stream that it held.
fn is_left_by_client(case: &Case<'_>, get: &Request<'_>) -> bool {
    let number = get.begin.number("request");
    let mut ends = case.trace.named(Stream::History, "stream.end");
    ends.any(|event| event.number("request") == number && event.text("by") == Some("client"))
}

/// The answers that each session keeps, as of the events applied so far.
#[derive(Default)]
struct Kept<'t> {
    /// Event id and JSON-RPC id of the answers of a session.
    answers: BTreeMap<&'t str, BTreeMap<&'t str, &'t str>>,
    /// Streams whose requests are all answered, by session.
    undelivered: BTreeSet<(&'t str, &'t str)>,
    gets: BTreeSet<u64>,
    /// Sockets of GETs whose body was ended with the client there.
    delivered: BTreeSet<u64>,
    replays: Replays<'t>,
}

type Asked<'t> = Vec<(&'t str, &'t str)>;

impl<'t> Kept<'t> {
    /// What each GET asks for, by the ordinal of its begin: event ids with JSON-RPC ids.
    fn asked(case: &Case<'t>) -> BTreeMap<u32, Asked<'t>> {
        let is_get = |request: &&Request| matches!(request.op(), "stream" | "recover");
        let gets: Vec<&Request> = case.requests().iter().filter(is_get).collect();
        let (mut kept, mut asked) = (Kept::default(), BTreeMap::new());
        for event in &case.trace.events {
            kept.apply(event);
            let is_attached = matches!(&*event.name, "listener.attached" | "stream.resumed");
            if is_attached && event.stream == Stream::State {
                let who = event.who().unwrap_or("");
                let mut waiting = gets.iter().filter(|get| get.session == who && may_be_on_its_way(get, event));
                if let (Some(get), None) = (waiting.next(), waiting.next()) {
                    let of_this = kept.asked_by(who, event.text("cursor"));
                    asked.entry(get.begin.ordinal).or_insert(of_this);
                }
            }
        }
        asked
    }

    fn asked_by(&self, who: &str, cursor: Option<&str>) -> Asked<'t> {
        let Some((who, answers)) = self.answers.get_key_value(who) else { return Vec::new() };
        let cursor = cursor.map(parts);
        let is_asked = |id: &str| match (parts(id), cursor) {
            (Some((stream, number)), Some(Some((of, after)))) => stream == of && number > after,
            (Some((stream, _)), None) => {
                self.undelivered.contains(&(*who, stream)) && !self.replays.is_replayed(who, stream)
            }
            _ => false,
        };
        answers.iter().filter(|(id, _)| is_asked(id)).map(|(id, rpc)| (*id, *rpc)).collect()
    }

    fn apply(&mut self, event: &'t Event) {
        self.replays.is_second(event);
        let Some(who) = event.who() else { return };
        if ends_session(event) {
            self.answers.remove(who);
        }
        let socket = event.number("socket");
        match (event.stream, &*event.name) {
            (Stream::State, "event.stored") => {
                if let (Some(id), Some(rpc)) = (event.text("id"), event.text("rpc")) {
                    self.answers.entry(who).or_default().insert(id, rpc);
                }
            }
            (Stream::Platform, "storage.put") => {
                let stream = event.text("key").and_then(|key| key.strip_prefix(UNDELIVERED));
                self.undelivered.extend(stream.map(|stream| (who, stream)));
            }
            (Stream::State, "events.trimmed") => {
                let Some((stream, last)) = event.text("last").and_then(parts) else { return };
                self.forget(who, |of, number| of == stream && number <= last);
            }
            (Stream::Platform, "socket.opened") if event.text("method") == Some("GET") => self.gets.extend(socket),
            (Stream::State, "sse.closed") if event.flag("attached") == Some(true) => self.delivered.extend(socket),
            (Stream::State, "delivery.acknowledged") => {
                let is_told = |socket: &u64| self.gets.contains(socket) && self.delivered.contains(socket);
                let Some(stream) = event.text("stream").filter(|_| socket.as_ref().is_some_and(is_told)) else {
                    return;
                };
                self.forget(who, |of, _| of == stream);
            }
            _ => {}
        }
    }

    fn forget(&mut self, who: &str, is_gone: impl Fn(&str, u64) -> bool) {
        if let Some(answers) = self.answers.get_mut(who) {
            answers.retain(|id, _| !parts(id).is_some_and(|(stream, number)| is_gone(stream, number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    /// An answer is stored at 10 ms; a fresh GET at 20 ms ends at 30.
    fn asked(brings: Option<&str>) -> Builder {
        let number = || ("request", 7_u64.into());
        let trace = Builder::default()
            .state(10, "s1", "event.stored", &[("id", "c3:0000000000000002".into()), ("rpc", "r1".into())])
            .platform(11, "s1", "storage.put", &[("key", "__mcp_undelivered_stream__:c3".into())])
            .history(20, "s1", "request.begin", &[number(), ("op", "recover".into())])
            .state(22, "s1", "listener.attached", &[("socket", 9_u64.into())])
            .history(25, "s1", "request.head", &[number(), ("status", 200_u64.into())])
            .history(30, "s1", "request.end", &[number(), ("outcome", "ended".into()), ("status", 200_u64.into())]);
        match brings {
            Some(id) => trace.history(27, "s1", "request.event", &[number(), ("id", id.into())]),
            None => trace,
        }
    }

    fn acknowledged(trace: Builder, method: &str) -> Builder {
        let socket = || ("socket", 4_u64.into());
        trace
            .platform(12, "s1", "socket.opened", &[socket(), ("method", method.into())])
            .state(13, "s1", "sse.closed", &[socket(), ("attached", true.into())])
            .state(14, "s1", "delivery.acknowledged", &[socket(), ("stream", "c3".into())])
    }

    #[test]
    fn a_get_that_ends_without_a_stored_answer_is_named() {
        assert_eq!(judged(INVARIANT, asked(Some("c3:0000000000000002"))), Verdict::Held);
        let found = violation(INVARIANT, asked(None));
        assert_eq!(found.what, "a recover did not bring the answer to r1, which was stored and never delivered");
    }

    #[test]
    fn an_answer_is_gone_once_a_get_delivered_it_and_not_before() {
        assert_eq!(judged(INVARIANT, acknowledged(asked(None), "GET")), Verdict::Held);
        violation(INVARIANT, acknowledged(asked(None), "POST"));
        let trimmed = asked(None).state(12, "s1", "events.trimmed", &[("last", "c3:0000000000000002".into())]);
        assert_eq!(judged(INVARIANT, trimmed), Verdict::Held);
    }

    #[test]
    fn what_a_full_replay_leaves_is_left_by_whole_streams() {
        let bounded = |trace: Builder, bytes: u64| trace.state(24, "s1", "replay.bounded", &[("bytes", bytes.into())]);
        assert_eq!(judged(INVARIANT, bounded(asked(Some("c2:0000000000000009")), 4_194_304)), Verdict::Held);
        violation(INVARIANT, bounded(asked(Some("c2:0000000000000009")), 4_194_303));
        violation(INVARIANT, bounded(asked(Some("c3:0000000000000001")), 4_194_304));
    }

    #[test]
    fn a_cursor_asks_for_what_comes_after_it_on_its_stream() {
        let with = |cursor: &str| {
            let resumed = asked(None).rename("listener.attached", "stream.resumed");
            resumed.change("stream.resumed", 0, "cursor", cursor.into())
        };
        violation(INVARIANT, with("c3:0000000000000001"));
        assert_eq!(judged(INVARIANT, with("c3:0000000000000002")), Verdict::Held);
        assert_eq!(judged(INVARIANT, with("c4:0000000000000001")), Verdict::Held);
    }
}
