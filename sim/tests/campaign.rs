//! Campaigns as a person starts them: whatever ends one, what is written depends on the build, the seeds and the options.
//!
//! Method: the built program, a folder of its own for each test, and whole folders compared byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const DEFECT: &str = "--defect=idle-alarm-not-rearmed";

/// A folder of one test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sim-campaign-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }

    /// `sim fuzz` in a folder `place` of this one, into `out` there.
    fn fuzz(&self, place: &str, arguments: &[&str]) -> Command {
        let folder = self.0.join(place);
        fs::create_dir_all(&folder).expect("a place");
        let mut command = Command::new(env!("CARGO_BIN_EXE_sim"));
        command.current_dir(folder).args(["fuzz", "--out", "out"]).args(arguments);
        command
    }

    fn run(&self, place: &str, arguments: &[&str]) -> Output {
        self.fuzz(place, arguments).output().expect("sim starts")
    }

    /// Everything that a campaign left: path and bytes.
    fn tree(&self, place: &str) -> BTreeMap<String, Vec<u8>> {
        let root = self.0.join(place).join("out");
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    let name = entry.strip_prefix(&root).expect("below it").to_string_lossy().into_owned();
                    files.insert(name, fs::read(&entry).expect("a file"));
                }
            }
        }
        files
    }

    fn record(&self, place: &str) -> serde_json::Value {
        let bytes = fs::read(self.0.join(place).join("out/campaign.json")).expect("a record");
        serde_json::from_slice(&bytes).expect("a record is JSON")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until the campaign has kept that some seeds are folded.
fn wait_for_seeds(child: &mut Child, folder: &Path) {
    let record = folder.join("out/campaign.json");
    let is_under_way = || {
        let bytes = fs::read(&record).unwrap_or_default();
        let record: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        record["seed_count"].as_u64().unwrap_or(0) > 0
    };
    while !is_under_way() {
        assert!(child.try_wait().expect("its state").is_none(), "it ended before anything could be done to it");
        pause();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test waits for another process, in real time")]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill").args([name, &process.to_string()]).status().expect("kill starts");
    assert!(status.success());
}

#[test]
fn one_job_and_three_write_the_same() {
    let scratch = Scratch::new("jobs");
    let arguments = |jobs| ["--seeds", "0..40", DEFECT, "--shrink-runs", "0", "--jobs", jobs];
    let one = scratch.run("one", &arguments("1"));
    let three = scratch.run("three", &arguments("3"));
    assert_eq!((code(&one), code(&three)), (10, 10), "{}", text(&one.stderr));
    assert_eq!(one.stdout, three.stdout);
    let tree = scratch.tree("one");
    assert!(tree.contains_key("findings/safety-alarm-follows-intent-session/plan.json"), "{:?}", tree.keys());
    assert_eq!(tree, scratch.tree("three"));
    let record = scratch.record("one");
    assert_eq!((&record["seed_count"], &record["ended"]), (&40.into(), &"all-seeds".into()));
}

#[test]
fn a_killed_campaign_goes_on_and_ends_with_the_same_bytes() {
    let scratch = Scratch::new("kill");
    let arguments = ["--seeds", "0..100", DEFECT, "--shrink-runs", "0", "--jobs", "1"];
    let whole = scratch.run("whole", &arguments);
    for (place, name) in [("killed", "-KILL"), ("interrupted", "-INT"), ("ended", "-TERM")] {
        let mut child =
            scratch.fuzz(place, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        wait_for_seeds(&mut child, &scratch.0.join(place));
        signal(name, child.id());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), (name != "-KILL").then_some(130), "{name}");
        let seed_count = scratch.record(place)["seed_count"].as_u64();
        assert!(seed_count > Some(0) && seed_count < Some(100), "{name}: {seed_count:?}");
        let refused = scratch.run(place, &arguments);
        assert_eq!(code(&refused), 2, "{name}");
        let resumed = scratch.run(place, &[arguments.as_slice(), &["--resume"]].concat());
        assert_eq!(code(&resumed), code(&whole), "{name}: {}", text(&resumed.stderr));
        assert_eq!(resumed.stdout, whole.stdout, "{name}");
        assert_eq!(scratch.tree(place), scratch.tree("whole"), "{name}");
    }
}

