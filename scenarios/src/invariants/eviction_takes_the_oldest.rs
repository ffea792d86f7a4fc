//! I16, I18: for the cap goes the session that was used least recently, and never one with something live.
//!
//! Requests that have no row yet are another claim's: `eviction-cuts-no-request`.

use super::faults::FaultLog;
use super::holdings::{Holdings, Thing};
use super::limits::EVICTION_GRACE_MS;
use super::replay::{Replay, Session};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "eviction-takes-the-oldest",
    kind: Kind::Always,
    claim: "over the cap the session that was used least recently is asked, but none that is live or was asked within 15 s; and none with a live connection, a pause or an unanswered request is disposed for the cap",
    covers: &["I16", "I18", "I19", "L9"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut judge = Judge {
        faults: case.faults(),
        is_told: false,
        ghosts: BTreeSet::new(),
        asked: BTreeMap::new(),
        passed_over: BTreeSet::new(),
        since: BTreeMap::new(),
        violations: Vec::new(),
    };
    Holdings::each(case, |holdings, replay, event| match (event.stream, &*event.name) {
        (Stream::State, _) => judge.state(holdings, replay, event),
        (Stream::Platform, "object.reset" | "object.gone") => {
            judge.ghosts.insert(event.who().unwrap_or(""));
        }
        (Stream::Platform, "storage.put") => {
            let stream = event.text("key").and_then(|key| key.strip_prefix("__mcp_stream_reqs__:"));
            judge.since.extend(stream.map(|stream| (stream, event.at_ms)));
        }
        _ => {}
    });
    let unknown = (!judge.is_told).then(|| "no cold build was ever admitted".to_owned());
    Verdict::of(judge.violations, unknown)
}

struct Judge<'t> {
    faults: &'t FaultLog<'t>,
    is_told: bool,
    /// Sessions whose incarnation is gone and may have left its registry entry: that asks the dead for its sockets.
    ghosts: BTreeSet<&'t str>,
    /// When each registered session was last asked, in ms.
    asked: BTreeMap<&'t str, u64>,
    /// Sessions that were passed over since the last check of their isolate.
    passed_over: BTreeSet<&'t str>,
    /// Since when each execution is paused and each stream has a row, in ms.
    since: BTreeMap<&'t str, u64>,
    violations: Vec<Violation>,
}

impl<'t> Judge<'t> {
    fn state(&mut self, holdings: &Holdings, replay: &Replay, event: &'t Event) {
        let Some(who) = event.who() else { return };
        let Some(session) = replay.session(who) else { return };
        match &*event.name {
            "cap.checked" => {
                self.is_told = true;
                self.passed_over.clear();
            }
            "registry.added" | "registry.removed" => {
                self.asked.remove(who);
                self.ghosts.remove(who);
            }
            "execution.paused" | "execution.kept" => {
                self.since.extend(event.text("execution").map(|execution| (execution, event.at_ms)));
            }
            "eviction.passed-over" => self.passed(who, session, event),
            "eviction.requested" => self.requested(holdings, replay, event),
            "disposal.begin" if event.text("reason") == Some("cap") => self.disposed(who, session, event),
            _ => {}
        }
    }

    fn disposed(&mut self, who: &str, session: &Session, event: &Event) {
        let sockets = session.sockets.len();
        if self.faults.holds_eviction(event.at_ms) {
            return;
        }
        if sockets > 0 {
            self.add(event, format!("session {who} was disposed for the cap with {sockets} live connections"));
        }
        // What came while it looked again, it may not have seen.
        let is_older = |since: Option<&u64>| since.is_some_and(|since_ms| *since_ms < event.at_ms);
        let paused = session.paused.iter().filter(|execution| is_older(self.since.get(&***execution))).count();
        if paused > 0 {
            self.add(event, format!("session {who} was disposed for the cap with {paused} paused executions"));
        }
        let rows = session.requests.iter().filter(|stream| is_older(self.since.get(&***stream))).count();
        if rows > 0 {
            self.add(event, format!("session {who} was disposed for the cap with {rows} unanswered requests"));
        }
    }

    fn passed(&mut self, who: &'t str, session: &Session, event: &'t Event) {
        self.passed_over.insert(who);
        let asked_ms = self.asked.get(who).copied();
        let is_recent = asked_ms.is_some_and(|asked| event.at_ms - asked < EVICTION_GRACE_MS);
        match event.text("reason") {
            Some("requested") if !is_recent => {
                let since = asked_ms.map_or("never".to_owned(), |asked| format!("{} ms ago", event.at_ms - asked));
                self.add(event, format!("session {who} was spared although it was asked last {since}"));
            }
            Some("stream") if session.sockets.is_empty() => {
                self.add(event, format!("session {who} was spared for a stream that it does not have"));
            }
            _ => {}
        }
    }

    fn requested(&mut self, holdings: &Holdings, replay: &Replay, event: &'t Event) {
        let (who, isolate) = (event.who().unwrap_or(""), event.text("isolate").unwrap_or(""));
        if let Some(ago_ms) = self.asked.insert(who, event.at_ms).map(|asked| event.at_ms - asked)
            && ago_ms < EVICTION_GRACE_MS
        {
            self.add(event, format!("session {who} was asked for its runtime again after {ago_ms} ms"));
        }
        let Some(session) = replay.session(who) else { return };
        if !session.sockets.is_empty() && !self.ghosts.contains(who) {
            let count = session.sockets.len();
            self.add(event, format!("session {who} was asked for its runtime with {count} live connections"));
        }
        let used_ms = session.activity_at_ms.unwrap_or(0);
        let older = |(other, at): &(&Arc<str>, &Arc<str>)| {
            let is_choice = ***at == *isolate && !self.passed_over.contains(&***other) && ***other != *who;
            is_choice && replay.session(other).is_some_and(|each| each.activity_at_ms.unwrap_or(0) < used_ms)
        };
        let older = holdings.all(Thing::Entry).find(older).filter(|_| holdings.is_sound(isolate));
        if let Some((other, _)) = older {
            self.add(event, format!("session {who} was asked for its runtime, and {other} was used before it"));
        }
    }

