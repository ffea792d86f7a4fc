//! Tests of the plan format: what round-trips, what is refused, and with which words.

use super::sample::sample;
use super::*;

fn full() -> Plan {
    let mut plan = sample();
    plan.entropy = Some(Entropy::of("x", Seed(1)));
    plan.defects = vec!["idle-alarm-not-rearmed".into()];
    plan.pins.insert("s1/latency.rpc@0#0".into(), 3);
    let teardown = When::Operation {
        operation: "teardown · server.close".into(),
        root: Some("dispose".into()),
        edge: Edge::Begin,
        n: 1,
        session: Some("s1".into()),
    };
    let effects = [
        Effect::Fail {
            error: ErrorKind::CodeUpdate,
            text: Some("boom".into()),
            flags: Some(vec![ErrorFlag::Retryable]),
            lasting: true,
        },
        Effect::Delay { ms: 5 },
        Effect::Hold {
            release: Some(When::At { at_ms: 9, session: None }),
            for_ms: None,
            fail: Some(ErrorKind::Unknown),
        },
        Effect::Interrupt { what: Interruptible::Disposal },
        Effect::Reset { kind: ResetKind::Cpu },
    ];
    plan.faults = effects.into_iter().map(|effect| FaultPlan::new(teardown.clone(), effect)).collect();
    plan
}

fn refusal(json: &str) -> String {
    Plan::parse(json.as_bytes()).expect_err("must be refused").to_string()
}

/// The JSON of the full plan with one piece of text replaced.
fn changed(from: &str, to: &str) -> String {
    let json = full().to_json();
    assert!(json.contains(from), "{from} stands in {json}");
    json.replacen(from, to, 1)
}

#[test]
fn code_that_waits_longer_than_a_run_is_refused() {
    let mut plan = sample();
    plan.clients[0].steps[0].action =
        Action::Call { code: format!("emit 1; wait {}; return 1", u64::MAX), overlap: false };
    let told = plan.validate().expect_err("too long").to_string();
    assert!(told.contains("clients[0].steps[0].action.code: 18446744073709551615 ms, at most 604800000"), "{told}");
}

#[test]
fn a_persona_is_written_only_where_there_is_one_and_is_a_name() {
    assert!(!sample().to_json().contains("persona"));
    let mut plan = sample();
    plan.clients[0].persona = Some("rmcp-3.11.0".into());
    assert_eq!(Plan::parse(plan.to_json().as_bytes()).as_ref(), Ok(&plan));
    assert_eq!(plan.clients[0].session_aliases().count(), 2, "some open a session in place of one that is gone");
    for name in ["", "RMCP", ".5", "a b", "rmcp-"] {
        plan.clients[0].persona = Some(name.into());
        let told = plan.validate().expect_err("no name").to_string();
        assert!(told.contains("clients[0].persona") && told.contains("write it like rmcp-3.11.0"), "{told}");
    }
}

#[test]
fn a_plan_reads_back_as_it_was_written() {
    for plan in [sample(), full()] {
        let read = Plan::parse(plan.to_json().as_bytes()).expect("valid");
        assert_eq!(read, plan);
        assert_eq!(read.digest(), plan.digest());
    }
}

#[test]
fn the_digest_is_eight_digits_and_sees_every_change() {
    let digest = sample().digest();
    assert_eq!(digest.to_string().len(), 8);
    let mut other = sample();
    other.settle.quiet_ms += 1;
    assert_ne!(digest, other.digest());
}

#[test]
fn a_plan_written_by_hand_may_leave_out_what_has_a_default() {
    let json = r#"{"version":1,"scenario":"mine","seed":"0x10","world":{"severity":"usual","isolate_count":2},
        "clients":[{"name":"s1","account":"a","organization":"o","steps":[{"at_ms":0,"action":{"do":"open"}}]}],
        "faults":[{"when":{"operation":"init · build"},"effect":{"do":"hold","for_ms":3}}],
        "settle":{"quiet_ms":1,"touch":false,"quiet_after_ms":0}}"#;
    let plan = Plan::parse(json.as_bytes()).expect("valid");
    assert_eq!(plan.seed, Seed(16));
    assert_eq!(plan.config.session_timeout_ms, 300_000);
    assert_eq!(plan.clients[0].request_timeout_ms, 60_000);
    assert!(matches!(&plan.faults[0].when, When::Operation { n: 1, edge: Edge::Begin, .. }));
}