#[test]
fn a_worker_that_is_killed_from_outside_leaves_no_mark() {
    let scratch = Scratch::new("worker");
    let arguments = ["--seeds", "0..30", DEFECT, "--jobs", "1", "--shrink-runs", "80"];
    let whole = scratch.run("whole", &arguments);
    let mut child =
        scratch.fuzz("hurt", &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("started");
    wait_for_seeds(&mut child, &scratch.0.join("hurt"));
    // While it searches, while findings are run again, and while they are made small.
    for _ in 0..12 {
        let workers = Command::new("pgrep").args(["-P", &child.id().to_string()]).output().expect("pgrep starts");
        // One that is gone already needs no killing.
        text(&workers.stdout).lines().for_each(|worker| drop(Command::new("kill").args(["-KILL", worker]).output()));
        (0..15).for_each(|_| pause());
    }
    let said: Vec<String> =
        BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok).collect();
    assert_eq!(child.wait().expect("it ends").code(), whole.status.code());
    assert!(said.iter().any(|line| line.contains("SIGKILL") && line.contains("run again")), "{said:?}");
    assert_eq!(scratch.tree("hurt"), scratch.tree("whole"));
}

#[test]
fn whatever_a_run_does_costs_that_run_only() {
    let scratch = Scratch::new("fatal");
    let planted = [
        ("panic", "the-harness-panicked"),
        ("abort", "sigabrt"),
        ("overflow", "the-stack-overflowed"),
        ("memory", "no-more-memory"),
        ("hang", "no-answer-within"),
    ];
    for (leak, told) in planted {
        let arguments = [
            "--seeds",
            "0..12",
            "--plant-leak",
            leak,
            "--run-limit-s",
            "8",
            "--memory-limit-mib",
            "2048",
            "--jobs",
            "2",
        ];
        let output = scratch.run(leak, &arguments);
        assert_eq!(code(&output), 20, "{leak}: {}", text(&output.stderr));
        let record = scratch.record(leak);
        let findings = record["findings"].as_object().expect("findings");
        let (signature, row) = findings.iter().next().expect("one finding");
        assert!(findings.len() == 1 && signature.contains(told), "{leak}: {findings:?}");
        // Seeds 3 and 11.
        assert_eq!(
            (&row["seed"], &row["count"], &record["seed_count"]),
            (&"3".into(), &2.into(), &12.into()),
            "{leak}"
        );
    }
}

#[test]
fn a_run_that_never_comes_to_rest_is_a_crash_by_its_step_budget() {
    let scratch = Scratch::new("livelock");
    let output = scratch.run("livelock", &["--seeds", "3..4", "--plant-leak", "livelock", "--shrink-runs", "0"]);
    assert_eq!(code(&output), 12, "{}", text(&output.stderr));
    assert!(scratch.record("livelock")["findings"]["crash/comes-to-rest/model"].is_object());
}

