//! The list against the sources: complete, each modelled fact in its place and tested, and the page made from it.

mod evidence;
mod page;

use std::collections::BTreeMap;

use super::{Fact, State, all};
use evidence::{Evidence, numbers};

/// Set to write the page instead of comparing.
const UPDATE: &str = "UPDATE_PLATFORM";
/// The last fact of the list.
const LAST: u32 = 236;
/// Facts that were added behind another one.
const WITH_LETTER: [&str; 2] = ["123a", "177a"];
/// What a source begins with; those in words are of the sections on what varies and on what is not settled.
const MARKS: [&str; 14] =
    ["R:", "R26:", "R11:", "RF:", "RA:", "RP:", "RN:", "S:", "D:", "I:", "PUB", "fact", "not ", "probed"];

fn fact(number: &str) -> Option<&'static Fact> {
    all().find(|fact| fact.number == number)
}

/// Fails with every complaint at once.
fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_fact_is_listed_once_and_in_order() {
    let mut expected = Vec::new();
    for number in 1..=LAST {
        expected.push(number.to_string());
        expected.extend(WITH_LETTER.iter().filter(|with| with[..3] == number.to_string()).map(|&with| with.to_owned()));
    }
    assert_eq!(all().map(|fact| fact.number.to_owned()).collect::<Vec<_>>(), expected);
}

#[test]
fn every_fact_has_a_sentence_and_sources_of_a_known_kind() {
    let wrong = all().filter_map(|fact| {
        let Fact { number, sentence, sources, state } = fact;
        let begins = |source: &str| MARKS.iter().any(|mark| source.starts_with(mark));
        // A document may name several places after a comma.
        let is_sourced = begins(sources) || *sources == "reported both ways";
        let is_told = sentence.ends_with(['.', '\'']) && sentence.len() > 15 && !sentence.contains('|');
        let is_meant = match state {
            State::Modelled => true,
            State::MissedBug(which)
            | State::FalseAlarm(which)
            | State::PartlyMissedBug(which)
            | State::PartlyFalseAlarm(which) => which.len() > 10,
            State::Replaced(by) => super::tests::fact(by).is_some_and(|by| by.state.is_modelled()),
        };
        (!is_sourced || !is_told || !is_meant).then(|| format!("fact {number} is not told well"))
    });
    assert_none(wrong.collect());
}

#[test]
fn a_modelled_fact_is_said_where_it_is_modelled_and_nothing_else_is() {
    let evidence = Evidence::read();
    let mut complaints = Vec::new();
    for comment in &evidence.comments {
        let Some(fact) = fact(&comment.number) else {
            complaints.push(format!("{}: there is no fact {}", comment.file, comment.number));
            continue;
        };
        let expected = format!("{} [{}]", fact.sentence, fact.sources);
        if !fact.state.is_modelled() {
            complaints.push(format!("{}: fact {} is listed as not modelled", comment.file, fact.number));
        } else if comment.text != expected {
            complaints.push(format!("{}: write `// Fact: {}. {expected}`", comment.file, fact.number));
        }
        if !comment.file.starts_with("model/src/") && !comment.file.starts_with("scenarios/src/decision") {
            complaints.push(format!("{}: fact {} is modelled outside of the model", comment.file, fact.number));
        }
    }
    let said = |fact: &&Fact| evidence.comments.iter().any(|comment| comment.number == fact.number);
    for fact in all().filter(|fact| fact.state.is_modelled()).filter(|fact| !said(fact)) {
        complaints.push(format!("fact {} is listed as modelled, and no comment says where", fact.number));
    }
    assert_none(complaints);
}

#[test]
fn a_modelled_fact_has_a_test_that_is_named_after_it_and_nothing_else_has() {
    let evidence = Evidence::read();
    let tested = |fact: &&Fact| evidence.tests.contains_key(fact.number);
    let untested = all().filter(|fact| fact.state.is_modelled()).filter(|fact| !tested(fact));
    let mut complaints: Vec<String> =
        untested.map(|fact| format!("fact {} is listed as modelled, and no test shows it", fact.number)).collect();
    for (number, tests) in &evidence.tests {
        if fact(number).is_none_or(|fact| !fact.state.is_modelled()) {
            complaints.push(format!("{tests:?}: fact {number} is not listed as modelled"));
        }
    }
    assert_none(complaints);
}

#[test]
fn each_line_of_what_varies_has_its_decisions_or_a_reason_why_not() {
    for number in 208..=229_u32 {
        let number = number.to_string();
        let drawn = super::DECISIONS.iter().any(|decision| decision.fact == number);
        let undrawn = super::UNDRAWN.iter().any(|(undrawn, _)| *undrawn == number);
        assert!(drawn != undrawn, "fact {number}");
    }
}

#[test]
fn the_page_of_facts_is_what_the_list_and_the_sources_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/PLATFORM.md");
    let page = page::markdown(&Evidence::read());
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == page, "model/PLATFORM.md is stale: run the test with {UPDATE}=1");
}

#[test]
fn comments_of_several_lines_and_names_with_several_numbers_are_read() {
    let mut evidence = Evidence::default();
    evidence.add(
        "a.rs",
        "x\n    // Fact: 43. One sentence\n    // in two lines. [R:S9]\n    // More.\nfn fact_46_177a_so() {}\n",
    );
    let [comment] = &evidence.comments[..] else { panic!("one comment") };
    assert_eq!((&*comment.number, &*comment.text), ("43", "One sentence in two lines. [R:S9]"));
    let found: BTreeMap<_, _> = evidence.tests.into_iter().collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["177a", "46"]);
    assert_eq!(numbers("fact_36_a_section_over_30_s"), ["36"]);
}
