//! How runs end: each way to fail is told apart, in worlds that are small enough to fail at will.

use super::*;
use scenarios::plan::{Effect, FaultPlan, When};
use scenarios::trace::Stream;

/// A plan that asks for nothing.
pub(crate) fn plan() -> Plan {
    let scenario = crate::draw::scenarios().next().expect("the catalog is not empty");
    let mut plan = (scenario.plan)(scenarios::seed::Seed(1));
    plan.clients.clear();
    plan
}

fn result_of(world: WorldFn) -> RunResult {
    run_in(world, &plan(), &RunOptions { is_judged: false, ..RunOptions::default() }).expect("a run can be started")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = madsim::runtime::Runtime::with_seed_and_config(0, madsim::Config::default());
    runtime.set_time_limit(Duration::from_secs(10));
    runtime.block_on(work)
}

fn the_only_finding(result: &RunResult) -> &Finding {
    let [finding] = &result.findings[..] else { panic!("one finding, not {:?}", result.findings) };
    finding
}

#[test]
fn a_world_that_ends_well_is_held_and_its_events_are_the_trace() {
    let result = result_of(|_, _| {
        recorder::record(Stream::Phase, "phase", None, vec![("phase".into(), "end".into())]);
        WorldResult { ends_at_ms: 7, operation_count: 3, ..WorldResult::default() }
    });
    assert_eq!(result.outcome(), ExitCode::Held);
    assert_eq!((result.event_count, result.trace.events.len()), (1, 1));
    assert_eq!((result.trace.ends_at_ms, result.trace.operation_count), (7, 3));
    assert_eq!(scenarios::trace::digest_of_events(&result.trace.events).1, result.trace.run_digest);
}

#[test]
fn a_judged_run_has_a_verdict_of_every_claim() {
    let result = run_in(|_, _| WorldResult::default(), &plan(), &RunOptions::default()).expect("a run can be started");
    assert_eq!(result.judged.len(), scenarios::invariants::ALL.len());
}

#[test]
fn a_panic_of_this_crate_is_a_harness_error_and_keeps_what_was_recorded() {
    let result = result_of(|_, _| {
        recorder::record(Stream::Phase, "before", None, Vec::new());
        panic!("a bug of ours")
    });
    assert_eq!(result.outcome(), ExitCode::Harness);
    assert_eq!(result.event_count, 1);
    let Finding::Harness { panic: Some(caught), .. } = the_only_finding(&result) else { panic!("a harness error") };
    assert_eq!(caught.message, "a bug of ours");
    assert!(caught.file.starts_with("sim/src/run"), "{}", caught.file);
}

#[test]
fn what_a_world_says_while_a_panic_unwinds_is_not_recorded() {
    struct SpeaksAtTheEnd;
    impl Drop for SpeaksAtTheEnd {
        fn drop(&mut self) {
            recorder::record(Stream::Phase, "buried", None, Vec::new());
        }
    }
    let result = result_of(|_, _| {
        let _speaks = SpeaksAtTheEnd;
        panic!("a bug of ours")
    });
    assert_eq!(result.event_count, 0);
}

#[test]
fn a_world_in_which_everything_waits_for_ever_is_a_harness_error() {
    let result = result_of(|_, _| block_on(std::future::pending()));
    let Finding::Harness { what, .. } = the_only_finding(&result) else { panic!("a harness error") };
    assert_eq!(what, "every task waits and nothing is due, so the run can never end");
}

#[test]
fn a_world_beyond_its_virtual_time_is_a_harness_error() {
    let result = result_of(|_, _| {
        block_on(async {
            loop {
                model::rt::sleep_ms(1_000).await;
            }
        })
    });
    let Finding::Harness { what, panic } = the_only_finding(&result) else { panic!("a harness error") };
    assert_eq!(what, "the run did not end within its virtual time");
    assert!(panic.as_ref().is_some_and(|caught| caught.at_ms >= 9_000), "{panic:?}");
}

#[test]
fn a_livelock_is_a_crash_by_its_step_budget() {
    let result = result_of(|_, options| {
        model::rt::begin_run(None, options.budget.step_max.min(100));
        loop {
            model::rt::count_step();
        }
    });
    assert_eq!(result.outcome(), ExitCode::Crash);
}

#[test]
fn a_panic_below_the_model_is_a_crash_and_one_in_the_simulator_is_not() {
    let caught = |file: &str| Caught { message: "x".to_owned(), file: file.to_owned(), line: 1, at_ms: 0 };
    for (file, code) in [
        ("model/src/session/init.rs", ExitCode::Crash),
        ("hyper-1.12.0/src/body/length.rs", ExitCode::Crash),
        ("core/src/cell.rs", ExitCode::Crash),
        ("madsim-0.2.34/src/sim/net/network.rs", ExitCode::Harness),
        ("sim/src/driver.rs", ExitCode::Harness),
        ("scenarios/src/decision.rs", ExitCode::Harness),
    ] {
        assert_eq!(classify(caught(file)).exit_code(), code, "{file}");
    }
}

