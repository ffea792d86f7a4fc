//! I26: keeping a capability fails nobody and makes no record where there is none.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "capability-writes-harm-nobody",
    kind: Kind::Always,
    claim: "whoever has a capability kept is told nothing of a failed write, and a session without a record gets none by it",
    covers: &["I26"],
    judge,
};

const METHOD: &str = "persistAppsEnabled";
/// Other methods that keep a record of their own.
const KEEPERS: [&str; 2] = ["init", "resolveAndStoreSessionMeta"];

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let stored = case.plan.storage.iter().filter(|stored| stored.values.contains_key("session-meta"));
    let mut known: BTreeSet<String> = stored.map(|stored| stored.session.clone()).collect();
    let mut calls: BTreeMap<u64, &Event> = BTreeMap::new();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        let who = event.who().unwrap_or("");
        match (event.stream, &*event.name) {
            (Stream::History, "call.begin") => {
                calls.extend(event.number("call").map(|number| (number, event)));
            }
            (Stream::History, "call.end") => {
                let Some(begin) = event.number("call").and_then(|number| calls.remove(&number)) else { return };
                let is_failed = begin.text("method") == Some(METHOD) && event.text("outcome") == Some("threw");
                let is_excused = faults.fails_call(who, begin.at_ms, event.at_ms);
                if is_failed && !is_excused {
                    let error = event.text("error").unwrap_or("?");
                    violations.push(Violation::at(event, format!("who has a capability kept is told: {error}")));
                }
            }
            (Stream::State, "meta.kept") => {
                let is_new = known.insert(who.to_owned());
                let keeps = |call: &&Event| {
                    call.who() == Some(who) && call.text("method").is_some_and(|method| KEEPERS.contains(&method))
                };
                let is_of_init = replay.session(who).is_some_and(|session| session.init_count > 0);
                if is_new && !is_of_init && !calls.values().any(keeps) {
                    violations.push(Violation::at(event, "a session without a record got one with a capability"));
                }
            }
            (Stream::Platform, "storage.wiped") => drop(known.remove(who)),
            _ => {}
        }
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn called(method: &'static str, outcome: &'static str) -> Builder {
        let number = ("call", 1_u64.into());
        let end = [number.clone(), ("outcome", outcome.into()), ("error", "Error: quota".into())];
        story()
            .history(200, "s1", "call.begin", &[number, ("method", method.into())])
            .history(210, "s1", "call.end", &end)
    }

    #[test]
    fn a_failed_write_of_a_capability_is_nobodys_affair() {
        assert_eq!(judged(INVARIANT, called(METHOD, "returned")), Verdict::Held);
        assert_eq!(judged(INVARIANT, called("setName", "threw")), Verdict::Held);
        assert_eq!(
            violation(INVARIANT, called(METHOD, "threw")).what,
            "who has a capability kept is told: Error: quota"
        );
        let reset = called(METHOD, "threw").platform(205, "s1", "object.reset", &[("kind", "code_update".into())]);
        assert_eq!(judged(INVARIANT, reset), Verdict::Held);
    }

    #[test]
    fn a_record_is_made_by_an_init_or_a_resolution_only() {
        let kept = |trace: Builder| trace.state(205, "s9", "meta.kept", &[("apps", true.into())]);
        let found = violation(INVARIANT, kept(story()));
        assert_eq!(found.what, "a session without a record got one with a capability");
        assert_eq!(judged(INVARIANT, kept(story().state(204, "s9", "init.begin", &[]))), Verdict::Held);
        let resolving = [("call", 1_u64.into()), ("method", "resolveAndStoreSessionMeta".into())];
        assert_eq!(judged(INVARIANT, kept(story().history(204, "s9", "call.begin", &resolving))), Verdict::Held);
        let before = story().state(100, "s9", "init.begin", &[]).state(101, "s9", "meta.kept", &[]);
        let before = before.state(102, "s9", "init.end", &[("outcome", "ok".into())]);
        assert_eq!(judged(INVARIANT, kept(before)), Verdict::Held);
    }
}
