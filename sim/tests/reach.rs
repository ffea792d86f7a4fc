//! Rows of reach against real runs: scenarios light what they are about, planted plans light what they plant, and every
//! event that a row waits for is one that the model can tell.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use scenarios::catalog;
use scenarios::contract::{self, Check};
use scenarios::plan::Plan;
use scenarios::reach::{self, Evidence, Fact, Is, Pattern, Place, Reached};
use scenarios::seed::Seed;
use sim::run::{RunOptions, run_plan};

/// Seeds among which a scenario must have lit every row that it is about.
const SEED_COUNT: u64 = 120;

fn run(plan: &Plan) -> Vec<Reached> {
    let options = RunOptions { counts_reach: true, ..RunOptions::default() };
    let reached = run_plan(plan, &options).expect("the harness runs").reached;
    assert_eq!(reached.len(), reach::rows().len(), "a run that is judged tells of every row");
    reached
}

fn of<'r>(name: &str, reached: &'r [Reached]) -> &'r Reached {
    let at = reach::rows().iter().position(|row| row.name == name);
    &reached[at.unwrap_or_else(|| panic!("there is no row {name}"))]
}

/// What a run lacked of a row, and how many conditions of it.
fn lacked(name: &str, reached: &[Reached]) -> (u8, String) {
    let Reached::No(closest) = of(name, reached) else { panic!("{name} is lit") };
    (closest.distance, reach::find(name).expect("a row").missing(closest.distance))
}

fn contract_plan(id: &str) -> Plan {
    match contract::row(id).map(|row| row.check) {
        Some(Check::World { plan, .. }) => plan(),
        _ => panic!("{id} has no plan"),
    }
}

#[test]
fn each_scenario_lights_the_rows_that_it_is_about() {
    for scenario in catalog::all() {
        let mut dark: BTreeSet<&str> = scenario.sometimes.iter().copied().collect();
        for seed in (0..SEED_COUNT).map(Seed) {
            let reached = run(&(scenario.plan)(seed));
            dark.retain(|name| *of(name, &reached) != Reached::Yes);
            if dark.is_empty() {
                break;
            }
        }
        assert_eq!(dark, BTreeSet::new(), "{} stays dark in {SEED_COUNT} seeds", scenario.id);
    }
}

#[test]
fn a_planted_plan_lights_its_rows() {
    let lit = run(&contract_plan("G2"));
    for name in ["log/paused-lease-extension", "alarm/name-from-storage", "alarm/extend-paused"] {
        assert_eq!(of(name, &lit), &Reached::Yes, "{name}");
    }
}

#[test]
fn a_plan_that_lacks_the_last_condition_says_which() {
    let name = "situation/cap-eviction";
    // The request of the cap fails: everything is so but the disposal.
    let mut plan = contract_plan("J2");
    plan.callers.iter_mut().for_each(|caller| caller.calls.retain(|call| call.session != "c"));
    let missing = "state `disposal.begin` with reason = cap".to_owned();
    assert_eq!(lacked(name, &run(&plan)), (1, missing));
    plan.faults.clear();
    assert_eq!(of(name, &run(&plan)), &Reached::Yes);
}

#[test]
fn a_plan_that_never_comes_near_says_what_is_missing_first() {
    let mut plan = contract_plan("J2");
    plan.config.resident_runtime_soft_cap = 1_000;
    let missing = "the plan has more sessions than the cap allows runtimes".to_owned();
    assert_eq!(lacked("situation/cap-eviction", &run(&plan)), (4, missing));
}

/// Everything that the model and the driver say, as source text, tests left out.
fn sources() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("model/src")];
    let mut text = String::new();
    let read = |path: &Path| std::fs::read_to_string(path).expect("a source file can be read");
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let is_test = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "tests" || stem == "facts");
            match entry.is_dir() {
                _ if is_test(&entry) => {}
                true => folders.push(entry),
                false => text.push_str(&read(&entry)),
            }
        }
    }
    ["driver.rs", "driver/history.rs", "faults.rs", "callers.rs"]
        .iter()
        .for_each(|name| text += &read(&root.join("sim/src").join(name)));
    text
}

/// What of a pattern nothing in the sources says.
fn unsaid(pattern: &Pattern, sources: &str) -> Vec<String> {
    let quoted = |text: &str| sources.contains(&format!("\"{text}\""));
    let mut missing = Vec::new();
    let mut need = |is_said: bool, what: &str| missing.extend((!is_said).then(|| what.to_owned()));
    need(quoted(pattern.name), pattern.name);
    for (place, is) in pattern.fields {
        match place {
            Place::Field(name) => need(quoted(name) || sources.contains(&format!("{name} = ")), name),
            Place::Attribute(name) => need(quoted(name), name),
            Place::Answer(_) => {}
        }
        match is {
            Is::Word(text) | Is::Begins(text) => need(sources.contains(text), text),
            _ => {}
        }
    }
    missing
}

#[test]
fn what_rows_wait_for_the_model_can_tell() {
    let sources = sources();
    for row in reach::rows() {
        let Evidence::Events(events) = row.shown_by else { continue };
        for event in events {
            assert_eq!(unsaid(event, &sources), [] as [String; 0], "{}: {event}", row.name);
        }
    }
    for fact in Fact::ALL {
        let Some(event) = fact.event() else { continue };
        assert_eq!(unsaid(&event, &sources), [] as [String; 0], "{}", fact.words());
    }
}
