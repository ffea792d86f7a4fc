//! Every parser of what a person or another process hands in: good files for it, and what it must do with any file.

use crate::mutate::Base;
use scenarios::bad_input::BadInput;
use scenarios::contract::Check;
use scenarios::decision::DecisionName;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use scenarios::trace::{self, Event, Stream, Trace, TraceHeader, Value};
use sim::campaign::baseline::Baseline;
use sim::campaign::record::Record;
use sim::conform::core;
use sim::corpus::entry::Entry;
use sim::signature::Signature;
use sim::supervisor::Job;
use sim::trial::{Answer, Found, TrialOptions};

/// A recorded program.
const PROGRAM: &str = include_str!("../data/core-program.json");
/// The longest refusal, in characters.
const REFUSAL_CHARS_MAX: usize = 1_000;
/// What is read may be this many times longer when it is written: fields that were left out are written with their
/// defaults, and `1e300` in full.
const GROWTH_MAX: usize = 12;

/// A parser and good files for it.
pub struct Parser {
    /// What it reads.
    pub name: &'static str,
    /// Good files.
    pub bases: Vec<Base>,
    /// Reads a file: whether it was accepted, or what is wrong with how it was accepted or refused.
    pub read: fn(&[u8]) -> Result<bool, String>,
}

/// All of them.
pub fn all() -> Vec<Parser> {
    let bases = |files: Vec<Vec<u8>>| files.iter().map(|bytes| Base::new(bytes)).collect();
    let words = |words: &[&str]| bases(words.iter().map(|word| word.as_bytes().to_vec()).collect());
    vec![
        Parser { name: "plan", bases: bases(plans()), read: |bytes| document(bytes, Plan::parse, Plan::to_json) },
        Parser { name: "recorded programs", bases: bases(vec![PROGRAM.into()]), read: read_programs },
        Parser { name: "trace", bases: bases(vec![trace_file()]), read: read_trace },
        Parser {
            name: "record",
            bases: bases(vec![RECORD.into()]),
            read: |bytes| document(bytes, Record::parse, Record::to_json),
        },
        Parser {
            name: "baseline",
            bases: bases(vec![BASELINE.into()]),
            read: |bytes| document(bytes, Baseline::parse, Baseline::to_json),
        },
        Parser { name: "entry", bases: bases(entries()), read: |bytes| document(bytes, Entry::parse, Entry::to_json) },
        Parser { name: "job", bases: bases(jobs()), read: |bytes| document(bytes, Job::parse, json_of) },
        Parser {
            name: "answer",
            bases: bases(vec![json_of(&answer()).into_bytes()]),
            read: |bytes| document(bytes, Answer::parse, json_of),
        },
        Parser {
            name: "seed",
            bases: words(&["42", "0xffff_ffff", "1_000_000", "18446744073709551615"]),
            read: |bytes| word(bytes, |text| text.parse::<Seed>().map_err(|error| error.to_string())),
        },
        Parser { name: "range of seeds", bases: words(&["0..2000", "0x10..1_000"]), read: read_range },
        Parser {
            name: "signature",
            bases: words(&["liveness/idle-runtime-is-released/session", "harness-error/a/b"]),
            read: |bytes| word(bytes, |text| text.parse::<Signature>()),
        },
        Parser {
            name: "decision",
            bases: words(&["s1/latency.rpc@0#0", "i1/order.rpc:edge>s1@12#4294967295"]),
            read: |bytes| word(bytes, |text| DecisionName::parse(text).ok_or_else(|| "no decision".to_owned())),
        },
    ]
}

fn json_of<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data")
}

/// A document is refused in a sentence, or it is written and read again as the same.
fn document<T: PartialEq>(
    bytes: &[u8],
    parse: fn(&[u8]) -> Result<T, BadInput>,
    print: impl Fn(&T) -> String,
) -> Result<bool, String> {
    let read = match parse(bytes) {
        Ok(read) => read,
        Err(refusal) => return sentence(&refusal.to_string()).map(|()| false),
    };
    let printed = print(&read);
    // Indentation grows with the depth, what is in memory does not.
    let length: usize = printed.lines().map(|line| line.trim_start().len()).sum();
    if length > GROWTH_MAX * bytes.len() + 2_000 {
        return Err(format!("{} bytes became {length}", bytes.len()));
    }
    match parse(printed.as_bytes()) {
        Ok(again) if again == read => Ok(true),
        Ok(_) => Err(format!("reads differently when it is written again: {printed}")),
        Err(refusal) => Err(format!("is accepted, and refused when it is written again: {refusal}: {printed}")),
    }
}

