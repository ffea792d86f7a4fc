//! Each defect is caught by the claim predicted for it, and without a defect every claim holds.
//!
//! Goal: no check for good without a defect that trips it, no defect that nothing catches. Method: the entries of the corpus
//! that are kept for the defect, then ordinary seeds of the scenario.

use std::path::Path;

use model::defect::{DEFECTS, DefectInfo};
use scenarios::catalog;
use scenarios::invariants::Verdict;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use scenarios::strength::{ALSO, excuse, expected};
use sim::corpus::store::{Store, Stored};
use sim::corpus::verdict::{Runs, State, judge};
use sim::exit_code::ExitCode;
use sim::run::{RunOptions, RunResult, run_plan};
use sim::trial::Here;

/// Seeds that each defect gets.
const SEED_COUNT: u64 = 40;

fn plan_of(seed: u64) -> Plan {
    let scenario = catalog::find("idle/stream-stays-open").expect("the scenario exists");
    (scenario.plan)(Seed(seed))
}

fn corpus() -> Vec<Stored> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    Store::new(&folder).entries().expect("every entry of the corpus can be read")
}

fn run(plan: &Plan) -> RunResult {
    // Pins of an entry stand for both of its runs, and each takes its own course.
    let options = RunOptions { are_pins_optional: true, ..RunOptions::default() };
    run_plan(plan, &options).expect("the harness runs")
}

fn with_defect(plan: &Plan, info: &DefectInfo) -> Plan {
    let mut plan = plan.clone();
    plan.defects.push(info.name.to_owned());
    plan
}

fn violated(result: &RunResult, invariant: &str) -> bool {
    result.judged.iter().any(|each| each.name == invariant && matches!(each.verdict, Ok(Verdict::Violated(_))))
}

/// The plans of the corpus that are kept for a defect.
fn kept(corpus: &[Stored], info: &DefectInfo) -> Vec<Plan> {
    let is_for = |stored: &&Stored| stored.entry.keeps.defects.iter().any(|name| name == info.name);
    corpus.iter().filter(is_for).map(|stored| stored.entry.plan.clone()).collect()
}

#[test]
fn each_defect_is_caught_by_the_claim_predicted_for_it() {
    let corpus = corpus();
    for info in DEFECTS.iter().filter(|info| excuse(info.name).is_none()) {
        let claim = expected(info.name).expect("each defect has a prediction");
        let plans = kept(&corpus, info).into_iter().chain((1..=SEED_COUNT).map(plan_of));
        let caught = plans.map(|plan| run(&with_defect(&plan, info))).any(|result| violated(&result, claim));
        assert!(caught, "no entry of the corpus and no seed up to {SEED_COUNT} trips {claim} by {}", info.name);
    }
}

#[test]
fn a_claim_that_no_defect_is_predicted_for_is_tripped_all_the_same() {
    let corpus = corpus();
    for row in ALSO {
        let info = DEFECTS.iter().find(|info| info.name == row.defect).expect("the defect exists");
        let plans = kept(&corpus, info).into_iter().chain((1..=SEED_COUNT).map(plan_of));
        let caught = plans.map(|plan| run(&with_defect(&plan, info))).any(|result| violated(&result, row.predicted));
        assert!(
            caught,
            "no entry of the corpus and no seed up to {SEED_COUNT} trips {} by {}",
            row.predicted, row.defect
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
fn each_entry_of_the_corpus_reaches_its_point() {
    let corpus = corpus();
    assert!(!corpus.is_empty());
    for Stored { name, entry } in corpus {
        let verdict = judge(&entry, &Runs::of(&entry, &mut Here).expect("the harness runs"));
        assert_ne!(verdict.state, State::Lost, "{name}: {:?}", verdict.losses);
        assert_eq!(verdict.code, ExitCode::Held, "{name}");
    }
}

#[test]
fn the_described_core_has_the_faults_that_were_found_in_it() {
    let corpus = corpus();
    for info in DEFECTS.iter().filter(|info| info.described) {
        let plans = kept(&corpus, info);
        assert!(!plans.is_empty(), "a finding has an entry in the corpus: {}", info.name);
        for plan in plans {
            let described = Plan { core: scenarios::plan::Core::Described, ..plan };
            let claim = expected(info.name).expect("each defect has a prediction");
            assert!(violated(&run(&described), claim), "{}", info.name);
        }
    }
}
