//! L11, I39: an alarm that wakes a session without its name ends well: told by the name that storage has, or cleaned up.

use super::faults::FaultLog;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Plan;
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "nameless-alarm-ends",
    kind: Kind::Always,
    claim: "an alarm of an object that does not know its name ends without a failure, and only one whose storage has no name is cleaned up, and left without an alarm",
    covers: &["I39", "L11"],
    judge,
};

const NAME_KEY: &str = "__ps_name";

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let (nameless, running) = (BTreeSet::new(), BTreeMap::new());
    let mut watch = Watch { faults: case.faults(), named: named_before(plan), nameless, running };
    let violations = trace.events.iter().filter_map(|event| watch.look(event)).collect();
    Verdict::of(violations, None)
}

/// Objects whose storage has a name when the run begins.
fn named_before(plan: &Plan) -> BTreeSet<String> {
    let has_name = |values: &BTreeMap<String, serde_json::Value>| {
        values.get(NAME_KEY).and_then(|name| name.as_str()).is_some_and(|name| !name.is_empty())
    };
    plan.storage.iter().filter(|stored| has_name(&stored.values)).map(|stored| stored.session.clone()).collect()
}

struct Watch<'t> {
    faults: &'t FaultLog<'t>,
    /// Objects whose storage has a name.
    named: BTreeSet<String>,
    /// Objects in memory that do not know theirs.
    nameless: BTreeSet<String>,
    running: BTreeMap<String, Running>,
}

/// An alarm that runs.
struct Running {
    since_ms: u64,
    is_cleaned_up: bool,
    /// The start that it asked for failed: that says why, and is the start's own affair.
    is_start_failed: bool,
}

impl Watch<'_> {
    fn look(&mut self, event: &Event) -> Option<Violation> {
        let who = event.who()?;
        match (event.stream, &*event.name) {
            (Stream::Platform, "object.constructed") => {
                let is_nameless = event.flag("named") == Some(false);
                if is_nameless {
                    self.nameless.insert(who.into())
                } else {
                    self.nameless.remove(who)
                };
                self.running.remove(who);
            }
            (Stream::Platform, "storage.put") if event.text("key") == Some(NAME_KEY) => {
                self.named.insert(who.into());
            }
            (Stream::Platform, "storage.wiped") => {
                self.named.remove(who);
            }
            (Stream::Platform, "alarm.fired") => {
                let running = Running { since_ms: event.at_ms, is_cleaned_up: false, is_start_failed: false };
                self.running.insert(who.into(), running);
            }
            (Stream::Platform, "alarm.set") if event.text("root") == Some("alarm") => {
                let is_cleaned_up = self.running.get(who).is_some_and(|running| running.is_cleaned_up);
                return is_cleaned_up.then(|| Violation::at(event, "the alarm of a cleaned up object set another"));
            }
            (Stream::State, "start.end") if event.text("outcome") == Some("failed") => {
                self.running.entry(who.into()).and_modify(|running| running.is_start_failed = true);
            }
            (Stream::Platform, "alarm.ended") => return self.ended(who, event),
            (Stream::Telemetry, "mcp_session_unaddressable_alarm_cleanup") => {
                self.running.entry(who.into()).and_modify(|running| running.is_cleaned_up = true);
                let what = "a session whose name is in its storage was cleaned up as if it had none";
                return self.named.contains(who).then(|| Violation::at(event, what));
            }
            _ => {}
        }
        None
    }

    fn ended(&mut self, who: &str, event: &Event) -> Option<Violation> {
        let Running { since_ms, is_start_failed, .. } = self.running.remove(who)?;
        let is_failed = event.text("outcome") == Some("failed") && self.nameless.contains(who);
        let is_excused = is_start_failed || self.faults.is_disturbed(who, since_ms, event.at_ms);
        let pending = format!("{who}: its alarm is tried again");
        (is_failed && !is_excused)
            .then(|| Violation::at(event, "the alarm of an object without its name failed").pending(pending))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn nameless(trace: Builder) -> Builder {
        let constructed = trace.platform(2_000, "s1", "object.constructed", &[("named", false.into())]);
        constructed.platform(2_001, "s1", "alarm.fired", &[("due_at_ms", 2_000_u64.into())])
    }

    fn cleaned(trace: Builder) -> Builder {
        let log = [("what", "log".into()), ("level", "warn".into())];
        let mut trace = trace.platform(2_002, "s1", "mcp_session_unaddressable_alarm_cleanup", &log);
        trace.retell("mcp_session_unaddressable_alarm_cleanup", Stream::Telemetry);
        trace
    }

    #[test]
    fn an_object_without_any_name_may_be_cleaned_up() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let ended = cleaned(nameless(story())).platform(2_003, "s1", "alarm.ended", &[("outcome", "ok".into())]);
        assert_eq!(judged(INVARIANT, ended), Verdict::Held);
    }

    #[test]
    fn a_session_whose_storage_has_a_name_may_not() {
        let named = story().platform(10, "s1", "storage.put", &[("key", NAME_KEY.into())]);
        let found = violation(INVARIANT, cleaned(nameless(named)));
        assert_eq!(found.what, "a session whose name is in its storage was cleaned up as if it had none");
    }

    #[test]
    fn a_failure_and_another_alarm_are_named() {
        let failed = nameless(story()).platform(2_003, "s1", "alarm.ended", &[("outcome", "failed".into())]);
        assert_eq!(violation(INVARIANT, failed).what, "the alarm of an object without its name failed");
        let armed = cleaned(nameless(story())).platform(2_003, "s1", "alarm.set", &[("root", "alarm".into())]);
        assert_eq!(violation(INVARIANT, armed).what, "the alarm of a cleaned up object set another");
    }
}