/// A word is refused in a sentence, or it is written and read again as the same.
fn word<T: PartialEq + ToString>(bytes: &[u8], parse: impl Fn(&str) -> Result<T, String>) -> Result<bool, String> {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(read) if parse(&read.to_string()).as_ref() == Ok(&read) => Ok(true),
        Ok(read) => Err(format!("reads differently when it is written again: {}", read.to_string())),
        Err(refusal) => sentence(&refusal).map(|()| false),
    }
}

fn read_range(bytes: &[u8]) -> Result<bool, String> {
    match sim::cli::args::seeds(&String::from_utf8_lossy(bytes)) {
        Ok(range) if range.is_empty() => Err("an empty range is accepted".to_owned()),
        Ok(_) => Ok(true),
        Err(refusal) => sentence(&refusal).map(|()| false),
    }
}

/// A program that is read can be played: whatever it says, neither stand nor class panics.
fn read_programs(bytes: &[u8]) -> Result<bool, String> {
    let programs = match core::read(bytes, "the file") {
        Ok(programs) => programs,
        Err(refusal) => return sentence(&refusal.to_string()).map(|()| false),
    };
    for program in &programs {
        let played = core::play(program, &core::described(), true);
        let differences = played.steps.iter().flat_map(|step| &step.differences);
        if let Some(crash) = differences.into_iter().find(|difference| difference.what == "crash") {
            return Err(crash.text());
        }
    }
    Ok(true)
}

fn read_trace(bytes: &[u8]) -> Result<bool, String> {
    let print = |(header, trace): &(TraceHeader, Trace)| {
        let mut out = Vec::new();
        trace::write_lines(header, trace, &mut out).expect("memory can be written");
        String::from_utf8(out).expect("a trace is text")
    };
    document(bytes, trace::read_lines, print)
}

/// One line without control characters, and not endless.
pub fn sentence(refusal: &str) -> Result<(), String> {
    if refusal.is_empty() || refusal.contains(char::is_control) {
        return Err(format!("the refusal is no line: {refusal:?}"));
    }
    let length = refusal.chars().count();
    if length > REFUSAL_CHARS_MAX {
        return Err(format!("the refusal has {length} characters: {refusal}"));
    }
    Ok(())
}

/// Some entries of the corpus.
fn entries() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/by-hand");
    let mut kept: Vec<_> =
        std::fs::read_dir(folder).expect("kept plans").map(|entry| entry.expect("an entry").path()).collect();
    kept.sort();
    kept.iter().step_by(6).map(|path| std::fs::read(path).expect("a kept plan")).collect()
}

/// Kept plans, drawn plans and plans of the contract: with clients, faults, pins, stored objects and callers.
pub fn plans() -> Vec<Vec<u8>> {
    let kept = entries().into_iter().map(|bytes| Entry::parse(&bytes).expect("an entry").plan.to_json().into_bytes());
    let drawn = sim::draw::scenarios().map(|scenario| (scenario.plan)(Seed(8)));
    let staged = scenarios::contract::rows().filter_map(|row| match row.check {
        Check::World { plan, .. } => Some(plan()),
        Check::Direct => None,
    });
    let staged = staged.step_by(7);
    let made = drawn.chain(staged).map(|plan| plan.to_json().into_bytes());
    kept.chain(made).filter(|bytes| bytes.len() < 8_000).collect()
}

