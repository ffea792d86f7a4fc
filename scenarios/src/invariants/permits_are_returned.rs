//! I21: build permits are few, waited for 10 s and no longer, used at once, given back once, and done without only then.

use super::faults::FaultLog;
use super::holdings::{Holdings, Thing};
use super::limits::{PERMIT_COUNT_MAX, PERMIT_QUEUE_MS, PERMIT_WAIT_MS_MAX};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "permits-are-returned",
    kind: Kind::Always,
    claim: "at most four builds of an isolate hold a permit, each gives it back once, none waits longer than 10 s, and only who waited so long builds without",
    covers: &["I21"],
    judge,
};

/// How long a reset explains what a start of the session waits for, in ms: longer than any section.
const RESET_EXCUSES_MS: u64 = 60_000;

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let mut judge =
        Judge { faults: case.faults(), waiting: BTreeMap::new(), allowed: BTreeSet::new(), violations: Vec::new() };
    let mut is_told = false;
    Holdings::each(case, |holdings, _, event| {
        is_told |= event.is(Stream::State, "permit.granted");
        match event.stream {
            Stream::State => judge.state(holdings, event),
            Stream::Platform => judge.platform(event),
            _ => {}
        }
    });
    if let Some(last) = trace.events.last() {
        for who in judge.waiting.keys().copied().collect::<Vec<_>>() {
            judge.end_wait(who, last);
        }
    }
    Verdict::of(judge.violations, (!is_told).then(|| "no build ever took a permit".into()))
}

struct Judge<'a> {
    faults: &'a FaultLog<'a>,
    /// Since when a session waits for a permit, in ms.
    waiting: BTreeMap<&'a str, u64>,
    /// Sessions whose init was granted a permit, or waited for one in vain.
    allowed: BTreeSet<&'a str>,
    violations: Vec<Violation>,
}

impl<'a> Judge<'a> {
    fn state(&mut self, holdings: &Holdings, event: &'a Event) {
        let who = event.who().unwrap_or("");
        let isolate = event.text("isolate").unwrap_or("");
        let held = holdings.of(Thing::Permit, who);
        self.allow(who, event);
        match &*event.name {
            "permit.queued" => drop(self.waiting.insert(who, event.at_ms)),
            "permit.waited" | "init.end" => self.end_wait(who, event),
            "permit.granted" if holdings.is_sound(isolate) => {
                let count = holdings.count(Thing::Permit, isolate) + 1;
                if count > PERMIT_COUNT_MAX {
                    self.add(event, format!("{count} builds of isolate {isolate} hold a permit"));
                }
            }
            "permit.returned" if held == 0 && holdings.is_sound(isolate) => {
                self.add(event, "a permit was given back that is not held");
            }
            _ => {}
        }
        if event.name == "init.end" && held > 0 {
            self.add(event, "an init ended and kept its build permit");
        }
    }

    /// Whether a build may be without a permit.
    fn allow(&mut self, who: &'a str, event: &'a Event) {
        match &*event.name {
            "init.begin" => drop(self.allowed.remove(who)),
            "permit.granted" => drop(self.allowed.insert(who)),
            "permit.waited" if event.flag("timed_out") == Some(true) => {
                self.allowed.insert(who);
                let wait_ms = event.number("wait_ms").unwrap_or(0);
                if wait_ms < PERMIT_QUEUE_MS {
                    self.add(event, format!("a build went on without a permit after {wait_ms} ms"));
                }
            }
            "runtime.installed" if !self.allowed.contains(who) => {
                self.add(event, "a runtime was built without a permit, and none was waited for");
            }
            _ => {}
        }
    }

    fn platform(&mut self, event: &'a Event) {
        if matches!(&*event.name, "object.reset" | "object.gone") {
            self.end_wait(event.who().unwrap_or(""), event);
        }
    }

    /// A wait is over, or lasts until the trace ends.
    fn end_wait(&mut self, who: &str, event: &Event) {
        let Some(since_ms) = self.waiting.remove(who) else { return };
        let waited_ms = event.at_ms.saturating_sub(since_ms);
        // After a reset its start may run outside of a section that waits for it and lets nothing in.
        let is_excused = self.faults.is_disturbed(who, since_ms.saturating_sub(RESET_EXCUSES_MS), since_ms);
        if !is_excused && waited_ms > PERMIT_WAIT_MS_MAX + self.faults.held_ms_of(who, since_ms, event.at_ms) {
            let what = format!("session {who} waited {waited_ms} ms for a build permit");
            let pending = format!("{who}: waits for a permit since {since_ms} ms");
            self.violations.push(Violation::at(event, what).of(who).pending(pending));
        }
    }

    fn add(&mut self, event: &Event, what: impl Into<String>) {
        self.violations.push(Violation::at(event, what));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn granted(trace: Builder, at_ms: u64, who: &str) -> Builder {
        trace.state(at_ms, who, "permit.granted", &[("isolate", "i1".into()), ("active", 1_u64.into())])
    }

    #[test]
    fn a_permit_for_each_build_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn one_that_is_kept_or_given_back_twice_is_named() {
        let found = violation(INVARIANT, story().without("permit.returned", 0));
        assert_eq!(found.what, "an init ended and kept its build permit");
        let twice = story().state(4_000, "s1", "permit.returned", &[("isolate", "i1".into())]);
        assert_eq!(violation(INVARIANT, twice).what, "a permit was given back that is not held");
    }

    #[test]
    fn a_fifth_permit_is_named() {
        let five = ["a", "b", "c", "d", "e"].into_iter().fold(story(), |trace, who| granted(trace, 2_000, who));
        assert_eq!(violation(INVARIANT, five).what, "5 builds of isolate i1 hold a permit");
    }

    #[test]
    fn only_a_full_wait_builds_without_a_permit() {
        let without = || story().without("permit.granted", 0).without("permit.returned", 0);
        let found = violation(INVARIANT, without());
        assert_eq!(found.what, "a runtime was built without a permit, and none was waited for");
        let waited = |wait_ms: u64| {
            let told = [("wait_ms", wait_ms.into()), ("timed_out", true.into())];
            without().state(4, "s1", "permit.waited", &told)
        };
        assert_eq!(judged(INVARIANT, waited(10_000)), Verdict::Held);
        assert_eq!(violation(INVARIANT, waited(9_999)).what, "a build went on without a permit after 9999 ms");
    }

    #[test]
    fn a_wait_in_a_section_whose_timers_do_not_fire_is_the_platforms() {
        let queued = || story().state(6_000, "s2", "permit.queued", &[("isolate", "i1".into())]);
        let reset = |trace| granted(trace, 6_500, "s2").platform(36_000, "s2", "object.reset", &[]);
        assert_eq!(judged(INVARIANT, reset(queued().platform(6_200, "s2", "timers.jammed", &[]))), Verdict::Held);
        violation(INVARIANT, reset(queued().platform(6_200, "s1", "timers.jammed", &[])));
    }

    #[test]
    fn a_wait_beyond_its_limit_is_named_also_when_it_never_ends() {
        let queued = || story().state(6_000, "s2", "permit.queued", &[("isolate", "i1".into())]);
        let waited = queued().state(16_100, "s2", "permit.waited", &[("wait_ms", 10_100_u64.into())]);
        assert_eq!(judged(INVARIANT, waited), Verdict::Held);
        let reset = granted(queued(), 6_500, "s2").platform(36_000, "s2", "object.reset", &[]);
        assert_eq!(violation(INVARIANT, reset).what, "session s2 waited 30000 ms for a build permit");
        violation(INVARIANT, queued());
    }
}
