//! What must hold: every invariant is judged on every trace, and each is one claim in one file and one line here.

mod a_resume_can_be_repeated;
mod accept_never_waits;
mod acknowledged_means_delivered;
mod admission_never_waits;
mod alarm_follows_intent;
mod answers_are_right;
mod asked_session_goes;
mod bridge_backlog_is_bounded;
mod calls_are_primed;
mod calls_keep_their_stream;
mod cap_counts_every_build;
mod capability_is_carried;
mod capability_writes_harm_nobody;
mod cold_start_keeps_streams;
mod condemned_session_is_wiped;
mod cursor_replay_is_exact;
mod decisions_are_delivered_once;
mod disposal_is_recorded;
mod disposed_session_serves_again;
mod durable_identity_survives;
mod ended_session_stays_ended;
mod every_request_ends;
mod every_start_ends;
mod eviction_cuts_no_request;
mod eviction_frees_a_runtime;
mod eviction_takes_the_oldest;
mod execution_ids_are_unique;
mod failures_are_captured_once;
mod gauge_matches_residents;
mod idle_runtime_is_released;
mod init_failures_are_captured;
mod known_organization_needs_no_database;
mod leases_are_returned;
mod leases_spare_the_deadline;
mod listeners_are_not_given_up;
mod listeners_coexist;
mod live_write_survives_the_store;
mod lost_answers_are_obtainable;
mod lost_holdings_expire;
mod lost_writes_spare_the_start;
mod nameless_alarm_ends;
mod names_stay_in_their_organization;
mod newest_event_is_kept;
mod no_cross_context_io;
mod one_build_at_a_time;
mod one_message_one_stream;
mod one_replay_at_a_time;
mod one_teardown_at_a_time;
mod only_owners_resume;
mod only_revocation_condemns;
mod overflow_is_exported;
mod owners_may_pass;
mod paused_executions_are_findable;
mod permits_are_returned;
mod refusals_are_told;
mod refusals_mean_what_they_say;
mod registry_matches_residents;
mod released_means_closed;
mod reservations_are_returned;
mod resets_page_nobody;
mod runtime_closed_once;
mod sessions_can_be_used;
mod statuses_mean_what_they_say;
mod stored_answers_are_kept;
mod unknown_failures_end_the_start;
mod wiped_sessions_are_not_woken;

mod case;
mod doubled;
mod faults;
mod holdings;
mod in_use;
mod leases;
pub(crate) mod limits;
mod owners;
pub mod promises;
pub(crate) mod replay;
mod requests;
mod streams;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod timeline;

pub use case::Case;

use crate::plan::Plan;
use crate::trace::{Event, Trace};

/// All invariants, in the order they are reported.
pub const ALL: &[Invariant] = &[
    idle_runtime_is_released::INVARIANT,
    disposed_session_serves_again::INVARIANT,
    sessions_can_be_used::INVARIANT,
    runtime_closed_once::INVARIANT,
    released_means_closed::INVARIANT,
    gauge_matches_residents::INVARIANT,
    registry_matches_residents::INVARIANT,
    reservations_are_returned::INVARIANT,
    permits_are_returned::INVARIANT,
    lost_holdings_expire::INVARIANT,
    cap_counts_every_build::INVARIANT,
    overflow_is_exported::INVARIANT,
    admission_never_waits::INVARIANT,
    eviction_takes_the_oldest::INVARIANT,
    eviction_frees_a_runtime::INVARIANT,
    eviction_cuts_no_request::INVARIANT,
    asked_session_goes::INVARIANT,
    one_build_at_a_time::INVARIANT,
    one_teardown_at_a_time::INVARIANT,
    every_start_ends::INVARIANT,
    answers_are_right::INVARIANT,
    every_request_ends::INVARIANT,
    disposal_is_recorded::INVARIANT,
    alarm_follows_intent::INVARIANT,
    condemned_session_is_wiped::INVARIANT,
    durable_identity_survives::INVARIANT,
    stored_answers_are_kept::INVARIANT,
    leases_are_returned::INVARIANT,
    leases_spare_the_deadline::INVARIANT,
    paused_executions_are_findable::INVARIANT,
    execution_ids_are_unique::INVARIANT,
    a_resume_can_be_repeated::INVARIANT,
    decisions_are_delivered_once::INVARIANT,
    nameless_alarm_ends::INVARIANT,
    wiped_sessions_are_not_woken::INVARIANT,
    cold_start_keeps_streams::INVARIANT,
    lost_writes_spare_the_start::INVARIANT,
    unknown_failures_end_the_start::INVARIANT,
    resets_page_nobody::INVARIANT,
    failures_are_captured_once::INVARIANT,
    init_failures_are_captured::INVARIANT,
    refusals_mean_what_they_say::INVARIANT,
    owners_may_pass::INVARIANT,
    known_organization_needs_no_database::INVARIANT,
    names_stay_in_their_organization::INVARIANT,
    capability_is_carried::INVARIANT,
    capability_writes_harm_nobody::INVARIANT,
    only_revocation_condemns::INVARIANT,
    only_owners_resume::INVARIANT,
    no_cross_context_io::INVARIANT,
    ended_session_stays_ended::INVARIANT,
    refusals_are_told::INVARIANT,
    statuses_mean_what_they_say::INVARIANT,
    acknowledged_means_delivered::INVARIANT,
    lost_answers_are_obtainable::INVARIANT,
    calls_are_primed::INVARIANT,
    calls_keep_their_stream::INVARIANT,
    accept_never_waits::INVARIANT,
    cursor_replay_is_exact::INVARIANT,
    newest_event_is_kept::INVARIANT,
    live_write_survives_the_store::INVARIANT,
    one_message_one_stream::INVARIANT,
    listeners_coexist::INVARIANT,
    listeners_are_not_given_up::INVARIANT,
    one_replay_at_a_time::INVARIANT,
    bridge_backlog_is_bounded::INVARIANT,
];

