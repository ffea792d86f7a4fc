//! Rows, their chains and the judging of them, over hand-made traces.

use super::pattern::Is::{Absent, AtLeast, Begins, Below, Flag, Number, There, Word};
use super::*;
use crate::invariants::Case;
use crate::invariants::testing::{self, Builder};
use crate::trace::{Event, Trace, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

fn judged(trace: &Trace) -> Vec<Reached> {
    judge(&Case::new(&testing::plan(), trace))
}

fn of(name: &str, trace: &Trace) -> Reached {
    let at = rows().iter().position(|row| row.name == name).unwrap_or_else(|| panic!("there is no row {name}"));
    judged(trace).remove(at)
}

/// How far a trace is from a row that it must not light, and what it lacks first.
fn lacks(name: &str, trace: &Trace) -> (u8, String) {
    let Reached::No(closest) = of(name, trace) else { panic!("{name} is lit") };
    (closest.distance, find(name).expect("a row").missing(closest.distance))
}

#[test]
fn rows_have_unique_names_below_their_group_and_one_sentence_each() {
    let names: BTreeSet<&str> = rows().iter().map(|row| row.name).collect();
    assert_eq!(names.len(), rows().len());
    for group in GROUPS {
        for row in group.rows {
            let path = row.name.strip_prefix(group.name).and_then(|rest| rest.strip_prefix('/'));
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'/';
            assert!(path.is_some_and(|path| !path.is_empty() && path.bytes().all(plain)), "{}", row.name);
            assert!(row.source.starts_with('§') && !row.claim.is_empty() && !row.claim.ends_with('.'), "{}", row.name);
            assert!(row.condition_count() <= CONDITION_COUNT_MAX, "{} has too many conditions", row.name);
        }
    }
}

#[test]
fn excuses_are_of_rows_once_each_and_say_why() {
    let names: BTreeSet<&str> = EXCUSED.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), EXCUSED.len(), "an excuse stands twice");
    for (name, reason) in EXCUSED {
        assert!(find(name).is_some(), "there is no row {name}");
        assert!(!reason.is_empty() && excuse(name) == Some(*reason), "{name}");
    }
    assert_eq!(excuse("no/such-row"), None);
}

#[test]
fn the_story_lights_what_it_tells_and_nothing_else() {
    let trace = testing::story().build();
    for lit in [
        "life-cycle/absent-to-starting",
        "life-cycle/resident-to-disposing",
        "life-cycle/disposing-to-cold",
        "life-cycle/cold-to-starting",
        "alarm/dispose-quiet",
        "span/dispose/idle",
        "log/dispose/idle",
    ] {
        assert_eq!(of(lit, &trace), Reached::Yes, "{lit}");
    }
    for dark in ["life-cycle/condemned", "alarm/extend-paused", "span/dispose/cap", "answer/timed-out"] {
        assert!(matches!(of(dark, &trace), Reached::No(_)), "{dark}");
    }
}

#[test]
fn a_run_that_lacks_the_last_condition_says_so_and_where_it_came_closest() {
    let trace = testing::story().without_all("mcp_session_idle_runtime_dispose").build();
    let Reached::No(closest) = of("log/dispose/idle", &trace) else { panic!("nothing tells the disposal") };
    let place = (closest.distance, closest.session.as_deref(), closest.at_ms);
    assert_eq!(place, (1, Some("s1"), 1_021));
    let missing = "log `mcp_session_idle_runtime_dispose` with reason = idle";
    assert_eq!(lacks("log/dispose/idle", &trace), (1, missing.to_owned()));
}

#[test]
fn a_run_that_lacks_one_on_the_way_says_which() {
    let trace = testing::story().without_all("mcp_session_idle_runtime_dispose").without_all("alarm.fired").build();
    let missing = "its alarm fires once it has been idle for the timeout".to_owned();
    assert_eq!(lacks("log/dispose/idle", &trace), (2, missing));
    let missing = "an execution of it waits for a person".to_owned();
    assert_eq!(lacks("alarm/extend-paused", &testing::story().build()), (3, missing));
}