#[test]
fn whatever_else_lies_among_the_findings_is_left_alone() {
    let scratch = Scratch::new("precious");
    let arguments = ["--seeds", "0..20", DEFECT, "--shrink-runs", "20"];
    let whole = scratch.run("here", &arguments);
    let findings = scratch.0.join("here/out/findings");
    let mine = findings.join("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("plan.json"), "{}").expect("a plan");
    fs::write(mine.join("notes.txt"), "mine").expect("notes");
    let again = || scratch.run("here", &[&arguments[..], &["--resume"]].concat());
    assert_eq!(code(&again()), code(&whole));
    assert!(mine.join("plan.json").is_file() && mine.join("notes.txt").is_file());
    let elsewhere = scratch.0.join("elsewhere");
    fs::rename(&findings, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &findings).expect("a link");
    let refused = again();
    assert_eq!(code(&refused), 2);
    assert!(text(&refused.stderr).contains("out/findings: is no ordinary folder"), "{}", text(&refused.stderr));
}

#[test]
fn the_same_command_goes_on_also_where_it_writes_a_baseline() {
    let scratch = Scratch::new("baseline-again");
    let scenario = ["--scenario", "idle/stream-stays-open", "--scenario", "idle/stream-stays-open"];
    let known = ["--seeds", "0..30", DEFECT, "--shrink-runs", "0", "--write-baseline", "known.json"];
    let arguments = [&known[..], &scenario[..]].concat();
    assert_eq!(code(&scratch.run("here", &arguments)), 10);
    assert_eq!(code(&scratch.run("here", &[&arguments[..], &["--resume"]].concat())), 10);
    let inside = scratch.run("there", &["--seeds", "0..3", "--write-baseline", "out/campaign.json"]);
    assert_eq!(code(&inside), 2, "{}", text(&inside.stderr));
    let unsaid = scratch.run("there", &["--runs", "3", "--resume"]);
    assert_eq!(code(&unsaid), 2, "{}", text(&unsaid.stderr));
    let mistyped = scratch.run("nowhere", &["--seeds", "0..1", "--resume"]);
    assert!(text(&mistyped.stderr).contains("nothing to go on with yet"), "{}", text(&mistyped.stderr));
}

#[test]
fn what_does_not_repeat_is_nondeterminism_and_named() {
    let scratch = Scratch::new("leak");
    let output = scratch.run("counter", &["--seeds", "0..20", "--twice", "--plant-leak", "counter"]);
    let told = text(&output.stdout);
    assert_eq!(code(&output), 13, "{told}");
    assert!(told.contains("same-plan-same-run") && told.contains("planted.counter"), "{told}");
}

#[test]
fn a_campaign_stops_after_enough_findings() {
    let scratch = Scratch::new("enough");
    let output = scratch.run(
        "one",
        &["--seeds", "0..", "--scenario", "idle/stream-stays-open", DEFECT, "--stop-after", "1", "--shrink-runs", "0"],
    );
    assert_eq!(code(&output), 10);
    let record = scratch.record("one");
    assert_eq!(record["ended"], "stop-after");
    let first = record["findings"].as_object().and_then(|findings| findings.values().next()).expect("a finding");
    let (first, count) = (first["seed"].as_str().and_then(|seed| seed.parse().ok()), record["seed_count"].as_u64());
    assert_eq!(count, first.map(|seed: u64| seed + 1), "it ends with the seed that found it");
}

#[test]
fn folders_of_others_are_left_alone() {
    let scratch = Scratch::new("foreign");
    let folder = scratch.0.join("one/out");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join("thesis.tex"), "years").expect("written");
    let output = scratch.run("one", &["--seeds", "0..5"]);
    assert_eq!((code(&output), text(&output.stdout)), (2, String::new()));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    assert_eq!(scratch.tree("one").keys().collect::<Vec<_>>(), ["thesis.tex"]);
}

#[test]
fn only_what_no_baseline_knows_fails() {
    let scratch = Scratch::new("baseline");
    let file = scratch.0.join("known.json");
    let file = file.to_str().expect("a plain path");
    let fuzz = |place: &str, more: &[&str]| {
        let arguments = ["--seeds", "0..6", DEFECT, "--shrink-runs", "0"];
        scratch.run(place, &[arguments.as_slice(), more].concat())
    };
    assert_eq!(code(&fuzz("new", &["--write-baseline", file])), 10);
    let known = fuzz("known", &["--baseline", file]);
    assert_eq!(code(&known), 0, "{}", text(&known.stderr));
    assert!(text(&known.stdout).contains(", known\n"), "{}", text(&known.stdout));
    // A signature that is taken out of the file is new again.
    let less = fs::read_to_string(file).expect("the baseline").replace("alarm-follows-intent", "alarms-ring");
    fs::write(file, less).expect("written");
    let new = fuzz("less", &["--baseline", file]);
    assert_eq!(code(&new), 10);
    assert!(text(&new.stdout).contains("no longer seen: safety/alarms-ring/session"), "{}", text(&new.stdout));
    fs::write(file, "{").expect("written");
    let refused = fuzz("broken", &["--baseline", file]);
    assert_eq!((code(&refused), text(&refused.stderr).lines().count()), (2, 1), "{}", text(&refused.stderr));
    assert!(!scratch.0.join("broken/out").exists());
}
