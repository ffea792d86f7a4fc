//! What seems not to matter for a failure: questions whose answers were others, and numbers that were larger.
//!
//! What is said is what was tried, and no more: each question with several entropies, half of them usual and half hostile,
//! while every other decision stays what it was; each number at twice and ten times its size.

use super::number::{self, Place};
use super::search::{Search, Stop};
use super::timeline;
use crate::questions::{QUESTIONS, Question};
use crate::trial::TrialOptions;
use scenarios::decision::DecisionName;
use scenarios::plan::{Plan, RuntimeBuild, Severity};
use scenarios::seed::{Entropy, Seed};

/// Entropies that are tried of each question and severity.
const ENTROPY_COUNT: u64 = 8;

/// How far the answers stray that are tried.
const SEVERITIES: [Severity; 2] = [Severity::Usual, Severity::Hostile];

/// Adds a sentence for everything that was found not to matter; what was found stays when the budget ends.
pub(super) fn find(search: &mut Search<'_>, told: &mut Vec<String>) -> Result<(), Stop> {
    let plan = search.best.clone();
    let options = TrialOptions { is_judged: true, are_pins_optional: true, tells_decisions: true, counts_reach: false };
    let decisions = search.ask(&plan, options)?.decisions;
    let asked = |questions: &&Question| decisions.iter().any(|(name, _)| questions.is_of(name));
    let is_open = |questions: &&Question| !plan.pins.keys().any(|name| questions.is_of(name));
    let mut free = Vec::new();
    for questions in QUESTIONS.iter().filter(asked).filter(is_open) {
        if is_free(search, &plan, &decisions, &[questions])? {
            free.push(questions);
        }
    }
    let nouns: Vec<&str> = free.iter().map(|questions| questions.noun).collect();
    match &nouns[..] {
        [] => {}
        [one] => told.push(tried(one)),
        [first @ .., last] if is_free(search, &plan, &decisions, &free)? => {
            told.push(tried(&format!("{} and {last}", first.join(", "))));
        }
        _ => told.extend(nouns.iter().map(|noun| tried(noun))),
    }
    settings(search, &plan, told)?;
    numbers(search, &plan, told)
}

/// What was done to find that these questions may be answered otherwise: others might still not do.
fn tried(nouns: &str) -> String {
    let count = ENTROPY_COUNT * SEVERITIES.len() as u64;
    format!("{count} other draws of {nouns} were tried, half usual and half hostile: all fail the same way")
}

/// Whether the failure shows however these questions are answered, as far as that was tried.
fn is_free(
    search: &mut Search<'_>,
    plan: &Plan,
    decisions: &[(String, u64)],
    free: &[&Question],
) -> Result<bool, Stop> {
    let is_kept = |name: &str| DecisionName::parse(name).is_some() && !free.iter().any(|each| each.is_of(name));
    let pins = decisions.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    let mut open = Plan { pins, ..plan.clone() };
    for severity in SEVERITIES {
        open.world.severity = severity;
        for number in 0..ENTROPY_COUNT {
            open.entropy = Some(Entropy::of("shrink", Seed(number)));
            if !shows(search, &open)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn shows(search: &mut Search<'_>, plan: &Plan) -> Result<bool, Stop> {
    if plan.validate().is_err() {
        return Ok(false);
    }
    let answer = search.judge(plan)?;
    Ok(search.is_shown(&answer))
}

fn settings(search: &mut Search<'_>, plan: &Plan, told: &mut Vec<String>) -> Result<(), Stop> {
    if plan.world.runtime_build == RuntimeBuild::default() {
        let mut other = plan.clone();
        other.world.runtime_build = RuntimeBuild::November2026;
        if shows(search, &other)? {
            told.push("the other build of the runtime was tried: it fails the same way".to_owned());
        }
    }
    Ok(())
}

/// Numbers that were made as small as they can be: whether larger ones do as well. Of what stands as it always does
/// nothing is said.
fn numbers(search: &mut Search<'_>, plan: &Plan, told: &mut Vec<String>) -> Result<(), Stop> {
    let named = [
        (Place::SessionTimeout, "session timeout"),
        (Place::PausedIdle, "timeout of paused sessions"),
        (Place::Cap, "soft cap"),
        (Place::Quiet, "quiet at the end"),
    ];
    let mut larger = Vec::new();
    for (place, noun) in named {
        let value = number::value(plan, &place).unwrap_or(0);
        let times = |factor: u64| number::with(plan, &place, value.checked_mul(factor)?);
        let is_told = number::cost(&place, value) != (0, 0);
        if is_told && all_show(search, [times(2), times(10)])? {
            larger.push(noun);
        }
    }
    if !timeline::gaps(plan).is_empty() && all_show(search, [2, 10].map(|factor| stretched(plan, factor)))? {
        larger.push("time between steps");
    }
    if let Some((last, first)) = larger.split_last() {
        let list = if first.is_empty() { (*last).to_owned() } else { format!("{} or {last}", first.join(", ")) };
        told.push(format!("a larger {list} works as well (twice and ten times were tried)"));
    }
    Ok(())
}

/// The plan with every gap of its time line that many times as long.
fn stretched(plan: &Plan, factor: u64) -> Option<Plan> {
    let mut changed = plan.clone();
    for (gap, ms) in timeline::gaps(plan).into_iter().enumerate() {
        timeline::set_gap(&mut changed, gap, ms.checked_mul(factor)?);
    }
    Some(changed)
}

fn all_show(search: &mut Search<'_>, plans: [Option<Plan>; 2]) -> Result<bool, Stop> {
    for plan in plans {
        let is_shown = match plan {
            Some(plan) => shows(search, &plan)?,
            None => false,
        };
        if !is_shown {
            return Ok(false);
        }
    }
    Ok(true)
}
