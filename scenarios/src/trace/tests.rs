//! Tests of trace files: what was written reads back, and nothing else does.

use super::*;
use serde_json::json;

fn sample() -> (TraceHeader, Trace) {
    let header = TraceHeader { scenario: "idle/stream-stays-open".into(), seed: "42".into(), plan: "4f2a91c0".into() };
    let event = |ordinal, stream, name: &'static str, fields| Event {
        at_ms: 3,
        ordinal,
        stream,
        name: name.into(),
        who: Some("s1".into()),
        fields,
    };
    let events = vec![
        event(
            0,
            Stream::State,
            "runtime.installed",
            vec![
                ("stream".into(), Value::from("c-1")),
                ("_n".into(), Value::Int(-4)),
                ("b".into(), Value::Bool(true)),
                ("a".into(), Value::Json(json!({"z": [1, "x\n"], "a": 1.5}))),
            ],
        ),
        event(4, Stream::Telemetry, "captured", vec![]),
    ];
    let (telemetry_digest, run_digest) = digest_of_events(&events);
    let name = DecisionName::parse("s1/latency.rpc@0#0").expect("well formed");
    let trace = Trace {
        events,
        decisions: vec![Drawn { name, below: 10, value: 3 }],
        ends_at_ms: 9,
        operation_count: 2,
        telemetry_digest,
        run_digest,
    };
    (header, trace)
}

fn written() -> String {
    let (header, trace) = sample();
    let mut out = Vec::new();
    write_lines(&header, &trace, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("JSON is text")
}

#[test]
fn a_trace_reads_back_as_it_was_written() {
    assert_eq!(read_lines(written().as_bytes()), Ok(sample()));
}

#[test]
fn fields_named_like_the_envelope_are_told_apart() {
    assert!(written().contains(r#""stream":"state","event":"runtime.installed","who":"s1","_stream":"c-1""#));
}

#[test]
fn a_trace_that_was_cut_off_is_refused_wherever_it_was_cut() {
    let whole = written();
    for length in 1..whole.len() - 1 {
        assert!(read_lines(&whole.as_bytes()[..length]).is_err(), "{length}");
    }
    let without_end: Vec<&str> = whole.lines().take(3).collect();
    let told = read_lines(without_end.join("\n").as_bytes()).expect_err("no end").to_string();
    assert!(told.contains("it was cut off"), "{told}");
}

#[test]
fn a_changed_trace_is_refused() {
    for (from, to) in [
        ("\"at_ms\":3", "\"at_ms\":4"),
        ("{\"trace\":1", "{\"trace\":2"),
        ("state", "mood"),
        ("\"decision\"", "\"derision\""),
    ] {
        let changed = written().replacen(from, to, 1);
        assert!(read_lines(changed.as_bytes()).is_err(), "{from} to {to}");
    }
}
