//! What a runtime held is given back with it: its database handle is ended, its connections are closed.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "released-means-closed",
    kind: Kind::Always,
    claim: "when the teardown of a runtime has ended, its database handle is ended and none of the connections it found is open",
    covers: &[],
    judge,
};

/// What belongs to the runtime of a session.
#[derive(Default)]
struct Held {
    /// The handle that was opened last, and the one that the installed runtime has.
    opened: Option<u64>,
    handle: Option<u64>,
    /// Connections that its teardown found; nothing while none runs.
    sockets: Option<BTreeSet<String>>,
}

fn judge(case: &Case<'_>) -> Verdict {
    let mut all: BTreeMap<&str, Held> = BTreeMap::new();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        if !is_about_holdings(event) {
            return;
        }
        let Some((who, session)) = event.who().and_then(|who| Some((who, replay.session(who)?))) else { return };
        let held = all.entry(who).or_default();
        match (event.stream, &*event.name) {
            (Stream::State, "handle.opened") => held.opened = event.number("handle"),
            (Stream::State, "handle.ended") if held.handle == event.number("handle") => held.handle = None,
            (Stream::State, "runtime.installed") => held.handle = held.opened.take(),
            (Stream::State, "teardown.begin") => {
                held.sockets = session.runtime.is_some().then(|| session.sockets.clone());
            }
            (Stream::State, "teardown.end") => {
                let Some(found) = held.sockets.take() else { return };
                let open = found.intersection(&session.sockets).count();
                if open > 0 {
                    violations
                        .push(Violation::at(event, format!("a teardown left {open} connections of its runtime open")));
                }
                if let Some(handle) = held.handle.take() {
                    violations.push(Violation::at(event, format!("a teardown did not end database handle {handle}")));
                }
            }
            (Stream::Platform, "object.reset" | "object.gone" | "object.constructed") => *held = Held::default(),
            _ => {}
        }
    });
    Verdict::of(violations, None)
}

/// Whether what a session holds changes with the event, or is asked for there.
fn is_about_holdings(event: &Event) -> bool {
    match event.stream {
        Stream::State => {
            matches!(
                &*event.name,
                "handle.opened" | "handle.ended" | "runtime.installed" | "teardown.begin" | "teardown.end"
            )
        }
        Stream::Platform => matches!(&*event.name, "object.reset" | "object.gone" | "object.constructed"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn opened() -> Builder {
        story().state(3, "s1", "handle.opened", &[("handle", 7_u64.into())])
    }

    fn ended(trace: Builder) -> Builder {
        trace.state(1_000, "s1", "handle.ended", &[("handle", 7_u64.into())])
    }

    #[test]
    fn a_handle_or_a_connection_that_outlives_its_runtime_is_named() {
        assert_eq!(judged(INVARIANT, ended(opened())), Verdict::Held);
        assert_eq!(violation(INVARIANT, opened()).what, "a teardown did not end database handle 7");
        let socket = [("socket", 5_u64.into()), ("method", "GET".into())];
        let open = ended(opened()).platform(500, "s1", "socket.opened", &socket);
        assert_eq!(violation(INVARIANT, open.clone()).what, "a teardown left 1 connections of its runtime open");
        assert_eq!(judged(INVARIANT, open.platform(900, "s1", "socket.closed", &socket)), Verdict::Held);
        // Whoever comes while the teardown runs is not of its runtime.
        let lost = opened().platform(900, "s1", "object.reset", &[]);
        assert_eq!(judged(INVARIANT, lost), Verdict::Held);
    }
}
