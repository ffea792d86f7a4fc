//! What a person reads, as snapshots; and that nothing from outside can move a terminal.

use super::*;
use crate::capture::Caught;
use crate::run::{FaultRow, Finding, RunResult};
use scenarios::invariants::{Kind, Violation};
use scenarios::plan::{Action, Effect, FaultPlan, Plan, ResetKind, Step, When};
use scenarios::trace::{Event, Stream, Trace, Value};
use std::path::Path;

fn plan() -> Plan {
    let mut plan = crate::run::tests::plan();
    let scenario = crate::draw::scenarios().next().expect("the catalog is not empty");
    let mut client = (scenario.plan)(plan.seed).clients.remove(0);
    client.steps = vec![
        Step { at_ms: 0, action: Action::Open {} },
        Step { at_ms: 3_000, action: Action::Call { code: "return 1".to_owned(), overlap: false } },
        Step { at_ms: 90_000, action: Action::Call { code: "return 2".to_owned(), overlap: false } },
    ];
    plan.clients = vec![client];
    let when = When::At { at_ms: 70_000, session: None };
    plan.faults = vec![FaultPlan::new(when, Effect::Reset { kind: ResetKind::CodeUpdate })];
    plan
}

fn event(
    at_ms: u64,
    ordinal: u32,
    stream: Stream,
    name: &'static str,
    who: &str,
    fields: &[(&'static str, Value)],
) -> Event {
    let fields = fields.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Event { at_ms, ordinal, stream, name: name.into(), who: Some(who.into()), fields }
}

fn trace() -> Trace {
    let begin = |at_ms, ordinal, step: u64, op: &str| {
        let fields = [("request", Value::from(step)), ("step", Value::from(step)), ("op", op.into())];
        event(at_ms, ordinal, Stream::History, "request.begin", "s1", &fields)
    };
    let by = |by: &str| ("by", Value::from(by));
    let events = vec![
        begin(0, 0, 0, "open"),
        begin(3_008, 1, 1, "call"),
        event(
            3_008,
            2,
            Stream::Platform,
            "alarm.set",
            "s1",
            &[("due_at_ms", 4_008u64.into()), by("session.mark_activity")],
        ),
        event(
            3_009,
            3,
            Stream::Platform,
            "alarm.set",
            "s2",
            &[("due_at_ms", 9_009u64.into()), by("session.mark_activity")],
        ),
        event(3_013, 4, Stream::Platform, "alarm.deleted", "s1", &[by("agents.schedule")]),
        event(64_008, 5, Stream::State, "gauge", "i1", &[("residents", 1u64.into())]),
    ];
    Trace { events, ends_at_ms: 64_008, operation_count: 9, ..Trace::default() }
}

fn report(findings: Vec<Finding>) -> Report {
    let trace = trace();
    let result = RunResult { event_count: trace.events.len() as u64, trace, findings, ..RunResult::default() };
    Report::of(&plan(), &result, Path::new("reports"))
}

fn violation(what: &str) -> Violation {
    Violation {
        session: Some("s1".to_owned()),
        what: what.to_owned(),
        at_ms: 64_008,
        ordinal: 5,
        pending: Some("s1: idle deadline 4008 ms, no alarm set since 3013 ms".to_owned()),
    }
}

fn violated(violations: Vec<Violation>) -> Finding {
    Finding::Violation {
        kind: Kind::Eventually,
        invariant: "idle-runtime-is-released",
        claim: "a runtime with nothing live is disposed once its session has been idle for the timeout",
        violations,
    }
}

#[test]
fn a_violation_is_a_block_that_names_step_story_and_command() {
    let report = report(vec![violated(vec![violation(
        "session s1 still resident 60000 ms after its idle deadline, untouched since",
    )])]);
    assert_text("violation", &findings(&report, Style::default()));
}

/// Compares with a snapshot; the digest of the plan changes with the catalog and says nothing here.
fn assert_text(name: &str, text: &str) {
    insta::with_settings!({filters => vec![(r"\b[0-9a-f]{8}\b", "[plan]")]}, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn further_violations_of_a_claim_are_told_shortly() {
    let many = (0..8).map(|number| violation(&format!("runtime {number} was released with its server open"))).collect();
    let text = findings(&report(vec![violated(many)]), Style::default());
    let also: Vec<&str> = text.lines().skip_while(|line| !line.contains("also")).take(6).collect();
    assert!(also[0].starts_with("  also       64008 ms  runtime 1 was"), "{text}");
    assert_eq!(also[5], "             and 2 more");
}

#[test]
fn crashes_harness_errors_and_faults_that_never_happened_have_blocks_too() {
    let caught = Caught {
        message: "no entry found for key".to_owned(),
        file: "model/src/session/init.rs".to_owned(),
        line: 41,
        at_ms: 3_013,
    };
    let findings_of_all_kinds = vec![
        Finding::Crash(caught.clone()),
        Finding::Unmet(FaultRow { fault: 0, requested: 1, armed: 1, delivered: 0 }),
        Finding::Harness {
            what: "the harness panicked".to_owned(),
            panic: Some(Caught { file: "sim/src/driver.rs".to_owned(), ..caught }),
        },
        Finding::Harness { what: "the world is not wired yet".to_owned(), panic: None },
    ];
    assert_text("other_findings", &findings(&report(findings_of_all_kinds), Style::default()));
}

#[test]
fn colour_and_signs_are_used_only_where_they_are_asked_for() {
    let report = report(vec![violated(vec![violation("late")])]);
    let plain = findings(&report, Style::default())
        + &line(&report, 30, Style::default())
        + &summary(&report, Style::default());
    assert!(!plain.contains('\u{1b}') && !plain.contains('✗'));
    let full = Style { is_colored: true, has_glyphs: true };
    let bright = line(&report, 30, full);
    assert!(bright.contains('\u{1b}') && bright.contains('✗'), "{bright}");
}

#[test]
fn text_from_outside_cannot_move_a_terminal() {
    let evil = "\u{1b}[2Jgone\nFAILED  forged\u{202e}";
    let mut report = report(vec![violated(vec![violation(evil)])]);
    report.scenario = evil.to_owned();
    report.story[0].text = evil.to_owned();
    let all = whole(&report) + &line(&report, 30, Style::default());
    assert!(!all.contains('\u{1b}') && !all.contains('\u{202e}'));
    assert!(!all.lines().any(|line| line.starts_with("FAILED  forged")), "{all}");
}

#[test]
fn a_scenario_that_is_a_path_does_not_lead_out_of_the_reports() {
    let mut plan = plan();
    for (scenario, folder) in
        [("../../etc/passwd", "reports/__/__/etc/passwd"), ("/abs", "reports/abs"), ("a b/ü", "reports/a_b/_")]
    {
        plan.scenario = scenario.to_owned();
        let report = Report::of(&plan, &RunResult::default(), Path::new("reports"));
        assert!(report.folder.starts_with(folder), "{}", report.folder.display());
    }
}

fn fault_line(fault: usize, delivered: u64, may_miss: bool) -> FaultLine {
    FaultLine {
        row: FaultRow { fault, requested: 1, armed: 1, delivered },
        what: format!("evict at {fault} ms"),
        may_miss,
    }
}

#[test]
fn drawn_faults_without_an_occasion_are_counted_and_all_others_told() {
    let lines = [fault_line(0, 1, true), fault_line(1, 0, true), fault_line(2, 0, false), fault_line(3, 0, true)];
    let told = "faults[0]  requested 1, armed 1, delivered 1  evict at 0 ms\n\
                faults[2]  requested 1, armed 1, delivered 0  evict at 2 ms\n\
                2 of 4 faults found no occasion, which was left to chance\n";
    assert_eq!(faults(&lines), told);
    assert_eq!(faults(&lines[2..3]).lines().count(), 1);
}

#[test]
fn a_long_story_is_told_from_both_ends_and_on_demand_whole() {
    let mut report = report(Vec::new());
    let line = report.story.first().expect("the trace tells something").clone();
    report.story = (0..301).map(|at_ms| Line { at_ms, ..line.clone() }).collect();
    let lines = |is_whole| story(&report, is_whole, Style::default()).lines().map(str::to_owned).collect::<Vec<_>>();
    let short = lines(false);
    assert_eq!(short.len(), 202, "an empty line ends it");
    assert_eq!(short[100], "          ..  101 lines left out: `--whole-story` tells them too");
    assert_eq!((&short[99], &short[101]), (&lines(true)[99], &lines(true)[201]));
    assert_eq!(lines(true).len(), 302);
    report.story.pop();
    assert_eq!(story(&report, false, Style::default()).lines().count(), 301, "as long as that it is told whole");
}
