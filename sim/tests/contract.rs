//! Every row of the seed contract as a test of its name, with a snapshot of the telemetry that its run exported.

use model::config::HostConfig;
use model::defect::{Defect, DefectSet};
use scenarios::contract::{self, Row, Verdict};
use scenarios::plan::{Core, FaultPlan, Plan};
use scenarios::trace::{Stream, Trace};
use sim::contract::{Checked, check};
use sim::report::event_text;
use sim::run::Finding;

fn checked(row: &'static Row, core: Core) -> Checked {
    let described = Defect::described().filter(|_| core == Core::Described);
    let config = HostConfig { defects: DefectSet::of(described), ..HostConfig::default() };
    let change = |mut plan: Plan| {
        plan.core = core;
        Ok(plan)
    };
    check(row, &config, change).expect("the harness runs")
}

/// The test of the row that begins this name.
fn holds(name: &str) {
    let id = name.split('_').next().expect("a name begins with its row");
    let row = contract::row(id).expect("the contract has that row");
    assert_eq!(name, name_of(row), "a test is called by its row");
    assert_eq!(checked(row, Core::Described).verdict, Verdict::Held, "as described");
    let Checked { verdict, ran, .. } = checked(row, Core::Fixed);
    assert_eq!(verdict, Verdict::Held);
    let Some((_, result)) = ran else { return };
    let told: String = result.trace.of(Stream::Telemetry).map(|event| event_text(event) + "\n").collect();
    insta::assert_snapshot!(name, told);
}

/// Id and title in snake case.
fn name_of(row: &Row) -> String {
    let plain = format!("{} {}", row.id, row.title).to_lowercase().replace('\'', "");
    plain.split(|each: char| !each.is_ascii_alphanumeric()).collect::<Vec<_>>().join("_")
}

macro_rules! rows {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                holds(stringify!($name));
            }
        )*
    };
}

rows! {
    a1_idle_runtime_is_released_with_a_stream_held_open
    b1_crossing_the_cap_evicts_through_the_candidates_own_stub
    c1_a_negotiated_capability_is_saved
    c2_the_loss_of_a_capability_is_saved
    c3_a_capability_survives_a_re_resolve
    c4_a_capability_is_never_invented
    c5_without_meta_nothing_is_stored
    d1_a_restore_needs_no_organization_directory
    d2_meta_of_another_organization_is_never_offered
    d3_a_first_init_is_offered_no_meta
    e1_a_cold_start_keeps_hibernated_streams
    e2_a_warm_restart_closes_streams
    e3_a_disposed_session_is_restored_by_its_owner_check
    e4_two_owner_checks_share_one_start
    e5_an_owner_check_and_a_framework_start_share_one_start
    e6_a_model_resume_and_a_framework_start_share_one_start
    f1_a_lost_timestamp_write_keeps_the_session
    f2_a_lost_alarm_write_keeps_the_session
    f3_a_lost_alarm_is_armed_at_the_next_touch
    f4_an_unknown_bookkeeping_failure_fails_init_and_is_captured
    f5_a_reset_of_the_meta_write_fails_init_uncaptured
    g1_an_alarm_finds_the_name_in_storage_and_disposes
    g2_a_paused_lease_is_extended_with_the_name_in_storage
    g3_an_alarm_without_any_name_ends_and_cleans_up
    g4_the_observed_session_id_is_total
    h1_the_least_recently_used_session_is_evicted
    h2_overflow_is_recorded_and_blocks_nobody
    h3_an_evicted_session_is_built_again
    h4_a_repeated_eviction_request_is_harmless
    h5_a_build_in_flight_counts_from_its_admission
    h6_a_failed_build_gives_its_reservation_back
    h7_an_interrupted_init_gives_its_reservation_back
    h8_an_init_during_a_disposal_waits_and_rebuilds
    h9_an_interrupted_disposal_finishes_its_teardown_first
    h10_two_disposals_at_once_close_once
    j1_a_release_is_idempotent
    j2_a_failed_request_keeps_the_entry
    j3_a_session_asked_lately_is_passed_over
    j4_a_session_can_be_asked_again_after_the_grace
    j5_a_mark_without_an_entry_does_nothing
}

#[test]
fn every_row_has_its_test() {
    assert_eq!(contract::rows().map(name_of).collect::<Vec<_>>(), NAMES);
}

