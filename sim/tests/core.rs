//! The session class against the recordings of the real one: every program, what is written of them, and that a difference
//! is seen.

use model::defect::{Defect, DefectSet};
use serde_json::{Value, json};
use sim::conform::core::summary::{Summary, markdown};
use sim::conform::core::{Program, described, play, read, recorded, recorded_with};

/// Set to write the file instead of comparing.
const UPDATE: &str = "UPDATE_RECORDINGS";

#[test]
fn the_class_does_what_the_real_one_did_in_every_program() {
    let programs = recorded().expect("the recordings are there");
    assert_eq!(programs.len(), 3_027);
    let summary = Summary::of(&programs, &described());
    println!("{}", summary.sentence());
    assert_eq!((summary.programs, summary.whole), (3_027, 3_027), "{}", summary.sentence());
    let first = summary.parting.first().and_then(|played| Some((&played.id, played.first_difference()?)));
    assert!(summary.parting.is_empty(), "{}\n{first:?}", summary.sentence());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/CORE.md");
    let written = markdown(&programs, &summary, UPDATE);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(path, &written).expect("the file can be written");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == written, "sim/CORE.md is stale: run the test with {UPDATE}=1");
}

#[test]
fn the_recordings_say_on_what_they_were_made() {
    let with = recorded_with().expect("the recordings are there");
    for (what, version) in [
        ("class", "fork vizmo-vms/executor, commit ab668bbd"),
        ("effect", "4.0.0-beta.59"),
        ("@modelcontextprotocol/sdk", "1.29.0"),
        ("vitest", "4.1.5"),
        ("node", "20.20.2"),
    ] {
        assert_eq!(with.get(what).map(String::as_str), Some(version), "{what}");
    }
    assert!(with["agents"].starts_with("0.17.3 ") && with["day"].contains("2026-07-23"), "{with:?}");
}

/// A session that is built, touched and disposed, as it was recorded.
const PROGRAM: &str = include_str!("data/core-program.json");

/// The first step of a program that parts from what it says was recorded, and in what.
fn parts(program: &Value) -> Option<(usize, Vec<&'static str>)> {
    let programs = read(program.to_string().as_bytes(), "the program").expect("it is one");
    let played = play(&programs[0], &described(), false);
    let (number, step) = played.first_difference()?;
    let mut what: Vec<&'static str> = step.differences.iter().map(|difference| difference.what).collect();
    what.dedup();
    Some((number, what))
}

fn changed(change: impl Fn(&mut Value)) -> Option<(usize, Vec<&'static str>)> {
    let mut program = serde_json::from_str(PROGRAM).expect("it is JSON");
    change(&mut program);
    parts(&program)
}

/// The first event of a kind in a step, whose field is `field`.
fn event<'a>(program: &'a mut Value, step: usize, kind: &str) -> &'a mut Value {
    let events = program["steps"][step]["ev"].as_array_mut().expect("events");
    events.iter_mut().find(|event| event[0] == kind).expect("it has one")
}

/// What is recorded otherwise, how, and what is told to differ.
type Case<'a> = (&'a str, &'a dyn Fn(&mut Value), &'a [&'a str]);

#[test]
fn whatever_is_recorded_otherwise_is_a_difference() {
    assert_eq!(changed(|_| ()), None, "as it stands it agrees");
    let last = 2;
    let cases: [Case; 10] = [
        ("the flag", &|program| program["steps"][last]["st"]["0"]["init"] = json!(false), &["state"]),
        ("a stored value", &|program| program["steps"][last]["st"]["0"]["kv"]["props"] = json!(1), &["state"]),
        ("the alarm", &|program| program["steps"][last]["st"]["0"]["alarm"] = json!(60_001), &["state"]),
        ("the gauge", &|program| program["steps"][last]["c"]["r"] = json!(2), &["counters"]),
        ("the registry", &|program| program["steps"][last]["c"]["reg"] = json!([]), &["counters"]),
        ("the outcome", &|program| event(program, last, "settle")[3] = json!("ok"), &["settle"]),
        ("a span's attribute", &|program| event(program, last, "span")[3] = json!({"a": 1}), &["events"]),
        ("how a span ended", &|program| event(program, last, "span")[4] = json!("interrupt"), &["events"]),
        ("who was connected", &|program| event(program, last, "connect")[2] = json!(7), &["events"]),
        ("the clock", &|program| program["steps"][last]["now"] = json!(1), &["clock"]),
    ];
    for (what, change, expected) in cases {
        assert_eq!(changed(change), Some((last, expected.to_vec())), "{what}");
    }
    let gate = changed(|program| event(program, 1, "gate")[4] = json!("session-meta"));
    assert_eq!(gate, Some((1, vec!["gates"])), "the argument of a call");
    let open = changed(|program| program["steps"][1]["open"] = json!([]));
    assert_eq!(open, Some((1, vec!["gates"])), "what is open");
}

/// How many of some programs part with a defect beside those that the recorded class has.
fn parting_with(programs: &[Program], defect: Defect) -> usize {
    let defects = DefectSet::of(Defect::described().chain([defect]));
    Summary::of(programs, &defects).parting.len()
}

#[test]
fn programs_part_with_a_historic_defect_and_with_what_was_repaired_here() {
    let mut programs = recorded().expect("the recordings are there");
    programs.truncate(200);
    for defect in [
        Defect::IdleAlarmNotRearmed,
        Defect::StartWithoutSingleFlight,
        Defect::InitializedClearedLate,
        Defect::DisposalNotShared,
        Defect::ReservationReturnedOnFailure,
        Defect::EvictionNotMarked,
        Defect::EngineDroppedEarly,
        Defect::KeepAliveAfterClock,
        Defect::GaugeReadBeforeRelease,
        Defect::AppsCapabilityForgotten,
    ] {
        let count = parting_with(&programs, defect);
        assert!(count > 0, "{defect:?} is not seen");
    }
    let fixed = Summary::of(&programs, &DefectSet::default());
    assert!(!fixed.parting.is_empty(), "what was repaired is not seen");
}
