//! I14: the reservation of a cold build goes back when its init ends, however that ends.

use super::holdings::{Holdings, Thing};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "reservations-are-returned",
    kind: Kind::Always,
    claim: "each reservation of a cold build is given back once, by the end of its init, and the isolate counts those that are held",
    covers: &["I14"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let mut violations = Vec::new();
    let mut is_told = false;
    let (holdings, replay) = Holdings::each(case, |holdings, _, event| {
        if event.stream != Stream::State {
            return;
        }
        let who = event.who().unwrap_or("");
        let held = holdings.of(Thing::Reservation, who);
        match &*event.name {
            "reservation.taken" | "reservation.returned" => {
                is_told = true;
                violations.extend(miscounted(holdings, event, held));
            }
            "init.end" if held > 0 => {
                let outcome = event.text("outcome").unwrap_or("?");
                let what = format!("an init ended ({outcome}) and kept its reservation");
                let pending = format!("{who}: {held} reservation not given back");
                violations.push(Violation::at(event, what).pending(pending));
            }
            _ => {}
        }
    });
    if trace.is_complete()
        && let Some(last) = trace.events.last()
    {
        for (who, session) in replay.sessions() {
            if session.init_count == 0 && holdings.of(Thing::Reservation, who) > 0 {
                let what = "a reservation is held at the end of the run, and no init runs";
                violations.push(Violation::at(last, what).of(who));
            }
        }
    }
    violations.dedup_by(|later, earlier| later.session == earlier.session);
    Verdict::of(violations, (!is_told).then(|| "no cold build was ever admitted".into()))
}

/// A reservation that is given back without being held, or a count that is not that of the held ones.
fn miscounted(holdings: &Holdings, event: &Event, held: u64) -> Option<Violation> {
    let isolate = event.text("isolate")?;
    if !holdings.is_sound(isolate) {
        return None;
    }
    let is_taken = event.name == "reservation.taken";
    if !is_taken && held == 0 {
        return Some(Violation::at(event, "a reservation was given back that is not held"));
    }
    let all = holdings.count(Thing::Reservation, isolate);
    let so = if is_taken { all + 1 } else { all - 1 };
    let told = event.number("in_flight").unwrap_or(0);
    let what = || format!("isolate {isolate} counts {told} cold builds in flight, reservations are held for {so}");
    (told != so).then(|| Violation::at(event, what()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    fn in_flight(count: u64) -> [(&'static str, crate::trace::Value); 2] {
        [("isolate", "i1".into()), ("in_flight", count.into())]
    }

    #[test]
    fn a_reservation_for_each_init_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn one_that_is_kept_or_given_back_twice_is_named() {
        let found = violation(INVARIANT, story().without("reservation.returned", 1));
        assert_eq!(found.what, "an init ended (ok) and kept its reservation");
        let twice = story().state(4_000, "s1", "reservation.returned", &in_flight(0));
        assert_eq!(violation(INVARIANT, twice).what, "a reservation was given back that is not held");
    }

    #[test]
    fn a_count_that_is_not_that_of_the_held_ones_is_named() {
        let found = violation(INVARIANT, story().change("reservation.taken", 0, "in_flight", 2_u64.into()));
        assert_eq!(found.what, "isolate i1 counts 2 cold builds in flight, reservations are held for 1");
    }

    #[test]
    fn what_was_lost_with_its_object_makes_the_isolate_unsound() {
        let lost = story()
            .without("reservation.returned", 0)
            .without_between(5, 150_000)
            .platform(5, "s1", "object.reset", &[("kind", "code_update".into())])
            .state(50, "s2", "reservation.taken", &in_flight(2))
            .state(60, "s2", "reservation.returned", &in_flight(1));
        assert_eq!(judged(INVARIANT, lost), Verdict::Held);
    }
}