#[test]
fn what_must_hold_at_once_is_not_enough_one_after_the_other() {
    let name = "situation/request-during-disposal";
    let story = || testing::story();
    assert!(matches!(of(name, &story().build()), Reached::No(_)));
    let during = [("request", 9_u64.into()), ("op", "call".into())];
    let trace = story().state(2_000, "s1", "disposal.begin", &[]).history(2_001, "s1", "request.begin", &during);
    assert_eq!(of(name, &trace.build()), Reached::Yes);
    let trace = story().state(2_000, "s1", "disposal.begin", &[]).state(2_001, "s1", "disposal.end", &[]);
    let trace = trace.history(2_002, "s1", "request.begin", &during);
    assert_eq!(lacks(name, &trace.build()), (1, "history `request.begin`, at such a moment".to_owned()));
}

#[test]
fn a_call_that_ends_without_an_answer_is_told_from_a_stream_that_ends() {
    let ended = [("request", 9_u64.into()), ("outcome", "ended".into()), ("status", 200_u64.into())];
    let of_op = |op: &'static str| {
        let begun = [("request", 9_u64.into()), ("op", op.into())];
        let trace = testing::story().history(149_000, "s1", "request.begin", &begun);
        of("answer/ended-without-answer", &trace.history(149_001, "s1", "request.end", &ended).build())
    };
    assert_eq!(of_op("call"), Reached::Yes);
    assert!(matches!(of_op("stream"), Reached::No(_)));
}

#[test]
fn nothing_is_lit_of_a_run_in_which_nothing_happens_and_no_order_panics() {
    assert!(judged(&Trace::default()).iter().all(|reached| matches!(reached, Reached::No(_))));
    let mut shuffled = testing::story().build();
    shuffled.events.reverse();
    judged(&shuffled);
}

#[test]
fn a_verdict_is_written_as_a_digit_a_row() {
    let trace = testing::story().build();
    let (told, reached) = (written(&judged(&trace)), judged(&trace));
    assert_eq!(told.len(), rows().len());
    for (digit, reached) in told.chars().zip(&reached) {
        assert_eq!(digit == '0', *reached == Reached::Yes);
    }
}

/// An event that says all that a pattern wants.
fn event_of(pattern: &Pattern) -> Event {
    let (mut fields, mut attributes, mut answer) = (Vec::new(), Map::new(), json!({}));
    for (place, is) in pattern.fields {
        let value = match is {
            Word(word) | Begins(word) => json!(word),
            Number(number) => json!(number),
            AtLeast(number) => json!(number),
            Below(number) => json!(number - 1),
            Flag(flag) => json!(flag),
            There => json!("there"),
            Absent => continue,
        };
        match place {
            Place::Field(name) => fields.push(((*name).into(), Value::from(value))),
            Place::Attribute(name) => drop(attributes.insert((*name).to_owned(), value)),
            Place::Answer(pointer) => put(&mut answer, pointer, value),
        }
    }
    fields.push(("attributes".into(), Value::Json(attributes.into())));
    if answer != json!({}) {
        fields.push(("answer".into(), Value::Json(answer)));
    }
    Event { at_ms: 1, ordinal: 0, stream: pattern.stream, name: pattern.name.into(), who: Some("s1".into()), fields }
}

fn put(into: &mut Json, pointer: &str, value: Json) {
    let mut place = into;
    for part in pointer.split('/').skip(1) {
        place = &mut place[part];
    }
    *place = value;
}

#[test]
fn every_row_is_lit_by_each_event_that_shows_it() {
    for row in rows() {
        let Evidence::Events(events) = row.shown_by else { continue };
        for event in events.iter().filter(|_| row.when.is_empty()) {
            let trace = Trace { events: vec![event_of(event)], ..Trace::default() };
            assert_eq!(of(row.name, &trace), Reached::Yes, "{} by {event}", row.name);
        }
        for event in events.iter().filter(|event| !event.fields.is_empty() && row.when.is_empty()) {
            let bare = Pattern { fields: &[], ..*event };
            let is_bare_enough = event.fields.iter().all(|(_, is)| matches!(is, Absent));
            let trace = Trace { events: vec![event_of(&bare)], ..Trace::default() };
            assert_eq!(of(row.name, &trace) == Reached::Yes, is_bare_enough, "{} without what it says", row.name);
        }
    }
}

#[test]
fn a_session_of_another_client_is_another_session() {
    let trace = Builder::default()
        .state(1, "s1", "disposal.begin", &[])
        .history(2, "s2", "request.begin", &[("request", 1_u64.into()), ("op", "call".into())])
        .build();
    assert!(matches!(of("situation/request-during-disposal", &trace), Reached::No(_)));
}