#[test]
fn a_run_that_hangs_is_given_up_by_the_wall_clock_as_a_harness_error() {
    // The thread is left behind: it has to end by itself, or the test program would compute for ever.
    let options = RunOptions { wall_limit: Duration::from_millis(50), ..RunOptions::default() };
    let hang: WorldFn = |_, _| {
        let mut spins = 0u64;
        while std::hint::black_box(spins) < 2_000_000_000 {
            spins += 1;
        }
        WorldResult::default()
    };
    let result = run_in(hang, &plan(), &options).expect("a run can be started");
    assert_eq!(result.outcome(), ExitCode::Harness);
}

#[test]
fn a_fault_that_was_not_delivered_is_unmet_and_one_that_was_is_not() {
    let row = |fault, delivered| FaultRow { fault, requested: 1, armed: 1, delivered };
    let result = result_of(|_, _| WorldResult {
        fault_ledger: vec![
            FaultRow { fault: 0, requested: 1, armed: 1, delivered: 1 },
            FaultRow { fault: 1, requested: 1, armed: 1, delivered: 0 },
        ],
        ..WorldResult::default()
    });
    assert_eq!(result.outcome(), ExitCode::Unmet);
    assert!(matches!(the_only_finding(&result), Finding::Unmet(unmet) if *unmet == row(1, 0)));
    assert_eq!(result.faults, [row(0, 1), row(1, 0)]);
}

#[test]
fn pins_that_nobody_asked_for_are_a_harness_error_that_names_them() {
    let result =
        result_of(|_, _| WorldResult { unknown_pins: vec!["s1/never@0#0".to_owned()], ..WorldResult::default() });
    let Finding::Harness { what, .. } = the_only_finding(&result) else { panic!("a harness error") };
    assert!(what.contains("`s1/never@0#0`"), "{what}");
}

#[test]
fn nothing_is_judged_once_the_harness_failed() {
    let stopped: WorldFn = |_, _| WorldResult { stopped: Some("no such thing".to_owned()), ..WorldResult::default() };
    let result = run_in(stopped, &plan(), &RunOptions::default()).expect("a run can be started");
    assert!(result.judged.is_empty());
    assert_eq!(result.outcome(), ExitCode::Harness);
}

#[test]
fn the_same_world_has_the_same_digests_kept_or_not_on_any_thread() {
    let world: WorldFn = |_, _| {
        tracing::info!(target: "telemetry", event = "x", who = "s1", what = "log");
        recorder::record(Stream::Phase, "end", None, Vec::new());
        WorldResult::default()
    };
    let digests = |keep| {
        let options = RunOptions { keep, is_judged: false, ..RunOptions::default() };
        let trace = run_in(world, &plan(), &options).expect("a run can be started").trace;
        (trace.telemetry_digest, trace.run_digest)
    };
    let kept = digests(Keep::Trace);
    assert_eq!(kept, digests(Keep::Trace));
    assert_eq!(kept, digests(Keep::DigestOnly));
}

#[test]
fn budgets_hold_for_the_largest_plan_that_is_valid() {
    let mut largest = plan();
    let scenario = crate::draw::scenarios().next().expect("the catalog is not empty");
    let mut client = (scenario.plan)(scenarios::seed::Seed(1)).clients.remove(0);
    client.request_timeout_ms = scenarios::plan::SPAN_MS_MAX;
    client.steps = vec![client.steps[0].clone(); scenarios::plan::STEP_COUNT_MAX];
    largest.clients = vec![client; 3];
    largest.settle.quiet_ms = scenarios::plan::SPAN_MS_MAX;
    let budget = Budget::for_plan(&largest);
    assert!(budget.virtual_ms_max > 2 * scenarios::plan::SPAN_MS_MAX);
    assert!(budget.step_max > Budget::for_plan(&plan()).step_max);
}

#[test]
fn a_fault_that_may_miss_is_told_and_is_no_failure() {
    let missed: WorldFn = |_, _| WorldResult {
        fault_ledger: vec![FaultRow { fault: 0, requested: 1, armed: 1, delivered: 0 }],
        ..WorldResult::default()
    };
    let mut plan = plan();
    let when = When::At { at_ms: 5, session: Some("s1".into()) };
    plan.faults = vec![FaultPlan::new(when, Effect::Evict {})];
    let must = run_in(missed, &plan, &RunOptions::default()).expect("a run can be started");
    assert_eq!(must.outcome(), ExitCode::Unmet);
    plan.faults[0].may_miss = true;
    let may = run_in(missed, &plan, &RunOptions::default()).expect("a run can be started");
    assert_eq!((may.outcome(), may.faults.len()), (ExitCode::Held, 1));
}