/// A small trace with every kind of line and value.
fn trace_file() -> Vec<u8> {
    let event = |ordinal, stream, fields| Event {
        at_ms: 3,
        ordinal,
        stream,
        name: "runtime.installed".into(),
        who: (ordinal > 0).then(|| "s1".into()),
        fields,
    };
    let events = vec![
        event(0, Stream::Phase, vec![]),
        event(1, Stream::State, vec![("stream".into(), Value::from("c-1")), ("_n".into(), Value::Int(-4))]),
        event(
            2,
            Stream::Telemetry,
            vec![("a".into(), Value::from(serde_json::json!({"z": [1, "x\n", null], "a": 1.5})))],
        ),
    ];
    let (telemetry_digest, run_digest) = trace::digest_of_events(&events);
    let name = DecisionName::parse("s1/latency.rpc@0#0").expect("a name");
    let decisions = vec![trace::Drawn { name, below: 10, value: 3 }];
    let trace = Trace { events, decisions, ends_at_ms: 9, operation_count: 2, telemetry_digest, run_digest };
    let header = TraceHeader { scenario: "idle/stream-stays-open".into(), seed: "42".into(), plan: "4f2a91c0".into() };
    let mut out = Vec::new();
    trace::write_lines(&header, &trace, &mut out).expect("memory can be written");
    out
}

fn jobs() -> Vec<Vec<u8>> {
    let trial = TrialOptions { is_judged: true, are_pins_optional: false, tells_decisions: true, counts_reach: true };
    let plan = plans().iter().filter_map(|bytes| Plan::parse(bytes).ok()).min_by_key(|plan| plan.to_json().len());
    let jobs = [
        Job::of_seed("idle/stream-stays-open", Seed(7), trial),
        Job { trace: Some("reports/trace.jsonl".into()), ..Job::of_plan(&plan.expect("a plan"), trial) },
    ];
    jobs.iter().map(|job| json_of(job).into_bytes()).collect()
}

fn answer() -> Answer {
    let signature = "liveness/idle-runtime-is-released/session".parse().expect("a signature");
    Answer {
        exit_code: 11,
        findings: vec![Found { signature, what: "session sN still resident".to_owned() }],
        untold: vec!["lost-holdings-expire".to_owned()],
        unused_pins: vec!["s1/latency.rpc@0#0".to_owned()],
        decisions: vec![("s1/latency.rpc@0#0".to_owned(), 3)],
        deliveries: vec![1, 0],
        reach: "0120".to_owned(),
        event_count: 12,
        telemetry_digest: "2ee3cf5138fa02ec".to_owned(),
        run_digest: "2ee3cf5138fa02ec".to_owned(),
    }
}

const BASELINE: &str = r#"{
  "baseline": 1,
  "known": [
    {"signature": "liveness/idle-runtime-is-released/session", "why": "the platform does it too"},
    {"signature": "safety/answers-are-right/session", "why": "repaired next week"}
  ]
}"#;

const RECORD: &str = r#"{
  "campaign": 1, "build": "0123456789abcdef",
  "options": {
    "from": "10", "to": "110", "scenarios": ["idle/stream-stays-open", "swarm/many"], "changes": ["--core=described"],
    "is_twice": false, "stop_after": 5, "shrink_runs": 200, "run_limit_s": 30, "memory_limit_mib": 4096
  },
  "seed_count": 60, "ended": "time", "twice_count": 4, "event_count": 70000,
  "scenarios": {
    "idle/stream-stays-open": {"run_count": 40, "unjudged_count": 1,
      "claims": {"idle-runtime-is-released": {"violated_count": 3, "untold_count": 1}}},
    "swarm/many": {"run_count": 20, "unjudged_count": 0, "claims": {}}
  },
  "reach": {
    "life-cycle/resident": {"lit_count": 60, "distance": 0, "seed": "10"},
    "alarm/fails": {"lit_count": 0, "distance": 3, "seed": "12"}
  },
  "findings": {
    "liveness/idle-runtime-is-released/session": {
      "scenario": "idle/stream-stays-open", "seed": "12", "count": 3,
      "wordings": {"session sN still resident N ms after its idle deadline": 3}
    },
    "crash/does-not-panic/model-src-a-rs": {"scenario": "swarm/many", "seed": "13", "count": 1, "wordings": {"oh": 1}}
  }
}"#;
