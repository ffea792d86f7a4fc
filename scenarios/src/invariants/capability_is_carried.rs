//! I25, I26: what a client was found to be able to do survives every resolution of its session, and is never invented.

use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "capability-is-carried",
    kind: Kind::Always,
    claim: "a record has the capability that was kept last, and none where none was",
    covers: &["I25"],
    judge,
};

const METHOD: &str = "persistAppsEnabled";

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let stored = case.plan.storage.iter();
    let of_record = |meta: &serde_json::Value| meta["appsEnabled"].as_bool();
    let mut last: BTreeMap<String, Option<bool>> =
        stored.map(|stored| (stored.session.clone(), stored.values.get("session-meta").and_then(of_record))).collect();
    // What was asked to be kept: it may show at any time from then on.
    let mut asked: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        let Some(who) = event.who() else { continue };
        // A wipe takes the record with all that it said.
        if event.is(Stream::Platform, "storage.wiped") {
            last.remove(who);
        }
        if event.is(Stream::History, "call.begin") && event.text("method") == Some(METHOD) {
            let enabled = event.json("arguments").and_then(|arguments| arguments["enabled"].as_bool());
            asked.entry(who.to_owned()).or_default().extend(enabled);
        }
        if !event.is(Stream::State, "meta.kept") {
            continue;
        }
        let now = event.flag("apps");
        let before = last.insert(who.to_owned(), now).unwrap_or_default();
        let is_asked = now.is_some_and(|now| asked.get(who).is_some_and(|asked| asked.contains(&now)));
        let is_told = is_negotiated(case, event, before, now);
        if now != before && !is_asked && !is_told && !faults.is_disturbed(who, 0, event.at_ms) {
            violations.push(changed(event, before, now));
        }
    }
    Verdict::of(violations, None)
}

/// Whether the end of a handshake may have changed what was kept: no client of a plan can show apps, so that it takes
/// away what somebody else has kept, and never says what was not known.
fn is_negotiated(case: &Case<'_>, kept: &Event, before: Option<bool>, now: Option<bool>) -> bool {
    let is_end = |request: &&Request| {
        let is_shaking = request.op() == "initialized" && Some(&*request.session) == kept.who();
        is_shaking && request.begin.ordinal < kept.ordinal
    };
    (before, now) == (Some(true), Some(false)) && case.requests().iter().any(|request| is_end(&request))
}

fn changed(event: &Event, before: Option<bool>, now: Option<bool>) -> Violation {
    let words = |flag: Option<bool>| match flag {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let what = format!("whether the client can show apps became {}, and was {}", words(now), words(before));
    Violation::at(event, what)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;
    use serde_json::json;

    fn kept(trace: Builder, at_ms: u64, apps: Option<bool>) -> Builder {
        let fields: Vec<_> = apps.map(|apps| ("apps", apps.into())).into_iter().collect();
        trace.state(at_ms, "s1", "meta.kept", &fields)
    }

    fn asked(trace: Builder) -> Builder {
        let arguments = json!({"enabled": true});
        trace.history(50, "s1", "call.begin", &[("method", METHOD.into()), ("arguments", arguments.into())])
    }

    #[test]
    fn what_was_kept_is_carried() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let carried = kept(kept(asked(kept(story(), 10, None)), 60, Some(true)), 2_000, Some(true));
        assert_eq!(judged(INVARIANT, carried), Verdict::Held);
    }

    #[test]
    fn a_wiped_record_says_nothing_any_more() {
        let gone = |trace: Builder| trace.platform(1_500, "s1", "storage.wiped", &[]);
        let again = |trace: Builder, apps| kept(trace, 2_000, apps);
        let known = || kept(asked(story()), 60, Some(true));
        assert_eq!(judged(INVARIANT, again(gone(known()), None)), Verdict::Held);
        violation(INVARIANT, again(known(), None));
    }

    #[test]
    fn the_end_of_a_handshake_takes_away_and_invents_nothing() {
        let shaken = |trace: Builder, at_ms: u64| {
            trace.history(at_ms, "s1", "request.begin", &[("request", 90_u64.into()), ("op", "initialized".into())])
        };
        let known = || kept(asked(story().without_between(9, 10)), 60, Some(true));
        assert_eq!(judged(INVARIANT, kept(shaken(known(), 70), 80, Some(false))), Verdict::Held);
        violation(INVARIANT, kept(shaken(known(), 90), 80, Some(false)));
        violation(INVARIANT, kept(shaken(story(), 70), 80, Some(false)));
    }

    #[test]
    fn what_is_lost_or_invented_is_named() {
        let lost = kept(kept(asked(story()), 60, Some(true)), 2_000, None);
        let what = "whether the client can show apps became unknown, and was yes";
        assert_eq!(violation(INVARIANT, lost).what, what);
        violation(INVARIANT, kept(story(), 10, Some(false)));
    }
}
