//! The runs that show what a failure rests on.

use super::evidence::Evidence;
use super::list::{SWITCHES, basis_of};
use super::{Assumptions, DRAW_COUNT, Decided, Draws, Free, Planned, RUNS_MAX, Switched, Value};
use crate::error::Error;
use crate::questions::{QUESTIONS, Question};
use crate::signature::Signature;
use crate::trial::{Answer, Judge, TrialOptions};
use scenarios::plan::{Plan, Severity};
use scenarios::seed::{Entropy, Seed};
use std::collections::BTreeMap;

/// Decisions by name, each with its value.
type Decisions = BTreeMap<String, u64>;

/// A search under way.
pub(super) struct Search<'a> {
    judge: &'a mut dyn Judge,
    progress: &'a mut dyn FnMut(u64),
    signature: &'a Signature,
    /// The plan with nothing left to chance: every decision that its run took is pinned, and the rest is calm.
    plan: Plan,
    /// The questions that its run asked and that the platform decides.
    asked: Vec<&'static Question>,
    run_count: u64,
}

impl<'a> Search<'a> {
    /// Runs the plan once, to know what it decides.
    pub fn new(
        plan: &Plan,
        signature: &'a Signature,
        judge: &'a mut dyn Judge,
        progress: &'a mut dyn FnMut(u64),
    ) -> Result<Self, Error> {
        let mut search = Search { judge, progress, signature, plan: plan.clone(), asked: Vec::new(), run_count: 0 };
        let answer = search.run(plan, true)?;
        if !answer.shows(signature) {
            return Err(Error::usage(format!("the plan does not show {signature}: nothing rests on anything")));
        }
        let is_asked = |question: &&Question| answer.decisions.iter().any(|(name, _)| question.is_of(name));
        let of_platform = QUESTIONS.iter().filter(|question| !question.facts.is_empty());
        search.asked = of_platform.filter(is_asked).collect();
        search.plan.entropy = None;
        search.plan.pins = answer.decisions.into_iter().filter(|(_, value)| *value > 0).collect();
        Ok(search)
    }

    /// Everything that can be found within the budget.
    pub fn find(mut self) -> Result<Assumptions, Error> {
        let needed = self.needed()?;
        let is_minimal = self.run_count < RUNS_MAX;
        self.plan.pins = self.others().into_iter().chain(needed.clone()).collect();
        let (mut decisions, mut free) = (Vec::new(), Vec::new());
        for question in self.asked.clone() {
            let draws = self.draws(question)?;
            let values = self.values(question, &needed)?;
            if values.is_empty() {
                free.push(Free { about: question.noun, draws });
            } else {
                decisions.push(Decided { about: question.noun, values, draws, evidence: Evidence::of(question.facts) });
            }
        }
        let faults = self.faults()?;
        let switches = self.switches()?;
        let (signature, run_count) = (self.signature.clone(), self.run_count);
        Ok(Assumptions { signature, decisions, free, faults, switches, run_count, is_minimal })
    }

    /// As few decisions of the platform as still lead to the failure while all its others are calm.
    fn needed(&mut self) -> Result<Decisions, Error> {
        let mut needed = self.plan.pins.clone();
        needed.retain(|name, _| self.asked.iter().any(|question| question.is_of(name)));
        if self.fails_with(&Decisions::new(), Severity::Calm)? {
            self.plan.world.severity = Severity::Calm;
            return Ok(Decisions::new());
        }
        if self.fails_with(&needed, Severity::Calm)? {
            self.plan.world.severity = Severity::Calm;
        }
        for question in self.asked.clone() {
            let without = |needed: &Decisions| {
                needed
                    .iter()
                    .filter(|(name, _)| !question.is_of(name))
                    .map(|(name, value)| (name.clone(), *value))
                    .collect()
            };
            self.keep_if_fails(&mut needed, without)?;
        }
        let mut size = needed.len() / 2;
        while size > 0 {
            let mut from = 0;
            while from < needed.len() {
                let without = |needed: &Decisions| {
                    let is_left = |index: usize| !(from..from + size).contains(&index);
                    let left = needed.iter().enumerate().filter(|(index, _)| is_left(*index));
                    left.map(|(_, (name, value))| (name.clone(), *value)).collect()
                };
                if !self.keep_if_fails(&mut needed, without)? {
                    from += size;
                }
            }
            size /= 2;
        }
        Ok(needed)
    }