#[test]
fn a_file_that_is_no_plan_is_refused_in_one_sentence() {
    let whole = sample().to_json();
    let deep = format!("{{\"version\":{}", "[".repeat(100_000));
    for (json, expected) in [
        ("", "the plan is empty"),
        (" \n", "the plan is empty"),
        ("[]", "begins with {"),
        ("{", "ends in the middle"),
        (&whole[..whole.len() / 2], "ends in the middle"),
        ("{} x", "trailing characters"),
        ("{\"seed\":\"1\"}", "expected a whole number from 1 to 1"),
        ("{\"version\":-1}", "expected a whole number from 1 to 1"),
        (&deep, "more than 128 levels deep"),
    ] {
        let told = refusal(json);
        assert!(told.contains(expected), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    let told = Plan::parse(b"{\"version\":1,\xff").expect_err("not text").to_string();
    assert_eq!(told, "byte 13: the plan is not UTF-8 text: save it as UTF-8, or check that it is the right file");
    let huge = vec![b' '; crate::bad_input::PLAN_BYTES_MAX + 1];
    let told = Plan::parse(&huge).expect_err("too large").to_string();
    assert!(told.contains("16 MiB"), "{told}");
}

#[test]
fn a_newer_version_is_refused_before_its_fields_are_looked_at() {
    let told = refusal(r#"{"version":7,"whatever":[]}"#);
    assert_eq!(told, "version: plan is version 7, this build reads up to 1: use the sim that wrote it");
}

#[test]
fn unknown_fields_and_values_are_refused_everywhere() {
    for (from, to, expected) in [
        ("\"scenario\":", "\"scenery\": 1, \"scenario\":", "unknown field `scenery`"),
        ("\"severity\": \"calm\"", "\"severity\": \"stormy\"", "unknown value `stormy`"),
        ("\"isolate_count\":", "\"x\": 1, \"isolate_count\":", "unknown field `x`"),
        ("\"do\": \"open\"", "\"do\": \"open\", \"x\": 1", "unknown field `x`"),
        ("\"do\": \"open\"", "\"do\": \"opne\"", "unknown value `opne`"),
        ("\"do\": \"delay\"", "\"do\": \"delay\", \"x\": 1", "unknown field `x`"),
        ("\"edge\": \"begin\"", "\"edge\": \"begin\", \"at_ms\": 1", "either `at_ms` (with session)"),
        ("\"edge\": \"begin\"", "\"edge\": \"middle\"", "unknown value `middle`"),
        ("\"settle\": {", "\"settle\": { \"x\": 1,", "unknown field `x`"),
        ("\"seed\": \"7\"", "\"seed\": 7", "expected a text"),
        ("\"seed\": \"7\"", "\"seed\": \"seven\"", "write it like 42"),
        ("\"pins\": {", "\"pins\": { \"s1/a@0#0\": 1, \"s1/a@0#0\": 2,", "`s1/a@0#0` stands twice"),
        ("\"pins\": {", "\"pins\": { \"latency\": 1,", "<who>/<what>@<step>#<n>"),
    ] {
        let told = refusal(&changed(from, to));
        assert!(told.contains(expected), "{told}");
    }
    let told = refusal(&changed("\"scenario\":", "\"scenery\": 1, \"scenario\":"));
    assert!(told.starts_with("line 3 column "), "{told}");
}

#[test]
fn absurd_numbers_are_refused_with_their_path() {
    for (from, to, expected) in [
        ("\"at_ms\": 5", "\"at_ms\": 604800001", "clients[0].steps[1].at_ms: 604800001 ms"),
        ("\"at_ms\": 5", "\"at_ms\": -5", "expected a whole number, not negative"),
        ("\"at_ms\": 5", "\"at_ms\": 5.5", "expected a whole number, not negative"),
        ("\"at_ms\": 5", "\"at_ms\": 1e400", "number out of range"),
        ("\"quiet_ms\": 70000", "\"quiet_ms\": 18446744073709551615", "settle.quiet_ms"),
        ("\"isolate_count\": 1", "\"isolate_count\": 0", "world.isolate_count: 0, expected 1"),
        ("\"session_timeout_ms\": 1000", "\"session_timeout_ms\": 0", "at least 1"),
        ("\"n\": 1", "\"n\": 0", "faults[0].when.n: 0"),
        ("\"session\": \"s1\"", "\"session\": \"s9\"", "no client opens a session \"s9\""),
        ("\"name\": \"s1\"", "\"name\": \"../s1\"", "clients[0].name"),
        ("idle-alarm-not-rearmed", "Idle Alarm", "defects[0]"),
    ] {
        let told = refusal(&changed(from, to));
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn what_goes_together_is_checked() {
    let mut twins = sample();
    twins.clients.push(twins.clients[0].clone());
    let told = twins.validate().expect_err("twins").to_string();
    assert!(told.contains("two clients are called s1"), "{told}");

    let mut both = full();
    both.faults[2].effect = Effect::Hold { release: None, for_ms: None, fail: None };
    let told = both.validate().expect_err("neither").to_string();
    assert!(told.contains("exactly one of release and for_ms"), "{told}");

    let mut timed = full();
    timed.faults[1].when = When::At { at_ms: 1, session: None };
    let told = timed.validate().expect_err("no operation").to_string();
    assert!(told.contains("at_ms names none"), "{told}");

    let mut long = sample();
    long.clients[0].steps[1].action = Action::Call { code: "x".repeat(CODE_BYTES_MAX + 1), overlap: false };
    assert!(long.validate().is_err());

    let mut lost = sample();
    lost.clients[0].steps[1].action =
        Action::Resume { response: Response::Accept, of: Some("s7".into()), overlap: false };
    let told = lost.validate().expect_err("nobody").to_string();
    assert!(told.contains("clients[0].steps[1].action.of: no client is called \"s7\""), "{told}");
}

#[test]
fn what_a_client_does_with_its_connections_reads_as_it_is_written() {
    let cut = Cut { after_events: 1, ms: 20 };
    let actions = [
        (Action::Post { code: "return 1".into(), copies: 1, cut: None }, r#"{"do":"post","code":"return 1"}"#),
        (
            Action::Post { code: "wait 1".into(), copies: 3, cut: Some(cut) },
            r#"{"do":"post","code":"wait 1","copies":3,"cut":{"after_events":1,"ms":20}}"#,
        ),
        (Action::Recover { fresh: true, cut: None }, r#"{"do":"recover","fresh":true}"#),
        (Action::Recover { fresh: false, cut: None }, r#"{"do":"recover"}"#),
        (Action::Listen {}, r#"{"do":"listen"}"#),
        (Action::Stall { ms: 5 }, r#"{"do":"stall","ms":5}"#),
        (Action::Adopt { of: "s1".into() }, r#"{"do":"adopt","of":"s1"}"#),
    ];
    for (action, text) in actions {
        assert_eq!(serde_json::to_string(&action).expect("plain data"), text);
        assert_eq!(serde_json::from_str::<Action>(text).expect("an action"), action);
    }
}

#[test]
fn what_a_client_does_with_its_connections_has_limits() {
    let wrong = [
        (Action::Post { code: "return 1".into(), copies: 0, cut: None }, "action.copies: 0, expected 1 to 100"),
        (Action::Recover { fresh: false, cut: Some(Cut { after_events: 0, ms: u64::MAX }) }, "action.cut.ms"),
        (Action::Stall { ms: u64::MAX }, "action.ms"),
        (Action::Adopt { of: "s7".into() }, "action.of: no client is called"),
    ];
    for (action, expected) in wrong {
        let mut plan = sample();
        plan.clients[0].steps[1].action = action;
        let told = plan.validate().expect_err(expected).to_string();
        assert!(told.contains(expected), "{told}");
    }
}

/// A plan with a stored object and a caller.
fn direct() -> Plan {
    let mut plan = sample();
    plan.storage = vec![StoredObject {
        session: "a".into(),
        named: false,
        values: BTreeMap::from([("__ps_name".to_owned(), "streamable-http:a".into())]),
        alarm_at_ms: Some(10),
        paused: vec![PausedPlan { execution: "exec-1".into(), code: "return 1".into() }],
    }];
    let call = CallPlan {
        at_ms: 1,
        session: "a".into(),
        method: "init".into(),
        arguments: serde_json::Value::Null,
        overlap: true,
    };
    plan.callers = vec![CallerPlan { name: "c".into(), calls: vec![call] }];
    plan.faults = vec![FaultPlan::new(When::At { at_ms: 5, session: Some("a".into()) }, Effect::Evict {})];
    plan
}

#[test]
fn stored_objects_and_callers_survive_a_round_trip_and_are_left_out_where_there_are_none() {
    let plan = direct();
    assert_eq!(Plan::parse(plan.to_json().as_bytes()).as_ref(), Ok(&plan));
    assert!(!sample().to_json().contains("storage") && !sample().to_json().contains("callers"));
}

#[test]
fn what_is_wrong_with_stored_objects_and_callers_is_told_with_its_place() {
    type Change = fn(&mut Plan);
    let wrong: [(Change, &str); 8] = [
        (|plan| plan.storage[0].session = "s1".into(), "storage[0].session: two clients or stored objects"),
        (|plan| plan.storage[0].session = "../a".into(), "storage[0].session"),
        (|plan| plan.storage[0].alarm_at_ms = Some(SPAN_MS_MAX + 1), "storage[0].alarm_at_ms"),
        (|plan| plan.storage[0].paused[0].execution = String::new(), "storage[0].paused[0].execution"),
        (|plan| plan.callers.push(plan.callers[0].clone()), "callers[1].name: two callers are called c"),
        (|plan| plan.callers[0].calls[0].session = "b".into(), "callers[0].calls[0].session: no session is called"),
        (|plan| plan.callers[0].calls[0].arguments = 1.into(), "callers[0].calls[0].arguments"),
        (
            |plan| {
                let operation = "init · db.open".to_owned();
                plan.faults[0].when = When::Operation { operation, root: None, edge: Edge::Begin, n: 1, session: None };
            },
            "faults[0].when: an eviction happens to an idle object",
        ),
    ];
    for (change, expected) in wrong {
        let mut plan = direct();
        change(&mut plan);
        let told = plan.validate().expect_err(expected).to_string();
        assert!(told.contains(expected), "{told}");
    }
}
