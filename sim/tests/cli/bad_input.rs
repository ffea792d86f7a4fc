//! Everything that a person can hand in wrongly: one sentence, exit code 2, nothing on standard output, no panic.

use super::process::{Ran, Scratch};
use serde_json::{Value as Json, json};

/// Checks the promise for one command and returns its sentence.
pub fn refused(ran: &Ran, what: &str) -> String {
    assert_eq!(ran.code, 2, "{what}: {}", ran.shown());
    assert_eq!(ran.stdout, "", "{what}");
    let sentence = ran.stderr.strip_prefix("error: ").and_then(|told| told.strip_suffix('\n'));
    let sentence = sentence.unwrap_or_else(|| panic!("{what}: {}", ran.shown()));
    let is_one_line = !sentence.contains('\n') && !sentence.ends_with('.') && sentence.chars().count() < 400;
    assert!(is_one_line && !sentence.contains("panicked") && !sentence.contains('\u{1b}'), "{what}: {sentence}");
    sentence.to_owned()
}

fn assert_sentences(name: &str, told: &[(String, String)]) {
    let lines: Vec<String> = told.iter().map(|(what, sentence)| format!("{what}\n    {sentence}\n")).collect();
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "../snapshots"}, {
        insta::assert_snapshot!(format!("cli__{name}"), lines.join("\n"));
    });
}

#[test]
fn wrong_arguments_are_refused_in_one_sentence() {
    let scratch = Scratch::new("arguments");
    let lines = [
        "--seed abc",
        "--seed -1",
        "--seed 1.5",
        "--seed 0x",
        "--seed 18446744073709551616",
        "--seed",
        "--sed 1",
        "--seed 1 --seed 2",
        "--scenario idle/stream-stay-open --seed 1",
        "--scenario nothing/like-it --seed 1",
        "--seed 1 --defect idle-alarm-not-rearmd",
        "--seed 1 --defect nothing-like-it",
        "--seed 1 --set session-timeout=5",
        "--seed 1 --set nothing_like_it=5",
        "--seed 1 --set session_timeout_ms",
        "--seed 1 --set session_timeout_ms=soon",
        "--seed 1 --set session_timeout_ms=0",
        "--seed 1 --set resident_runtime_soft_cap=99999999999",
        "--seed 1 --core best",
        "--seed 1 --format yaml",
        "--seed 1 --color sometimes",
        "--seed 1 --trace trace.jsonl",
        "--scenario idle/stream-stays-open --seed 1 --trace .",
        "--scenario idle/stream-stays-open --seed 1 --trace none/x",
        "plan --seed 1",
        "plan --scenario idle/stream-stays-open",
        "list everything",
        "meta --seeds 5",
        "meta --seeds 9..2",
        "meta --seeds 0..99999999999",
        "bench --seeds 0",
        "bench --row flor",
        "bench --quick --write P.md",
        "bench --alternations 3",
        "bench-part {}",
        "replay",
        "frobnicate",
        "fuzz --seeds 0..1 --out a\tb",
        "--seed 1 --reports a\u{7}b",
    ];
    let told = lines.map(|line| {
        let arguments: Vec<&str> = line.split(' ').collect();
        (line.to_owned(), refused(&scratch.sim(&arguments), line))
    });
    assert_sentences("wrong_arguments", &told);
    assert!(scratch.files().is_empty(), "nothing was written");
}

#[test]
fn a_trace_does_not_take_the_place_of_its_plan() {
    let scratch = Scratch::new("trace-over-plan");
    let plan = good_plan(&scratch).to_string();
    scratch.write("plan.json", plan.as_bytes());
    let told = refused(&scratch.sim(&["replay", "plan.json", "--trace", "./plan.json"]), "trace over plan");
    assert_eq!(told, "--trace ./plan.json: is the plan itself: name another file");
    assert_eq!(scratch.sim(&["replay", "plan.json", "--trace", "trace.jsonl"]).code, 0);
}

/// A plan that is read without complaint.
fn good_plan(scratch: &Scratch) -> Json {
    scratch.sim(&["plan", "--scenario", super::SCENARIO, "--seed", "8"]).json()
}

/// The good plan with one thing changed.
fn changed(good: &Json, pointer: &str, value: Json) -> Vec<u8> {
    let mut plan = good.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = plan.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match parent {
        Json::Object(members) => drop(members.insert(key.to_owned(), value)),
        Json::Array(items) => items[key.parse::<usize>().expect("an index")] = value,
        other => panic!("{pointer} is in {other}"),
    }
    plan.to_string().into_bytes()
}