    /// Takes the smaller set if the failure shows with it.
    fn keep_if_fails(
        &mut self,
        needed: &mut Decisions,
        without: impl FnOnce(&Decisions) -> Decisions,
    ) -> Result<bool, Error> {
        let smaller = without(needed);
        let is_kept = smaller.len() < needed.len()
            && self.run_count < RUNS_MAX
            && self.fails_with(&smaller, self.plan.world.severity)?;
        if is_kept {
            *needed = smaller;
        }
        Ok(is_kept)
    }

    /// The needed decisions of a question, each with the smallest value that does as well.
    fn values(&mut self, question: &Question, needed: &Decisions) -> Result<Vec<Value>, Error> {
        let mut values = Vec::new();
        for (name, value) in needed.iter().filter(|(name, _)| question.is_of(name)) {
            let (mut passes, mut least) = (0, *value);
            while passes + 1 < least && self.run_count < RUNS_MAX {
                let middle = u64::midpoint(passes, least);
                let mut changed = needed.clone();
                changed.insert(name.clone(), middle);
                if self.fails_with(&changed, self.plan.world.severity)? {
                    least = middle;
                } else {
                    passes = middle;
                }
            }
            values.push(Value { name: name.clone(), value: *value, least });
        }
        Ok(values)
    }

    /// Other draws of a question, while every other decision stays what it is.
    fn draws(&mut self, question: &Question) -> Result<Draws, Error> {
        let plan = self.plan.clone();
        let decisions = self.run(&plan, true)?.decisions;
        let mut open = plan;
        open.pins = decisions.into_iter().filter(|(name, _)| !question.is_of(name)).collect();
        let mut draws = Draws::default();
        for severity in [Severity::Usual, Severity::Hostile] {
            open.world.severity = severity;
            for number in 0..DRAW_COUNT / 2 {
                open.entropy = Some(Entropy::of("assumptions", Seed(number)));
                draws.tried += 1;
                draws.failed += u64::from(self.fails(&open)?);
            }
        }
        Ok(draws)
    }

    fn faults(&mut self) -> Result<Vec<Planned>, Error> {
        let mut planned = Vec::new();
        for (index, fault) in self.plan.faults.clone().iter().enumerate() {
            let mut without = self.plan.clone();
            without.faults.remove(index);
            let is_needed = !self.fails(&without)?;
            let evidence = Evidence::of_basis(basis_of(fault));
            planned.push(Planned { index, what: fault.to_string(), is_needed, evidence });
        }
        Ok(planned)
    }

    fn switches(&mut self) -> Result<Vec<Switched>, Error> {
        let mut switched = Vec::new();
        for switch in SWITCHES {
            let mut others = Vec::new();
            for other in (switch.others)(&self.plan) {
                others.push(((switch.value)(&other), self.fails(&other)?));
            }
            let what = format!("{} {}", switch.name, (switch.value)(&self.plan));
            switched.push(Switched { what, others, evidence: Evidence::of(switch.facts) });
        }
        Ok(switched)
    }

    /// The decisions that are not the platform's: they stay what they were.
    fn others(&self) -> Decisions {
        let is_other = |name: &str| !self.asked.iter().any(|question| question.is_of(name));
        self.plan.pins.iter().filter(|(name, _)| is_other(name)).map(|(name, value)| (name.clone(), *value)).collect()
    }

    fn fails_with(&mut self, needed: &Decisions, severity: Severity) -> Result<bool, Error> {
        let mut plan = self.plan.clone();
        plan.pins = self.others().into_iter().chain(needed.clone()).collect();
        plan.world.severity = severity;
        self.fails(&plan)
    }

    fn fails(&mut self, plan: &Plan) -> Result<bool, Error> {
        if plan.validate().is_err() {
            return Ok(false);
        }
        Ok(self.run(plan, false)?.shows(self.signature))
    }

    /// Runs a plan. Pins that nothing asks for any more, and faults that find no occasion any more, are no matter here; a
    /// harness error is, for it says nothing about the model.
    fn run(&mut self, plan: &Plan, tells_decisions: bool) -> Result<Answer, Error> {
        let options =
            TrialOptions { is_judged: true, are_pins_optional: true, tells_decisions, ..TrialOptions::default() };
        let answer = self.judge.judge(plan, options)?;
        self.run_count += 1;
        (self.progress)(self.run_count);
        match answer.harness_error() {
            Some(found) if found.signature != *self.signature => {
                Err(Error::harness(format!("the harness failed over a changed plan: {}", found.what)))
            }
            _ => Ok(answer),
        }
    }
}
