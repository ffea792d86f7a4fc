//! Each defect is caught by the claim predicted for it, and without a defect every claim holds.
//!
//! Goal: no check for good without a defect that trips it, no defect that nothing catches. Method: ordinary seeds of the
//! scenario where they reach the defect, else the checked-in plan of its name.

use std::path::{Path, PathBuf};

use model::defect::{DEFECTS, DefectInfo, UNCLAIMED};
use scenarios::catalog;
use scenarios::invariants::Verdict;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use sim::exit_code::ExitCode;
use sim::run::{RunOptions, RunResult, run_plan};

/// Seeds that each defect gets.
const SEED_COUNT: u64 = 40;

fn plan_of(seed: u64) -> Plan {
    let scenario = catalog::find("idle/stream-stays-open").expect("the scenario exists");
    (scenario.plan)(Seed(seed))
}

fn entry(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/defects").join(name).with_extension("json")
}

fn run(plan: &Plan) -> RunResult {
    run_plan(plan, &RunOptions::default()).expect("the harness runs")
}

fn with_defect(plan: &Plan, info: &DefectInfo) -> Plan {
    let mut plan = plan.clone();
    plan.defects.push(info.name.to_owned());
    plan
}

fn violated(result: &RunResult, invariant: &str) -> bool {
    result.judged.iter().any(|each| each.name == invariant && matches!(each.verdict, Ok(Verdict::Violated(_))))
}

/// The stored plan of a defect, if ordinary seeds do not reach it.
fn stored(info: &DefectInfo) -> Option<Plan> {
    let bytes = std::fs::read(entry(info.name)).ok()?;
    Some(Plan::parse(&bytes).expect("a stored plan is a plan"))
}

#[test]
fn each_defect_is_caught_by_the_claim_predicted_for_it() {
    for info in DEFECTS.iter().filter(|info| info.caught_by != UNCLAIMED) {
        let plans = stored(info).into_iter().chain((1..=SEED_COUNT).map(plan_of));
        let caught = plans.map(|plan| run(&with_defect(&plan, info))).any(|result| violated(&result, info.caught_by));
        assert!(
            caught,
            "no seed up to {SEED_COUNT} and no plan in seeds/defects trips {} by {}",
            info.caught_by, info.name
        );
    }
}

#[test]
fn without_a_defect_every_claim_holds_at_ordinary_seeds() {
    for seed in 1..=3 * SEED_COUNT {
        let result = run(&plan_of(seed));
        assert_eq!(result.outcome(), ExitCode::Held, "seed {seed}: {:?}", result.findings);
    }
}

#[test]
fn each_stored_plan_holds_as_it_is_and_its_faults_are_delivered() {
    let folder = entry("x").parent().map(Path::to_path_buf).expect("entries are in a folder");
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder exists").map(|e| e.expect("an entry").path()).collect();
    names.sort();
    assert!(!names.is_empty());
    for path in names {
        let plan = Plan::parse(&std::fs::read(&path).expect("a stored plan")).expect("a stored plan is a plan");
        let result = run(&plan);
        assert_eq!(result.outcome(), ExitCode::Held, "{}: {:?}", path.display(), result.findings);
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        assert!(DEFECTS.iter().any(|info| Some(info.name) == stem), "{} is named after a defect", path.display());
    }
}

#[test]
fn the_described_core_has_the_faults_that_were_found_in_it() {
    for info in DEFECTS.iter().filter(|info| info.described) {
        let plan = stored(info).expect("a finding has its plan in seeds/defects");
        let described = Plan { core: scenarios::plan::Core::Described, ..plan };
        assert!(violated(&run(&described), info.caught_by), "{}", info.name);
    }
}