fn broken_plans(good: &Json) -> Vec<(&'static str, Vec<u8>)> {
    let text = good.to_string().into_bytes();
    let half = text[..text.len() / 2].to_vec();
    let not_utf8 = [&text[..20], &[0xff, 0xfe], &text[20..]].concat();
    let exponent =
        String::from_utf8(changed(good, "/settle/quiet_ms", json!("HUGE"))).expect("text").replace("\"HUGE\"", "1e400");
    let twice = String::from_utf8(text.clone()).expect("text").replacen('{', "{\"version\":1,", 1);
    let fault = |fault: Json| changed(good, "/faults", json!([fault]));
    let mut plans = vec![
        ("empty", Vec::new()),
        ("only spaces", b" \n\t ".to_vec()),
        ("truncated", half),
        ("not UTF-8", not_utf8),
        ("text", b"hello".to_vec()),
        ("an array", b"[]".to_vec()),
        ("null bytes", vec![0; 64]),
        ("no version", b"{}".to_vec()),
        ("a newer version", changed(good, "/version", json!(2))),
        ("a version that is no number", changed(good, "/version", json!("1"))),
        ("a field twice", twice.into_bytes()),
        ("an unknown field", changed(good, "/colour", json!("red"))),
        ("an unknown field further down", changed(good, "/world/colour", json!("red"))),
        ("a missing field", changed(good, "/clients/0", json!({"name": "s1"}))),
        ("a text for a number", changed(good, "/settle/quiet_ms", json!("soon"))),
        ("a negative time", changed(good, "/settle/quiet_ms", json!(-1))),
        ("a time of more than 64 bits", changed(good, "/settle/quiet_ms", json!(1e300))),
        ("a number of more than a double", exponent.into_bytes()),
        ("a time of centuries", changed(good, "/clients/0/steps/0/at_ms", json!(u64::MAX))),
        ("no isolates", changed(good, "/world/isolate_count", json!(0))),
        ("far too many isolates", changed(good, "/world/isolate_count", json!(4_000_000_000u32))),
        ("a seed that is a number", changed(good, "/seed", json!(8))),
        ("entropy that is none", changed(good, "/entropy", json!("zz"))),
        ("an unknown action", changed(good, "/clients/0/steps/0/action", json!({"do": "jump"}))),
        ("a client that is a path", changed(good, "/clients/0/name", json!("../../etc"))),
        ("a client that moves the cursor", changed(good, "/clients/0/name", json!("\u{1b}[2J"))),
        ("an unknown persona", changed(good, "/clients/0/persona", json!("rmcp-3.11"))),
        ("a persona that is no name", changed(good, "/clients/0/persona", json!("R M C P"))),
        ("an unknown defect", changed(good, "/defects", json!(["idle-alarm-destroy"]))),
        ("a pin that is no decision", changed(good, "/pins", json!({"x": 1}))),
        (
            "an unknown operation",
            fault(json!({"when": {"operation": "teardown · server.closed"}, "effect": {"do": "delay", "ms": 5}})),
        ),
        (
            "an unknown root",
            fault(
                json!({"when": {"operation": "teardown · server.close", "root": "disposal"}, "effect": {"do": "delay", "ms": 5}}),
            ),
        ),
        (
            "a session that nobody opens",
            fault(json!({"when": {"at_ms": 5, "session": "s1.2"}, "effect": {"do": "reset", "kind": "moved"}})),
        ),
        ("a fault at no operation", fault(json!({"when": {"at_ms": 5}, "effect": {"do": "delay", "ms": 5}}))),
        (
            "a trigger of both kinds",
            fault(json!({"when": {"at_ms": 5, "operation": "x"}, "effect": {"do": "delay", "ms": 5}})),
        ),
        (
            "deep nesting",
            [b"{\"version\":1,\"pins\":".to_vec(), vec![b'['; 100_000], vec![b']'; 100_000], b"}".to_vec()].concat(),
        ),
        ("20 MB", [text, vec![b' '; 20_000_000]].concat()),
    ];
    plans.extend(plans_of_another_shape(good));
    plans
}

/// Plans with a list, a number or nothing in the place of something else.
fn plans_of_another_shape(good: &Json) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a switch that is a number", changed(good, "/world/switches", json!({"eviction": 5}))),
        ("a switch that is an object", changed(good, "/world/switches", json!({"code_update": {}}))),
        ("a switch without a value", changed(good, "/world/switches", json!({"delete_all": null}))),
        ("an unknown value of a switch", changed(good, "/world/switches", json!({"after_reset": "undead"}))),
        ("an unknown switch", changed(good, "/world/switches", json!({"evictions": "idle-only"}))),
        ("switches in a list", changed(good, "/world/switches", json!([]))),
        ("a world in a list", changed(good, "/world", json!(["calm", 1]))),
        ("an action in a list", changed(good, "/clients/0/steps/0/action", json!(["open"]))),
        ("a severity that is a number", changed(good, "/world/severity", json!(1))),
    ]
}

#[test]
fn broken_plans_are_refused_in_one_sentence_with_place_and_remedy() {
    let scratch = Scratch::new("plans");
    let good = good_plan(&scratch);
    let mut told = Vec::new();
    for (what, bytes) in broken_plans(&good) {
        scratch.write("plan.json", &bytes);
        told.push((what.to_owned(), refused(&scratch.sim(&["replay", "plan.json"]), what)));
    }
    scratch.make_folder("folder");
    for (what, file) in [("missing", "none.json"), ("a directory", "folder"), ("a device without end", "/dev/zero")] {
        told.push((what.to_owned(), refused(&scratch.sim(&["replay", file]), what)));
    }
    assert_sentences("broken_plans", &told);
    assert_eq!(scratch.files(), ["plan.json"], "nothing was written");
}

#[test]
fn a_file_whose_name_moves_the_cursor_is_named_safely() {
    let sentence = refused(&Scratch::new("name").sim(&["replay", "\u{1b}[2Jplan\n.json"]), "the name");
    assert!(sentence.starts_with("\\u{1b}[2Jplan\\n.json: "), "{sentence}");
}

#[test]
fn a_plan_cut_off_anywhere_is_refused() {
    let scratch = Scratch::new("cut");
    let text = good_plan(&scratch).to_string();
    for end in (1..text.len()).step_by(text.len() / 40) {
        scratch.write("plan.json", &text.as_bytes()[..end]);
        refused(&scratch.sim(&["replay", "plan.json"]), &format!("cut at {end}"));
    }
}