/// A named claim over plan and trace.
#[derive(Clone, Copy)]
pub struct Invariant {
    /// The claim as a name, true when all is well: `idle-runtime-is-released`.
    pub name: &'static str,
    /// What kind of claim it is.
    pub kind: Kind,
    /// The claim in one sentence.
    pub claim: &'static str,
    /// The promises of the described core that it judges, by their number (session-core §5), each in whole or in part.
    pub covers: &'static [&'static str],
    /// Decides; a pure function. Where several decide, they share the case.
    pub judge: fn(&Case<'_>) -> Verdict,
}

impl Invariant {
    /// Decides alone.
    pub fn judge(&self, plan: &Plan, trace: &Trace) -> Verdict {
        self.judge_case(&Case::new(plan, trace))
    }

    /// Decides; what the trace cannot tell of an object that was two for a while is no violation.
    pub fn judge_case(&self, case: &Case<'_>) -> Verdict {
        case.doubled().told(case, (self.judge)(case))
    }
}

/// The kinds of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something bad never happens.
    Always,
    /// Something good happens, at the latest in the quiet of the settle phase.
    Eventually,
    /// A situation that some run must reach, judged over many.
    Sometimes,
}

/// What an invariant says about one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds.
    Held,
    /// It does not, at these places.
    Violated(Vec<Violation>),
    /// The trace lacks what the claim is about; why, in one sentence.
    CannotTell(String),
}

/// Where and how one claim fails in one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Alias of the session, if it is one session's.
    pub session: Option<String>,
    /// What is wrong, in one sentence; the same for every run apart from its numbers.
    pub what: String,
    /// When, in virtual ms since the start of the run.
    pub at_ms: u64,
    /// The event that shows it.
    pub ordinal: u32,
    /// The obligation that is still open, in words.
    pub pending: Option<String>,
}

impl Violation {
    /// A violation that an event shows, of the session that the event belongs to.
    fn at(event: &Event, what: impl Into<String>) -> Self {
        Self {
            session: event.who().map(str::to_owned),
            what: what.into(),
            at_ms: event.at_ms,
            ordinal: event.ordinal,
            pending: None,
        }
    }

    /// The same, of that session.
    fn of(mut self, session: &str) -> Self {
        self.session = Some(session.to_owned());
        self
    }

    /// The same with its open obligation.
    fn pending(mut self, pending: impl Into<String>) -> Self {
        self.pending = Some(pending.into());
        self
    }
}

impl Verdict {
    /// Violated if there are violations, else cannot tell if there is a reason, else held.
    fn of(violations: Vec<Violation>, unknown: Option<String>) -> Self {
        match (violations.is_empty(), unknown) {
            (false, _) => Verdict::Violated(violations),
            (true, Some(reason)) => Verdict::CannotTell(reason),
            (true, None) => Verdict::Held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_claims_in_kebab_case() {
        let names: BTreeSet<&str> = ALL.iter().map(|each| each.name).collect();
        assert_eq!(names.len(), ALL.len());
        for invariant in ALL {
            assert!(invariant.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            assert!(!invariant.claim.ends_with('.') && !invariant.claim.is_empty());
        }
    }

    #[test]
    fn all_hold_on_the_trace_of_the_story() {
        let trace = testing::story().build();
        for invariant in ALL {
            let verdict = invariant.judge(&testing::plan(), &trace);
            assert_eq!(verdict, Verdict::Held, "{}", invariant.name);
        }
    }

    #[test]
    fn none_panics_on_an_empty_or_shuffled_trace() {
        let plan = testing::plan();
        let mut shuffled = testing::story().build();
        shuffled.events.reverse();
        for invariant in ALL {
            invariant.judge(&plan, &Trace::default());
            invariant.judge(&plan, &shuffled);
        }
    }
}