/// Defects and the rows that must not hold with them: a row that cannot fail promises nothing.
const TRIPS: &[(&str, &[&str])] = &[
    ("idle-alarm-not-rearmed", &["A1"]),
    ("idle-alarm-destroys", &["A1", "G1"]),
    ("idle-alarm-deletes-meta", &["A1", "E3"]),
    ("start-without-single-flight", &["E4", "E5", "E6"]),
    ("lease-log-throws", &["G2"]),
    ("apps-capability-forgotten", &["C3"]),
    ("cap-on-residents-only", &["H5"]),
    ("reservation-returned-at-build", &["H7"]),
    ("reservation-returned-on-failure", &["H5", "H6", "H7"]),
    ("evicted-in-foreign-context", &["B1", "H1", "H3", "H5"]),
    ("eviction-awaited", &["J2"]),
    ("eviction-not-marked", &["J2", "J3"]),
    ("grace-without-end", &["J4"]),
    ("entry-removed-on-failure", &["J2"]),
    ("streams-ignored-by-eviction", &["H2"]),
    ("most-recent-evicted", &["H1"]),
    ("disposal-not-shared", &["H10"]),
    ("teardown-interruptible", &["H9"]),
    ("engine-dropped-early", &["H9"]),
];

#[test]
fn defects_trip_the_rows_that_are_about_them() {
    for (defect, rows) in TRIPS {
        let named = Defect::named(defect).expect("the defect exists");
        let config = HostConfig { defects: DefectSet::of([named]), ..HostConfig::default() };
        for id in *rows {
            let change = |mut plan: Plan| {
                plan.defects.push((*defect).to_owned());
                Ok(plan)
            };
            let row = contract::row(id).expect("the contract has that row");
            let verdict = check(row, &config, change).expect("the harness runs").verdict;
            assert!(matches!(verdict, Verdict::NotHeld(_)), "{defect}: {id} is {verdict:?}");
        }
    }
}

/// A change to the plan of a row that takes away what the row is about.
type Spoiled = (&'static str, fn(&mut Plan));

const SPOILED: &[Spoiled] = &[
    ("D2", |plan| {
        // The record is of the organisation that is asked for.
        let meta = plan.storage[0].values.get_mut("session-meta").expect("a stored record");
        meta["organizationId"] = "org-1".into();
    }),
    ("G1", |plan| plan.faults.push(failing("dispose · storage.deleteAlarm"))),
    ("G3", |plan| plan.faults.push(failing("alarm.nameless · storage.deleteAlarm"))),
    ("H1", |plan| {
        // The session that was registered first is not used again.
        let calls = plan.callers.iter_mut().flat_map(|caller| caller.calls.iter_mut());
        calls.filter(|call| call.method == "markActivity").for_each(|call| call.session = "c".to_owned());
    }),
];

/// The first such operation fails.
fn failing(operation: &str) -> FaultPlan {
    let fault = serde_json::json!({
        "when": {"operation": operation, "edge": "begin", "n": 1},
        "effect": {"do": "fail", "error": "unknown", "text": "no"},
    });
    serde_json::from_value(fault).expect("a fault")
}

#[test]
fn a_row_does_not_hold_of_a_plan_without_what_it_is_about() {
    for (id, spoil) in SPOILED {
        let row = contract::row(id).expect("the contract has that row");
        let change = |mut plan: Plan| {
            spoil(&mut plan);
            Ok(plan)
        };
        let verdict = check(row, &HostConfig::default(), change).expect("the harness runs").verdict;
        assert!(matches!(verdict, Verdict::NotHeld(_)), "{id} is {verdict:?}");
    }
}

#[test]
fn a_warm_restart_must_close_streams_before_its_server_does() {
    let row = contract::row("E2").expect("the contract has that row");
    let (_, result) = checked(row, Core::Fixed).ran.expect("a world");
    let mut trace = result.trace;
    let at = |trace: &Trace, stream, name| {
        trace.events.iter().rposition(|event| event.is(stream, name)).expect("it happened")
    };
    let closed = at(&trace, Stream::State, "server.closed");
    let streams = trace.events[..closed].iter().rposition(|event| event.is(Stream::Platform, "socket.closed"));
    let streams = streams.expect("the streams are closed before");
    let ordinal = trace.events[closed].ordinal;
    trace.events[closed].ordinal = trace.events[streams].ordinal;
    trace.events[streams].ordinal = ordinal;
    let verdict = contract::judge(row, &trace);
    assert!(matches!(verdict, Verdict::NotHeld(_)), "{verdict:?}");
}

#[test]
fn a_rows_run_violates_no_claim_about_all_runs() {
    let mut violated = Vec::new();
    for row in contract::rows() {
        let Some((_, result)) = checked(row, Core::Fixed).ran else { continue };
        violated.extend(result.findings.iter().filter_map(|finding| match finding {
            Finding::Violation { invariant, .. } => Some((row.id, *invariant)),
            _ => None,
        }));
    }
    assert_eq!(violated, [] as [(&str, &str); 0]);
}
