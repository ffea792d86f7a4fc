//! Which check is predicted to catch each defect, written down before the defect was first run.
//!
//! `sim defects --run` compares: a check that catches what it was not predicted for is told, a defect that nothing catches is
//! a missing check, unless it is excused here by name.

/// What is predicted of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Its name.
    pub defect: &'static str,
    /// The invariant that is predicted to catch it.
    pub predicted: &'static str,
}

/// A defect that nothing catches, and why that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excused {
    /// Its name.
    pub defect: &'static str,
    /// Why nobody outside can tell it from a host without it.
    pub why: &'static str,
}

const fn row(defect: &'static str, predicted: &'static str) -> Strength {
    Strength { defect, predicted }
}

/// One line a defect, in the order of the list of defects.
pub const STRENGTH: &[Strength] = &[
    row("idle-alarm-not-rearmed", "idle-runtime-is-released"),
    row("idle-alarm-destroys", "disposed-session-serves-again"),
    row("idle-alarm-deletes-meta", "durable-identity-survives"),
    row("start-without-single-flight", "one-build-at-a-time"),
    row("silent-connect-without-transport", "every-request-ends"),
    row("initialized-cleared-late", "every-request-ends"),
    row("keep-alive-after-clock", "alarm-follows-intent"),
    row("pause-runs-on", "idle-runtime-is-released"),
    row("lease-log-throws", "nameless-alarm-ends"),
    row("apps-capability-forgotten", "capability-is-carried"),
    row("expiry-ignores-waiter", "a-resume-can-be-repeated"),
    row("foreign-entry-deleted", "paused-executions-are-findable"),
    row("directory-without-rpc", "paused-executions-are-findable"),
    row("counted-execution-ids", "execution-ids-are-unique"),
    row("resume-not-idempotent", "a-resume-can-be-repeated"),
    row("condemned-session-kept", "alarm-follows-intent"),
    row("nameless-restore-fails", "disposed-session-serves-again"),
    row("failed-handler-unanswered", "every-request-ends"),
    row("cap-on-residents-only", "cap-counts-every-build"),
    row("admission-suspends", "cap-counts-every-build"),
    row("reservation-returned-at-build", "reservations-are-returned"),
    row("reservation-returned-on-failure", "reservations-are-returned"),
    row("evicted-in-foreign-context", "no-cross-context-io"),
    row("eviction-awaited", "admission-never-waits"),
    row("eviction-not-marked", "eviction-takes-the-oldest"),
    row("grace-without-end", "eviction-takes-the-oldest"),
    row("entry-removed-on-failure", "registry-matches-residents"),
    row("streams-ignored-by-eviction", "eviction-takes-the-oldest"),
    row("most-recent-evicted", "eviction-takes-the-oldest"),
    row("entry-left-behind", "registry-matches-residents"),
    row("gauge-read-before-release", "gauge-matches-residents"),
    row("disposal-not-shared", "one-teardown-at-a-time"),
    row("teardown-interruptible", "one-build-at-a-time"),
    row("close-rejection-fatal", "one-build-at-a-time"),
    row("engine-dropped-early", "runtime-closed-once"),
    row("condemned-session-evicted", "alarm-follows-intent"),
    row("permit-grant-lost", "permits-are-returned"),
    row("dead-session-registered", "eviction-frees-a-runtime"),
    row("connect-without-runtime", "eviction-cuts-no-request"),
    row("lost-holdings-kept", "lost-holdings-expire"),
    row("transport-outlives-server", "every-request-ends"),
    row("condemned-while-disposed", "alarm-follows-intent"),
    row("destroy-ungated", "ended-session-stays-ended"),
    row("post-acknowledges", "acknowledged-means-delivered"),
    row("acknowledged-on-enqueue", "acknowledged-means-delivered"),
    row("cursor-replays-others", "cursor-replay-is-exact"),
    row("listener-supersedes", "listeners-coexist"),
    row("no-priming-event", "calls-are-primed"),
    row("oversize-put-fatal", "live-write-survives-the-store"),
    row("newest-trimmed", "newest-event-is-kept"),
    row("backlog-unbounded", "bridge-backlog-is-bounded"),
    row("max-age-cuts-posts", "calls-keep-their-stream"),
    row("connect-waits-for-answer", "accept-never-waits"),
    row("answer-on-every-listener", "one-message-one-stream"),
    row("replay-unguarded", "one-replay-at-a-time"),
    row("wiped-session-revived", "ended-session-stays-ended"),
    row("wiped-session-restored", "refusals-are-told"),
    row("browser-resume-waits-for-nothing", "a-resume-can-be-repeated"),
    row("console-unclassified", "resets-page-nobody"),
    row("dead-waiter-granted", "permits-are-returned"),
    row("replay-unbounded", "listeners-are-not-given-up"),
    row("wiped-session-woken", "wiped-sessions-are-not-woken"),
    row("lease-failure-captured-twice", "failures-are-captured-once"),
    row("lease-of-what-is-over", "leases-are-returned"),
    row("registered-by-passing-name", "registry-matches-residents"),
    row("disposal-needs-a-name", "disposal-is-recorded"),
    row("undelivered-counts-as-running", "idle-runtime-is-released"),
    row("durable-name-ignored", "nameless-alarm-ends"),
    row("unaddressable-alarm-throws", "nameless-alarm-ends"),
    row("server-outlives-teardown", "refusals-mean-what-they-say"),
    row("cold-start-closes-streams", "cold-start-keeps-streams"),
    row("activity-fatal-in-init", "lost-writes-spare-the-start"),
    row("resets-captured", "resets-page-nobody"),
    row("owner-check-unclassified", "refusals-mean-what-they-say"),
    row("meta-always-from-database", "known-organization-needs-no-database"),
    row("foreign-meta-offered", "names-stay-in-their-organization"),
    row("resource-not-defaulted", "owners-may-pass"),
    row("outage-condemns", "only-revocation-condemns"),
    row("resume-by-anybody", "only-owners-resume"),
    row("organization-not-compared", "owners-may-pass"),
    row("decision-delivered-twice", "decisions-are-delivered-once"),
    row("every-failure-absorbed", "unknown-failures-end-the-start"),
    row("init-failure-unclaimed", "init-failures-are-captured"),
    row("capability-write-fatal", "capability-writes-harm-nobody"),
    row("rejected-start-kept", "sessions-can-be-used"),
    row("eviction-request-unheeded", "asked-session-goes"),
    row("disposal-forgets-streams", "stored-answers-are-kept"),
    row("overflow-not-told", "overflow-is-exported"),
    row("teardown-wakes-nobody", "every-start-ends"),
    row("handle-left-open", "released-means-closed"),
    row("emitted-text-lost", "answers-are-right"),
    row("disposal-told-as-idle", "disposal-is-recorded"),
    row("lease-keeps-awake", "leases-are-returned"),
];

