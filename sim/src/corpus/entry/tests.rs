//! What is an entry, and what is refused with which sentence.

use super::*;
use crate::corpus::record::record;
use crate::trial::Here;
use scenarios::bad_input::PLAN_BYTES_MAX;
use serde_json::Value as Json;

/// An entry of a plan that a scenario draws, kept for a defect.
fn entry() -> Entry {
    let plan = (crate::draw::scenarios().next().expect("a scenario").plan)(Seed(22));
    let keeps = Keeps { defects: vec!["idle-alarm-destroys".to_owned()], ..Keeps::default() };
    record(&plan, keeps, false, &mut Here).expect("the defect shows")
}

/// The sentence that refuses the entry after a change of its JSON.
fn refused(of: &Entry, change: impl FnOnce(&mut Json)) -> String {
    let mut json = serde_json::to_value(of).expect("plain data");
    change(&mut json);
    Entry::parse(json.to_string().as_bytes()).expect_err("it was changed for the worse").to_string()
}

#[test]
fn an_entry_is_read_as_it_is_written() {
    let entry = entry();
    assert_eq!(Entry::parse(entry.to_json().as_bytes()), Ok(entry.clone()));
    assert!(Entry::is_one(entry.to_json().as_bytes()));
    assert!(!Entry::is_one(entry.plan.to_json().as_bytes()) && !Entry::is_one(b"{") && !Entry::is_one(b"\xff"));
}

#[test]
fn what_is_no_entry_is_refused_with_place_problem_and_remedy() {
    let entry = entry();
    type Change = fn(&mut Json);
    let changes: [(Change, &str); 20] = [
        (
            |json| json["entry"] = Json::from(2),
            "entry: entry is version 2, this build reads 1: use the sim that wrote it",
        ),
        (|json| json["entry"] = Json::from("1"), "entry: expected the version, 1"),
        (|json| json["plan"]["version"] = Json::from(9), "plan: version: plan is version 9"),
        (|json| json["plan"] = Json::Null, "plan: an entry holds a plan, and this has none"),
        (|json| json["more"] = Json::from(1), "unknown field `more`"),
        (|json| json["keeps"]["more"] = Json::from(1), "unknown field `more`"),
        (|json| json["plan"]["more"] = Json::from(1), "unknown field `more`"),
        (
            |json| json["plan"]["entropy"] = Json::from("0".repeat(64)),
            "plan.entropy: a plan that is kept draws nothing",
        ),
        (|json| json["plan"]["clients"][0]["name"] = Json::from("S"), "plan.clients[0].name: "),
        (|json| json["keeps"] = serde_json::json!({"why": "a\nb"}), "keeps.why: expected 1 to 1000 bytes of text"),
        (|json| json["keeps"]["defects"][0] = Json::from("X"), "keeps.defects: \"X\" is not a name in kebab case"),
        (|json| json["keeps"]["core"] = Json::from("fixed"), "keeps.core: it is the core of the plan itself"),
        (|json| json["keeps"]["defects"] = serde_json::json!([]), "keeps: nothing says what the entry is kept for"),
        (
            |json| json["provenance"]["seed"] = Json::from("9"),
            "provenance: scenario and seed are not those of the plan",
        ),
        (|json| json["provenance"]["build"] = Json::from("XYZ"), "provenance.build: expected 16 hexadecimal digits"),
        (|json| json["expected"]["broken"] = Json::Null, "expected.broken: it tells what a run with the defects"),
        (
            |json| json["expected"]["as_it_is"]["outcome"] = Json::from("safety"),
            "expected.as_it_is.outcome: its signatures",
        ),
        (
            |json| {
                let broken = &mut json["expected"]["broken"];
                (broken["outcome"], broken["signature"]) = ("harness error".into(), "harness-error/a/b".into());
            },
            "expected.broken: a run that proves nothing is expected",
        ),
        (
            |json| json["point"]["deliveries"] = serde_json::json!([1, 2, 3]),
            "point.deliveries: 3 of them, but the plan has",
        ),
        (|json| json["point"]["decisions"]["s1"] = Json::from("late"), "`late` is no count such as `latency.rpc@1*3`"),
    ];
    for (change, told) in changes {
        let sentence = refused(&entry, change);
        assert!(sentence.contains(told), "{told}: {sentence}");
    }
}

#[test]
fn what_is_no_json_or_no_object_is_refused() {
    for (bytes, told) in [
        (&b""[..], "the entry is empty"),
        (b"\xff\xfe{}", "is not UTF-8"),
        (b"[]", "an entry is a JSON object and begins with {"),
        (b"{", "the entry ends in the middle"),
        (b"{\"entry\": 1, \"entry\": 1}", "duplicate field `entry`"),
        (b"{}", "this is no entry of a corpus"),
    ] {
        let sentence = Entry::parse(bytes).expect_err("no entry").to_string();
        assert!(sentence.contains(told), "{told}: {sentence}");
    }
    let large = vec![b' '; PLAN_BYTES_MAX + 1];
    assert!(Entry::parse(&large).expect_err("too large").to_string().contains("at most 16777216 bytes"));
}

#[test]
fn a_mistake_in_the_plan_is_told_with_its_line() {
    let text = entry().to_json().replacen("\"world\"", "\"wrld\"", 1);
    let line = text.lines().position(|line| line.contains("wrld")).expect("it was put there") + 1;
    let sentence = Entry::parse(text.as_bytes()).expect_err("an unknown field").to_string();
    assert!(sentence.starts_with(&format!("line {line} column ")), "{sentence}");
}
