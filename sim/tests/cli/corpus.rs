//! The corpus on the command line: what is kept, replayed and retired, and that nothing is ever overwritten.

use super::SCENARIO;
use super::bad_input::refused;
use super::process::{Ran, Scratch};
use serde_json::{Value as Json, json};

const SEED: &str = "22";
const NAME: &str = "idle/stream-stays-open/destroys";
const FILE: &str = "seeds/idle/stream-stays-open/destroys.json";

/// A folder with a plan in it.
fn with_plan(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let plan = scratch.sim(&["plan", "--scenario", SCENARIO, "--seed", SEED]);
    scratch.write("plan.json", plan.stdout.as_bytes());
    scratch
}

fn add(scratch: &Scratch, slug: &str, more: &[&str]) -> Ran {
    scratch.sim(&[&["corpus", "add", "plan.json", "--name", slug], more].concat())
}

/// A folder with a plan and an entry that is kept for a defect.
fn with_entry(name: &str) -> Scratch {
    let scratch = with_plan(name);
    let ran = add(&scratch, "destroys", &["--defect", "idle-alarm-destroys"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.shown());
    assert!(ran.stdout.starts_with(&format!("kept  {NAME}  {FILE}\n")), "{}", ran.shown());
    scratch
}

fn change(scratch: &Scratch, change: impl FnOnce(&mut Json)) {
    let mut entry: Json = serde_json::from_slice(&scratch.read(FILE)).expect("an entry is JSON");
    change(&mut entry);
    scratch.write(FILE, entry.to_string().as_bytes());
}

#[test]
fn a_plan_is_kept_listed_and_replayed() {
    let scratch = with_entry("corpus");
    let list = scratch.sim(&["corpus", "list"]).stdout;
    for told in ["name ", NAME, "idle-alarm-destroys", "liveness/disposed-session-serves-again/session, ", SEED] {
        assert!(list.contains(told), "{told}: {list}");
    }
    let run = scratch.sim(&["corpus", "run", "destroys"]);
    assert_eq!(run.code, 0, "{}", run.shown());
    assert!(run.stdout.starts_with(&format!("reached  {NAME}  held; with idle-alarm-destroys: ")), "{}", run.stdout);
    assert!(run.stdout.ends_with("corpus: 1 entry, 1 reached, 0 drifted, 0 lost\n"), "{}", run.stdout);
    let json = scratch.sim(&["corpus", "run", "--format", "json"]).json();
    assert_eq!((&json["entries"][0]["state"], &json["exit_code"]), (&"reached".into(), &0.into()));
    assert_eq!(scratch.sim(&["corpus", "list", "--format", "json"]).json()[0]["name"], NAME);
}

#[test]
fn an_entry_replays_as_the_seed_that_it_was_drawn_from() {
    let scratch = with_entry("corpus-replay");
    let digests = |ran: &Ran| {
        assert_eq!(ran.code, 0, "{}", ran.shown());
        ran.stdout.lines().last().expect("a summary").to_owned()
    };
    let by_seed = scratch.sim(&["--scenario", SCENARIO, "--seed", SEED]);
    assert_eq!(digests(&scratch.sim(&["replay", FILE])), digests(&by_seed));
    let failing = scratch.sim(&["replay", FILE, "--defect", "idle-alarm-destroys"]);
    assert_eq!(failing.code, 10, "{}", failing.shown());
}

#[test]
fn nothing_that_is_kept_is_overwritten() {
    let scratch = with_entry("corpus-kept");
    let before = scratch.read(FILE);
    assert_eq!(add(&scratch, "destroys", &["--defect", "idle-alarm-destroys"]).code, 0, "the same again is no harm");
    let other = add(&scratch, "destroys", &["--why", "something else"]);
    let told = refused(&other, "other content");
    assert_eq!(told, format!("{FILE}: holds another entry, and entries are kept: choose another name"));
    assert_eq!(scratch.read(FILE), before);
    assert_eq!(scratch.files(), ["plan.json", FILE]);
}

#[test]
fn a_retired_entry_is_moved_listed_and_not_run() {
    let scratch = with_entry("corpus-retired");
    let ran = scratch.sim(&["corpus", "retire", "destroys", "--why", "the \u{1b} alarm is gone"]);
    assert!(refused(&ran, "a control character").starts_with("--why: expected 1 to 1000 bytes"));
    let ran = scratch.sim(&["corpus", "retire", "destroys", "--why", "the alarm is gone"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(scratch.files(), ["plan.json", "seeds/retired/idle/stream-stays-open/destroys.json"]);
    assert!(scratch.sim(&["corpus", "run"]).stdout.starts_with("corpus: 0 entries"));
    assert!(!scratch.sim(&["corpus", "list"]).stdout.contains(NAME));
    let all = scratch.sim(&["corpus", "list", "--all"]).stdout;
    assert!(all.contains("idle-alarm-destroys (retired: the alarm is gone)"), "{all}");
    let again = add(&scratch, "destroys", &["--defect", "idle-alarm-destroys"]);
    assert!(refused(&again, "a retired name").ends_with("an entry of that name is retired: choose another name"));
}

#[test]
fn drift_is_told_and_accepted_only_when_it_is_asked_for() {
    let scratch = with_entry("corpus-drift");
    change(&scratch, |entry| {
        entry["point"]["telemetry_digest"] = "0123456789abcdef".into();
        entry["point"]["decisions"]["edge"] = "nothing@0*1".into();
    });
    let drifted = scratch.sim(&["corpus", "run"]);
    assert_eq!(drifted.code, 0, "{}", drifted.shown());
    assert!(drifted.stdout.contains("the decision edge/nothing@0 is asked no more, was 1"), "{}", drifted.stdout);
    assert!(drifted.stdout.contains(", was 0123456789abcdef\n"), "{}", drifted.stdout);
    assert!(scratch.sim(&["corpus", "run", "--accept"]).stdout.contains("1 drifted and recorded again, 0 lost"));
    assert!(scratch.sim(&["corpus", "run"]).stdout.contains("1 reached"));
}

#[test]
fn a_lost_entry_is_told_with_what_it_shows_and_stays_as_it_is() {
    let scratch = with_entry("corpus-lost");
    change(&scratch, |entry| entry["keeps"]["defects"] = json!(["pause-runs-on"]));
    let before = scratch.read(FILE);
    let lost = scratch.sim(&["corpus", "run", "--accept"]);
    assert_eq!(lost.code, 14, "{}", lost.shown());
    let told = "with pause-runs-on it shows nothing, expected liveness/disposed-session-serves-again/session";
    assert!(lost.stdout.starts_with(&format!("LOST     {NAME}")) && lost.stdout.contains(told), "{}", lost.stdout);
    assert_eq!(scratch.read(FILE), before);
    change(&scratch, |entry| entry["plan"]["defects"] = json!(["idle-alarm-destroys"]));
    let failing = scratch.sim(&["corpus", "run"]);
    assert_eq!(failing.code, 10, "a plan that should hold and does not: {}", failing.shown());
}

#[test]
fn what_cannot_be_kept_is_refused_in_one_sentence_and_leaves_nothing() {
    let scratch = with_plan("corpus-refused");
    let long = "x".repeat(2_000);
    for (slug, more, told) in [
        ("../up", &["--why", "x"][..], "--name `../up` is no slug"),
        ("/etc/x", &["--why", "x"], "is no slug"),
        ("a/b", &["--why", "x"], "is no slug"),
        ("\u{1b}[31m", &["--why", "x"], "is no slug"),
        ("x", &[], "nothing says what the plan is to be kept for"),
        ("x", &["--defect", "idle-alarm-destroy"], "did you mean `idle-alarm-destroys`"),
        ("x", &["--defect", "pause-runs-on"], "plan.json: with pause-runs-on the plan holds, but"),
        ("x", &["--why", "x", "--expect-failure"], "plan.json: the plan holds as it is"),
        ("x", &["--why", &long], "keeps.why: expected 1 to 1000 bytes"),
        ("x", &["--why", "x", "--core", "fixed"], "plan.json: `--core` names the core of the plan itself"),
    ] {
        let sentence = refused(&add(&scratch, slug, more), slug);
        assert!(sentence.contains(told), "{told}: {sentence}");
    }
    assert_eq!(scratch.files(), ["plan.json"]);
}

#[test]
fn a_finding_must_stand_in_the_file_of_findings() {
    let scratch = with_plan("corpus-finding");
    let with = |finding: &str, more: &[&str]| {
        let defect = ["--defect", "idle-alarm-destroys", "--finding", finding];
        add(&scratch, "destroys", &[&defect[..], more].concat())
    };
    let told = refused(&with("1", &[]), "no file");
    assert!(told.starts_with("FINDINGS.md: cannot read the file of findings"), "{told}");
    scratch.write("FINDINGS.md", b"# Findings\n\n## 1. A session is gone\n");
    let told = refused(&with("99", &[]), "no such finding");
    let remedy = "write its entry first, or give the number of another";
    assert_eq!(told, format!("--finding 99: FINDINGS.md has findings up to 1, and not this one: {remedy}"));
    assert!(refused(&with("A session is gon", &[]), "nearly").ends_with("did you mean `A session is gone`?"));
    assert_eq!(scratch.files(), ["FINDINGS.md", "plan.json"], "nothing was written");
    assert_eq!(with("A session is gone", &[]).code, 0);
    std::fs::rename(scratch.path("FINDINGS.md"), scratch.path("other.md")).expect("renamed");
    std::fs::remove_file(scratch.path(FILE)).expect("added before");
    assert_eq!(with("1", &["--findings", "other.md"]).code, 0);
}

#[test]
fn what_a_killed_command_left_is_no_entry_and_goes_with_the_next_one_that_writes() {
    let scratch = with_entry("corpus-killed");
    let left = ["seeds/idle/stream-stays-open/.destroys.json.4.tmp", "seeds/idle/.other.json.4.tmp"];
    left.iter().for_each(|file| scratch.write(file, b"{\"entry\": 1, \"ke"));
    assert!(scratch.sim(&["corpus", "run"]).stdout.ends_with("corpus: 1 entry, 1 reached, 0 drifted, 0 lost\n"));
    assert!(left.iter().all(|file| scratch.files().contains(&(*file).to_owned())), "who only reads removes nothing");
    assert_eq!(add(&scratch, "again", &["--why", "a calm session"]).code, 0);
    assert_eq!(scratch.files(), ["plan.json", "seeds/idle/stream-stays-open/again.json", FILE]);
}

#[test]
fn a_file_that_is_no_entry_stops_everything_with_its_name() {
    let scratch = with_entry("corpus-hostile");
    let run = |what: &str| refused(&scratch.sim(&["corpus", "run"]), what);
    for (file, bytes, told) in [
        ("seeds/idle/bad.json", &b"{"[..], "seeds/idle/bad.json: line 1 column 1: the entry ends in the middle"),
        ("seeds/idle/bad.json", b"\x00\xff", "seeds/idle/bad.json: byte 1: the entry is not UTF-8 text"),
        ("seeds/idle/bad.json", &scratch.read("plan.json"), "seeds/idle/bad.json: entry: the version is missing"),
        ("seeds/idle/Bad Name.json", b"{}", "seeds/idle/Bad Name.json: is not named as an entry is"),
    ] {
        scratch.write(file, bytes);
        let sentence = run(file);
        assert!(sentence.starts_with(told), "{told}: {sentence}");
        std::fs::remove_file(scratch.path(file)).expect("it was written");
    }
    change(&scratch, |entry| {
        entry["plan"]["faults"] = json!([{"when": {"operation": "no such"}, "effect": {"do": "delay", "ms": 1}}])
    });
    assert!(run("a fault").contains("point.deliveries: "));
    change(&scratch, |entry| entry["point"]["deliveries"] = json!([1]));
    assert!(run("an operation").starts_with(&format!("{FILE}: faults[0].when: no operation is called `no such`")));
    for (arguments, told) in [
        (&["corpus", "run", "--seeds-dir", "nowhere"][..], "nowhere: cannot read the folder of entries"),
        (&["corpus", "run", "--seeds-dir", "plan.json"], "plan.json: cannot read the folder of entries"),
        (&["corpus"], "say `add`, `list`, `run` or `retire`"),
        (&["corpus", "retire", "destroys"], "--why <TEXT>"),
    ] {
        let sentence = refused(&scratch.sim(arguments), told);
        assert!(sentence.contains(told), "{told}: {sentence}");
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let scratch = with_entry("corpus-names");
    for (arguments, told) in [
        (&["corpus", "run", "idle/stream-stays-open/destroy"][..], "did you mean `idle/stream-stays-open/destroys`?"),
        (&["corpus", "run", "destroys", "nothing"], "no entry is called `nothing`: see `sim corpus list --all`"),
        (&["corpus", "retire", "../destroys", "--why", "x"], "no entry is called `../destroys`"),
    ] {
        let sentence = refused(&scratch.sim(arguments), "an unknown name");
        assert!(sentence.contains(told), "{told}: {sentence}");
    }
    assert_eq!(scratch.files(), ["plan.json", FILE]);
}

#[test]
fn a_plan_is_kept_once_for_the_same() {
    let scratch = with_entry("corpus-twice");
    let before = scratch.files();
    let twin = add(&scratch, "destroys-too", &["--defect", "idle-alarm-destroys"]);
    let sentence = refused(&twin, "destroys-too");
    assert!(sentence.contains(&format!("{NAME} keeps this very plan, and for the same")), "{sentence}");
    assert_eq!(scratch.files(), before);
    assert_eq!(add(&scratch, "otherwise", &["--why", "a calm session"]).code, 0, "for something else it is another");
}

#[test]
fn a_shrunk_plan_is_kept_with_the_seed_that_it_was_drawn_from() {
    let scratch = Scratch::new("corpus-shrunk");
    let defect = ["--defect", "idle-alarm-not-rearmed"];
    let signature = ["--signature", "liveness/idle-runtime-is-released/session"];
    let ran = scratch.sim(&[&["shrink", "--scenario", SCENARIO, "--seed", "7"], &defect[..], &signature[..]].concat());
    assert!(ran.stdout.contains("seed 7 "), "{}", ran.shown());
    let file = scratch.files().into_iter().find(|file| file.ends_with("shrunk.json")).expect("a shrunk plan");
    let plan: Json = serde_json::from_slice(&scratch.read(&file)).expect("JSON");
    assert_eq!(plan["seed"], "0");
    let keep = |file: &str, name: &str, more: &[&str]| {
        let ran = scratch.sim(&[&["corpus", "add", file, "--name", name], &defect[..], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.shown());
        let entry: Json =
            serde_json::from_slice(&scratch.read(&format!("seeds/{SCENARIO}/{name}.json"))).expect("JSON");
        entry["provenance"]["seed"].clone()
    };
    assert_eq!(keep(&file, "found", &[]), "7", "its folder tells");
    std::fs::remove_dir_all(scratch.path("seeds")).expect("removed");
    scratch.write("least.json", &scratch.read(&file));
    assert_eq!(keep("least.json", "told", &["--drawn-from", "7"]), "7");
}
