//! I25, I26: what a client was found to be able to do survives every resolution of its session, and is never invented.

use super::faults::FaultLog;
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
    let faults = FaultLog::of(case.plan, case.trace);
    let stored = case.plan.storage.iter();
    let of_record = |meta: &serde_json::Value| meta["appsEnabled"].as_bool();
    let mut last: BTreeMap<String, Option<bool>> =
        stored.map(|stored| (stored.session.clone(), stored.values.get("session-meta").and_then(of_record))).collect();
    // What was asked to be kept: it may show at any time from then on.
    let mut asked: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        let Some(who) = event.who() else { continue };
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
        if now != before && !is_asked && !faults.is_disturbed(who, 0, event.at_ms) {
            violations.push(changed(event, before, now));
        }
    }
    Verdict::of(violations, None)
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
    fn what_is_lost_or_invented_is_named() {
        let lost = kept(kept(asked(story()), 60, Some(true)), 2_000, None);
        let what = "whether the client can show apps became unknown, and was yes";
        assert_eq!(violation(INVARIANT, lost).what, what);
        violation(INVARIANT, kept(story(), 10, Some(false)));
    }
}