    fn add(&mut self, event: &Event, what: String) {
        self.violations.push(Violation::at(event, what));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    /// s2 is registered and used at 400 ms, s1 at 21; the cap is reached at 500 ms.
    fn full() -> Builder {
        let isolate = [("isolate", "i1".into())];
        story()
            .platform(390, "s2", "object.constructed", &isolate)
            .state(400, "s2", "registry.added", &isolate)
            .state(400, "s2", "activity", &[])
            .state(500, "s3", "cap.checked", &[isolate[0].clone(), ("over", true.into())])
    }

    fn ask(trace: Builder, at_ms: u64, who: &str) -> Builder {
        trace.state(at_ms, who, "eviction.requested", &[("isolate", "i1".into())])
    }

    fn spare(trace: Builder, at_ms: u64, who: &str, reason: &str) -> Builder {
        trace.state(at_ms, who, "eviction.passed-over", &[("isolate", "i1".into()), ("reason", reason.into())])
    }

    #[test]
    fn the_oldest_is_asked_or_the_next_if_that_one_is_live() {
        assert_eq!(judged(INVARIANT, ask(full(), 500, "s1")), Verdict::Held);
        let found = violation(INVARIANT, ask(full(), 500, "s2"));
        assert_eq!(found.what, "session s2 was asked for its runtime, and s1 was used before it");
        let live = || full().platform(450, "s1", "socket.opened", &[("socket", 5_u64.into())]);
        assert_eq!(judged(INVARIANT, ask(spare(live(), 500, "s1", "stream"), 500, "s2")), Verdict::Held);
        let found = violation(INVARIANT, ask(live(), 500, "s1"));
        assert!(found.what.contains("with 1 live connections"), "{}", found.what);
    }

    #[test]
    fn who_was_asked_is_spared_for_15_s_and_no_longer() {
        let found = violation(INVARIANT, ask(ask(full(), 500, "s1"), 900, "s1"));
        assert_eq!(found.what, "session s1 was asked for its runtime again after 400 ms");
        let quiet = || ask(full().without_between(600, 90_000), 500, "s1");
        let checked = |at_ms| quiet().state(at_ms, "s4", "cap.checked", &[("isolate", "i1".into())]);
        assert_eq!(judged(INVARIANT, ask(checked(15_500), 15_500, "s1")), Verdict::Held);
        assert_eq!(judged(INVARIANT, spare(checked(15_499), 15_499, "s1", "requested")), Verdict::Held);
        let found = violation(INVARIANT, spare(checked(15_500), 15_500, "s1", "requested"));
        assert_eq!(found.what, "session s1 was spared although it was asked last 15000 ms ago");
    }

    #[test]
    fn a_stream_that_is_not_there_spares_nobody() {
        let found = violation(INVARIANT, spare(full(), 500, "s1", "stream"));
        assert!(found.what.contains("that it does not have"));
    }

    #[test]
    fn nothing_with_a_live_connection_is_disposed_for_the_cap() {
        let disposed = |trace: Builder| trace.state(500, "s1", "disposal.begin", &[("reason", "cap".into())]);
        let socket = [("socket", 77_u64.into()), ("method", "GET".into())];
        let streaming = || full().without_between(450, 90_000).platform(450, "s1", "socket.opened", &socket);
        let quiet = full().without_between(450, 90_000).platform(450, "s1", "socket.closed", &socket[..1]);
        assert_eq!(judged(INVARIANT, disposed(quiet)), Verdict::Held);
        let found = violation(INVARIANT, disposed(streaming()));
        assert!(found.what.contains("disposed for the cap with 1 live connections"), "{}", found.what);
    }

    #[test]
    fn nothing_that_is_paused_or_owes_an_answer_is_disposed_for_the_cap() {
        let disposed = |trace: Builder| trace.state(500, "s1", "disposal.begin", &[("reason", "cap".into())]);
        let quiet = || full().without_between(450, 90_000);
        let row = [("key", "__mcp_stream_reqs__:c77".into())];
        let owing = |at_ms| quiet().platform(at_ms, "s1", "storage.put", &row);
        let found = violation(INVARIANT, disposed(owing(490)));
        assert!(found.what.contains("with 1 unanswered requests"), "{}", found.what);
        assert_eq!(judged(INVARIANT, disposed(owing(500))), Verdict::Held);
        let pause = quiet().state(490, "s1", "execution.paused", &[("execution", "exec_1".into())]);
        let found = violation(INVARIANT, disposed(pause));
        assert!(found.what.contains("with 1 paused executions"), "{}", found.what);
    }

    #[test]
    fn the_entry_of_a_gone_incarnation_knows_nothing_of_its_sockets() {
        let socket = [("socket", 77_u64.into()), ("method", "GET".into())];
        let streaming = || full().without_between(450, 90_000).platform(450, "s1", "socket.opened", &socket);
        let found = violation(INVARIANT, ask(streaming(), 500, "s1"));
        assert!(found.what.contains("with 1 live connections"), "{}", found.what);
        let evicted = streaming().platform(460, "s1", "object.gone", &[("reason", "evicted".into())]);
        assert_eq!(judged(INVARIANT, ask(evicted, 500, "s1")), Verdict::Held);
    }
}
