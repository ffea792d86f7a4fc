//! Folding: the same results in the same order give the same record, and each finding is counted once a run.

use super::*;

fn options(from: u64, to: u64) -> CampaignOptions {
    CampaignOptions::new(Seed(from), Some(Seed(to)), vec!["a/one".to_owned()])
}

fn found(claim: &str, what: &str) -> Found {
    Found { signature: Signature::new(ExitCode::Safety, claim, "session"), what: what.to_owned() }
}

fn result(findings: Vec<Found>) -> SeedResult {
    let answer = Answer { findings, event_count: 10, run_digest: "1".to_owned(), ..Answer::default() };
    let scenario = crate::draw::scenarios().next().expect("a scenario");
    SeedResult { scenario, answer, again: None }
}

#[test]
fn runs_are_counted_a_signature_and_its_wordings() {
    let mut record = Record::new(options(5, 9));
    record.fold(&result(vec![]));
    record.fold(&result(vec![found("a", "x"), found("a", "y")]));
    record.fold(&result(vec![found("a", "y"), found("b", "z")]));
    let row = &record.findings[&found("a", "").signature];
    assert_eq!((row.seed, row.count, record.findings.len()), (Seed(6), 2, 2));
    assert_eq!(row.wordings, BTreeMap::from([("x".to_owned(), 1), ("y".to_owned(), 1)]));
    assert_eq!((record.seed_count, record.event_count, record.ended), (3, 30, None));
    assert_eq!(record.scenarios.values().next().expect("one").claims["a"].violated_count, 2);
}

#[test]
fn it_ends_after_the_last_seed_and_folds_none_after_it() {
    let mut record = Record::new(options(0, 2));
    (0..5).for_each(|_| record.fold(&result(vec![])));
    assert_eq!((record.seed_count, record.ended), (2, Some(End::AllSeeds)));
}

#[test]
fn it_ends_when_enough_is_found_that_nobody_knew() {
    let known = vec![found("a", "").signature];
    let mut record = Record::new(CampaignOptions { stop_after: Some(1), known, ..options(0, 9) });
    record.fold(&result(vec![found("a", "x")]));
    assert_eq!(record.ended, None);
    record.fold(&result(vec![found("b", "x")]));
    assert_eq!(record.ended, Some(End::StopAfter));
}

#[test]
fn runs_that_are_not_the_same_twice_are_a_finding() {
    let mut record = Record::new(options(0, 9));
    let again = Answer { run_digest: "2".to_owned(), ..result(vec![]).answer };
    record.fold(&SeedResult { again: Some(again), ..result(vec![]) });
    record.fold(&SeedResult { again: Some(result(vec![]).answer), ..result(vec![]) });
    assert_eq!((record.twice_count, record.findings[&nondeterminism()].count), (2, 1));
}

#[test]
fn wordings_are_bounded() {
    let mut record = Record::new(options(0, 99));
    (0..50).for_each(|number| record.fold(&result(vec![found("a", &format!("{number}"))])));
    let row = &record.findings[&found("a", "").signature];
    assert_eq!((row.count, row.wordings.len()), (50, WORDINGS_MAX));
}
