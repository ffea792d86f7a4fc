//! I12, I13, I17: an admission sees every runtime and every build admitted before it, and overflows only without a choice.

use super::holdings::{Holdings, Thing};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "cap-counts-every-build",
    kind: Kind::Always,
    claim: "an init is over the cap exactly when resident runtimes and builds in flight reach it, and then asks one session or has none to ask",
    covers: &["I12", "I13", "I17"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut judge = Judge::default();
    Holdings::each(case, |holdings, _, event| {
        if event.stream == Stream::State {
            judge.state(holdings, event);
        }
    });
    let unknown = (judge.check_count == 0).then(|| "no cold build was ever admitted".to_owned());
    Verdict::of(judge.violations, unknown)
}

#[derive(Default)]
struct Judge<'t> {
    /// The last check of each session, and how many entries of each isolate were passed over since its last one.
    checks: BTreeMap<&'t str, &'t Event>,
    passed_over: BTreeMap<&'t str, u64>,
    /// Sessions over the cap whose admission has neither asked nor told of an overflow.
    unsettled: BTreeSet<&'t str>,
    check_count: u64,
    violations: Vec<Violation>,
}

impl<'t> Judge<'t> {
    fn state(&mut self, holdings: &Holdings, event: &'t Event) {
        self.settle(event);
        let Some(isolate) = event.text("isolate").filter(|isolate| holdings.is_sound(isolate)) else { return };
        match &*event.name {
            "cap.checked" => {
                self.check_count += 1;
                self.checks.insert(event.who().unwrap_or(""), event);
                self.passed_over.insert(isolate, 0);
            }
            "eviction.passed-over" => *self.passed_over.entry(isolate).or_default() += 1,
            "reservation.taken" => self.reserved(holdings, event, isolate),
            "cap.overflow" => self.overflowed(holdings, event, isolate),
            _ => {}
        }
    }

    /// An admission over the cap asks somebody or tells of an overflow, and is told as over then.
    fn settle(&mut self, event: &'t Event) {
        let who = event.who().unwrap_or("");
        match &*event.name {
            "cap.checked" if event.flag("over") == Some(true) => drop(self.unsettled.insert(who)),
            "admission.ended" | "cap.overflow" | "init.begin" => drop(self.unsettled.remove(who)),
            "init.end" if self.unsettled.remove(who) && event.text("outcome") == Some("ok") => {
                let what = "an init over the cap asked nobody, and told of no overflow";
                self.violations.push(Violation::at(event, what));
            }
            _ => {}
        }
    }

    /// What was decided must be right as things are when the reservation is taken.
    fn reserved(&mut self, holdings: &Holdings, event: &Event, isolate: &str) {
        let Some(check) = self.checks.remove(event.who().unwrap_or("")) else { return };
        let load = holdings.count(Thing::Runtime, isolate) + holdings.count(Thing::Reservation, isolate);
        let cap = check.number("cap").unwrap_or(u64::MAX);
        let is_over = check.flag("over").unwrap_or(false);
        if is_over != (load >= cap) {
            let word = if is_over { "over" } else { "within" };
            let what = format!("an init was taken to be {word} the cap of {cap}, and the isolate held {load}");
            self.violations.push(Violation::at(event, what));
        }
    }

    fn overflowed(&mut self, holdings: &Holdings, event: &Event, isolate: &str) {
        let entries = holdings.count(Thing::Entry, isolate);
        let passed = self.passed_over.get(isolate).copied().unwrap_or(0);
        if passed < entries {
            let what =
                format!("an init overflowed the cap, and only {passed} of {entries} sessions could not be asked");
            self.violations.push(Violation::at(event, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    /// An admission of s2 while s1 is resident, with this cap and this decision.
    fn admitted(cap: u64, is_over: bool) -> Builder {
        let isolate = ("isolate", "i1".into());
        story()
            .state(500, "s2", "cap.checked", &[isolate.clone(), ("cap", cap.into()), ("over", is_over.into())])
            .state(500, "s2", "reservation.taken", &[isolate, ("in_flight", 1_u64.into())])
    }

    #[test]
    fn a_decision_from_all_that_is_held_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, admitted(2, false)), Verdict::Held);
        assert_eq!(judged(INVARIANT, admitted(1, true)), Verdict::Held);
    }

    #[test]
    fn one_that_saw_too_little_or_too_much_is_named() {
        let found = violation(INVARIANT, admitted(1, false));
        assert_eq!(found.what, "an init was taken to be within the cap of 1, and the isolate held 1");
        assert_eq!(found.session.as_deref(), Some("s2"));
        violation(INVARIANT, admitted(2, true));
    }

    #[test]
    fn what_was_admitted_between_check_and_reservation_counts() {
        let isolate = ("isolate", "i1".into());
        let crossed = story()
            .state(500, "s2", "cap.checked", &[isolate.clone(), ("cap", 2_u64.into()), ("over", false.into())])
            .state(500, "s3", "reservation.taken", &[isolate.clone(), ("in_flight", 1_u64.into())])
            .state(500, "s2", "reservation.taken", &[isolate, ("in_flight", 2_u64.into())]);
        assert_eq!(
            violation(INVARIANT, crossed).what,
            "an init was taken to be within the cap of 2, and the isolate held 2"
        );
    }

    #[test]
    fn an_admission_over_the_cap_asks_or_overflows() {
        let ended = |trace: Builder| {
            let ok = [("outcome", "ok".into())];
            trace.state(510, "s2", "init.end", &ok)
        };
        let found = violation(INVARIANT, ended(admitted(1, true)));
        assert_eq!(found.what, "an init over the cap asked nobody, and told of no overflow");
        let asked = admitted(1, true).state(501, "s2", "admission.ended", &[]);
        assert_eq!(judged(INVARIANT, ended(asked)), Verdict::Held);
        assert_eq!(judged(INVARIANT, ended(admitted(2, false))), Verdict::Held);
    }

    #[test]
    fn an_overflow_is_right_only_if_nobody_could_be_asked() {
        let isolate = [("isolate", "i1".into())];
        let overflow = || admitted(1, true).state(500, "s2", "cap.overflow", &isolate);
        let found = violation(INVARIANT, overflow());
        assert_eq!(found.what, "an init overflowed the cap, and only 0 of 1 sessions could not be asked");
        let busy = admitted(1, true)
            .state(500, "s1", "eviction.passed-over", &[isolate[0].clone(), ("reason", "stream".into())])
            .state(500, "s2", "cap.overflow", &isolate);
        assert_eq!(judged(INVARIANT, busy), Verdict::Held);
    }
}
