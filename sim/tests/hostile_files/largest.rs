//! The largest files that are read at all, in the shapes that cost most: each is read once, and comes to an end.

use scenarios::bad_input::PLAN_BYTES_MAX;
use scenarios::plan::{CLIENT_COUNT_MAX, FAULT_COUNT_MAX, Plan, STEP_COUNT_MAX};
use sim::campaign::baseline::Baseline;
use sim::campaign::record::Record;

/// A plan with that text in the place of its clients, callers and so on.
fn plan(rest: &str) -> String {
    format!(
        r#"{{"version":1,"scenario":"large","seed":"1","world":{{"severity":"calm","isolate_count":1}},"settle":{{"quiet_ms":1,"touch":false,"quiet_after_ms":1}},{rest}}}"#
    )
}

fn client(name: &str, steps: &str) -> String {
    format!(r#"{{"name":"{name}","account":"a","organization":"o","steps":[{steps}]}}"#)
}

fn repeated(text: &str, count: usize) -> String {
    let mut all = format!("{text},").repeat(count);
    all.pop();
    all
}

#[test]
fn a_plan_may_name_the_last_session_of_its_longest_client_everywhere() {
    let opens = client("s1", &repeated(r#"{"at_ms":1,"action":{"do":"open"}}"#, STEP_COUNT_MAX));
    let session = format!("s1.{STEP_COUNT_MAX}");
    let others: Vec<_> = (2..=CLIENT_COUNT_MAX).map(|number| client(&format!("s{number}"), "")).collect();
    let fault = format!(r#"{{"when":{{"at_ms":1,"session":"{session}"}},"effect":{{"do":"reset","kind":"memory"}}}}"#);
    let call = format!(r#"{{"at_ms":1,"session":"{session}","method":"init"}}"#);
    let caller = |number| format!(r#"{{"name":"c{number}","calls":[{}]}}"#, repeated(&call, STEP_COUNT_MAX));
    let callers: Vec<_> = (0..26).map(caller).collect();
    let text = plan(&format!(
        r#""clients":[{opens},{}],"faults":[{}],"callers":[{}]"#,
        others.join(","),
        repeated(&fault, FAULT_COUNT_MAX),
        callers.join(",")
    ));
    assert!(text.len() > PLAN_BYTES_MAX * 3 / 4 && text.len() <= PLAN_BYTES_MAX, "{} bytes", text.len());
    let plan = Plan::parse(text.as_bytes()).expect("it is large, and valid");
    assert_eq!(plan.callers.len(), 26);
}

#[test]
fn a_plan_full_of_small_values_is_read() {
    for small in ["[]", "{\"\":0}", "1e300"] {
        let head = r#""clients":[],"storage":[{"session":"a","values":{"k":["#;
        let room = PLAN_BYTES_MAX - plan(head).len() - 20;
        let text = plan(&format!("{head}{}]}}}}]", repeated(small, room / (small.len() + 1))));
        assert!(text.len() > PLAN_BYTES_MAX - 100 && text.len() <= PLAN_BYTES_MAX, "{} bytes", text.len());
        Plan::parse(text.as_bytes()).expect("it is large, and valid");
    }
}

#[test]
fn the_deepest_files_are_refused_by_their_depth() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = PLAN_BYTES_MAX / 8;
        let nested = open.repeat(depth) + "1" + &close.repeat(depth);
        for (field, rest) in [("version", ""), ("x", r#","version":1"#)] {
            let text = format!(r#"{{"{field}":{nested}{rest}}}"#);
            let told = Plan::parse(text.as_bytes()).expect_err("too deep").to_string();
            assert!(told.contains("nested more than 128 levels deep") || told.contains("unknown field `x`"), "{told}");
        }
    }
}

#[test]
fn files_that_are_one_long_word_are_refused_shortly() {
    for length in [PLAN_BYTES_MAX - 10, PLAN_BYTES_MAX + 1] {
        for text in [format!("{{\"{}", "x".repeat(length - 2)), "9".repeat(length), "{".repeat(length)] {
            for told in [
                Plan::parse(text.as_bytes()).expect_err("no plan"),
                Record::parse(text.as_bytes()).expect_err("no record"),
                Baseline::parse(text.as_bytes()).expect_err("no baseline"),
            ] {
                assert!(told.to_string().chars().count() < 1_000, "{told}");
            }
        }
    }
}