/// A prediction that was wrong: the check that catches the defect in place of the predicted one.
pub const MISTAKEN: &[Strength] = &[
    // The server that is kept is closed again at each teardown, long before a close of it fails and the session with it.
    row("server-outlives-teardown", "runtime-closed-once"),
    // The init that comes then waits for the teardown that never ends well, and builds over what it left.
    row("close-rejection-fatal", "one-teardown-at-a-time"),
    // The heartbeat comes before any deadline that it takes the place of, so the slot is not late, only somebody else's.
    row("keep-alive-after-clock", "leases-spare-the-deadline"),
];

/// Checks that no defect is predicted for, each with one that trips it all the same.
pub const ALSO: &[Strength] = &[
    row("idle-alarm-deletes-meta", "statuses-mean-what-they-say"),
    row("condemned-session-kept", "condemned-session-is-wiped"),
    row("post-acknowledges", "lost-answers-are-obtainable"),
];

/// Defects that may survive.
pub const EXCUSED: &[Excused] = &[
    Excused {
        defect: "transport-outlives-server",
        why: "a connect that finds no runtime starts one since finding 7: it shows together with `connect-without-runtime`, as in its entry of the corpus",
    },
    Excused {
        defect: "expiry-ignores-waiter",
        why: "a waiter that the expiry wakes is gone by the time it looks, and the engine lets two resumes meet",
    },
];

/// The invariant that is predicted to catch a defect; nothing for one that stands in no line.
pub fn predicted(defect: &str) -> Option<&'static str> {
    STRENGTH.iter().find(|row| row.defect == defect).map(|row| row.predicted)
}

/// The invariant that catches a defect: as predicted, or in place of a prediction that was wrong.
pub fn expected(defect: &str) -> Option<&'static str> {
    let mistaken = MISTAKEN.iter().find(|row| row.defect == defect).map(|row| row.predicted);
    mistaken.or_else(|| predicted(defect))
}

/// Why a defect may survive.
pub fn excuse(defect: &str) -> Option<&'static str> {
    EXCUSED.iter().find(|excused| excused.defect == defect).map(|excused| excused.why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants;
    use std::collections::BTreeSet;

    #[test]
    fn each_defect_has_one_line_and_each_prediction_names_a_check() {
        let names: BTreeSet<&str> = STRENGTH.iter().map(|row| row.defect).collect();
        assert_eq!(names.len(), STRENGTH.len());
        for row in STRENGTH.iter().chain(MISTAKEN).chain(ALSO) {
            let is_known = invariants::ALL.iter().any(|invariant| invariant.name == row.predicted);
            assert!(is_known, "{} is to be caught by {}", row.defect, row.predicted);
        }
        for excused in EXCUSED {
            assert!(names.contains(excused.defect), "{}", excused.defect);
        }
    }

    #[test]
    fn each_check_is_tripped_by_a_defect() {
        let tripped: BTreeSet<&str> = STRENGTH.iter().chain(MISTAKEN).chain(ALSO).map(|row| row.predicted).collect();
        let idle: Vec<&str> =
            invariants::ALL.iter().map(|check| check.name).filter(|name| !tripped.contains(name)).collect();
        assert_eq!(idle, [] as [&str; 0]);
    }
}
