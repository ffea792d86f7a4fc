//! L12: what is marked for destruction is destroyed: about a second later, when its alarm comes.

use super::limits::{ALARM_LATE_MS_MAX, CONDEMNED_MS, DISPOSAL_MS_MAX};
use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "condemned-session-is-wiped",
    kind: Kind::Eventually,
    claim: "the storage of a condemned session is wiped once its alarm has come",
    covers: &["L12"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let until = ["touch", "quiet-after", "end"].into_iter().find_map(|phase| trace.phase_at(phase));
    let Some(last) = until.or(trace.events.last()) else { return Verdict::Held };
    let faults = case.faults();
    let mut replay = Replay::new(case);
    trace.events.iter().take_while(|event| event.ordinal < last.ordinal).for_each(|_| replay.advance());
    let mut violations = Vec::new();
    for (who, session) in replay.sessions().filter(|(_, session)| session.is_marked) {
        let Some(condemned_at_ms) = session.condemned_at_ms else { continue };
        let is_wiped = session.wiped_at_ms.is_some_and(|at_ms| at_ms >= condemned_at_ms);
        let held_ms = faults.held_ms_of(who, condemned_at_ms, last.at_ms);
        let latest = condemned_at_ms + CONDEMNED_MS + ALARM_LATE_MS_MAX + DISPOSAL_MS_MAX + held_ms;
        // After a failure the platform tries the alarm again, each time later.
        let is_excused = faults.is_disturbed(who, condemned_at_ms, last.at_ms);
        if !is_wiped && !is_excused && last.at_ms > latest {
            let what = format!("a session is condemned for {} ms and not wiped", last.at_ms - condemned_at_ms);
            let pending = format!("{who}: condemned at {condemned_at_ms} ms");
            violations.push(Violation::at(last, what).of(who).pending(pending));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn condemned(at_ms: u64) -> Builder {
        let mark = [("key", "cf_agents_destroy_pending".into())];
        story().platform(at_ms, "s1", "storage.put", &mark).state(at_ms, "s1", "condemned", &[])
    }

    #[test]
    fn a_session_that_stays_condemned_is_named_and_a_young_one_is_not() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(violation(INVARIANT, condemned(2_000)).what, "a session is condemned for 93000 ms and not wiped");
        let wiped = condemned(2_000).platform(3_100, "s1", "storage.wiped", &[]);
        assert_eq!(judged(INVARIANT, wiped), Verdict::Held);
        assert_eq!(judged(INVARIANT, condemned(94_000)), Verdict::Held);
    }
}
