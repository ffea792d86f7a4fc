//! What a build held when its object was lost comes back to its isolate: a reset costs a minute, not the isolate's life.

use super::holdings::{Holdings, Thing};
use super::limits::{HELD_MS_MAX, PERMIT_COUNT_MAX};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "lost-holdings-expire",
    kind: Kind::Always,
    claim: "permits and reservations that were lost with their object are missing for a minute at most",
    covers: &[],
    judge,
};

/// Something that was held when its object was lost.
struct Lost {
    thing: Thing,
    isolate: String,
    at_ms: u64,
}

fn judge(case: &Case<'_>) -> Verdict {
    let mut lost: Vec<Lost> = Vec::new();
    let mut violations = Vec::new();
    Holdings::each(case, |holdings, _, event| {
        let isolate = event.text("isolate").unwrap_or("");
        match (event.stream, &*event.name) {
            (Stream::Platform, "object.reset" | "object.gone") => lost.extend(losses(holdings, event)),
            // It takes its place in the queue, and may be granted a permit that it is not there to use.
            (Stream::State, "permit.queued") => {
                let held = holdings.count(Thing::Permit, isolate) + recent(&lost, Thing::Permit, isolate, event.at_ms);
                if held < PERMIT_COUNT_MAX {
                    let what = format!("a build waits for a permit of isolate {isolate}, and {held} are held");
                    violations.push(Violation::at(event, what));
                }
            }
            (Stream::State, "cap.checked") => {
                let recent = recent(&lost, Thing::Reservation, isolate, event.at_ms);
                let held = holdings.count(Thing::Reservation, isolate) + recent;
                let told = event.number("in_flight").unwrap_or(0);
                if told > held {
                    let what = format!("isolate {isolate} counts {told} cold builds in flight, and {held} may be");
                    violations.push(Violation::at(event, what));
                }
            }
            _ => {}
        }
    });
    Verdict::of(violations, None)
}

fn losses(holdings: &Holdings, event: &Event) -> Vec<Lost> {
    let who = event.who().unwrap_or("");
    let held = |thing: Thing| {
        let place = holdings.all(thing).find(|(holder, _)| ***holder == *who);
        place.map(|(_, isolate)| Lost { thing, isolate: isolate.to_string(), at_ms: event.at_ms })
    };
    [Thing::Permit, Thing::Reservation].into_iter().filter_map(held).collect()
}

fn recent(lost: &[Lost], thing: Thing, isolate: &str, at_ms: u64) -> u64 {
    let is_recent = |each: &&Lost| each.thing == thing && each.isolate == isolate && at_ms - each.at_ms <= HELD_MS_MAX;
    lost.iter().filter(is_recent).count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn isolate() -> (&'static str, crate::trace::Value) {
        ("isolate", "i1".into())
    }

    /// s2 is lost at 500 ms with a permit and a reservation.
    fn lost() -> Builder {
        story()
            .state(400, "s2", "reservation.taken", &[isolate(), ("in_flight", 1_u64.into())])
            .state(400, "s2", "permit.granted", &[isolate(), ("active", 1_u64.into())])
            .platform(500, "s2", "object.reset", &[("kind", "cpu".into())])
    }

    fn checked(trace: Builder, at_ms: u64, in_flight: u64) -> Builder {
        let fields = [isolate(), ("in_flight", in_flight.into()), ("cap", 9_u64.into()), ("over", false.into())];
        trace.state(at_ms, "s3", "cap.checked", &fields)
    }

    #[test]
    fn what_is_held_and_what_was_lost_within_a_minute_may_count() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, checked(lost(), 60_000, 1)), Verdict::Held);
    }

    #[test]
    fn a_reservation_that_counts_for_longer_is_named() {
        let found = violation(INVARIANT, checked(lost(), 62_000, 1));
        assert_eq!(found.what, "isolate i1 counts 1 cold builds in flight, and 0 may be");
    }

    #[test]
    fn a_wait_for_permits_that_nobody_holds_is_named() {
        let found = violation(INVARIANT, lost().state(70_000, "s3", "permit.queued", &[isolate()]));
        assert_eq!(found.what, "a build waits for a permit of isolate i1, and 0 are held");
    }

    #[test]
    fn what_is_taken_back_is_what_was_lost_and_not_what_the_session_holds_now() {
        let taken_back = [isolate(), ("in_flight", 1_u64.into()), ("taken_back", true.into())];
        let again = || {
            lost()
                .state(50_000, "s2", "reservation.taken", &[isolate(), ("in_flight", 2_u64.into())])
                .state(60_400, "s2", "reservation.returned", &taken_back)
                .platform(61_000, "s2", "object.reset", &[("kind", "cpu".into())])
        };
        assert_eq!(judged(INVARIANT, checked(again(), 90_000, 1)), Verdict::Held);
        violation(INVARIANT, checked(again(), 90_000, 2));
        violation(INVARIANT, checked(again(), 123_000, 1));
    }
}
