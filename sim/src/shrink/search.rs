//! The search itself: tries candidates one after the other, keeps the least plan that still shows the failure, and
//! everything else that was met on the way.

use super::edit::{Edit, edits, is_valid};
use super::element::{elements, groups, without};
use super::number::{Place, places, simpler, value};
use super::weight::Weight;
use super::{Progress, told};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use crate::trial::{Answer, Judge, TrialOptions};
use scenarios::plan::{Core, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// Why a search ended before it was done.
pub(super) enum Stop {
    /// The budget was spent.
    Spent,
    /// A person stopped it.
    Interrupted,
    /// The harness failed over a candidate.
    Harness {
        /// What happened, in one sentence.
        what: String,
        /// The candidate.
        plan: Box<Plan>,
    },
    /// It cannot go on.
    Error(Error),
}

/// How candidates are run.
const TRIED: TrialOptions =
    TrialOptions { is_judged: true, are_pins_optional: true, tells_decisions: false, counts_reach: false };

/// A search under way.
pub(super) struct Search<'a> {
    /// Who tries plans.
    pub judge: &'a mut dyn Judge,
    /// Who is told of every run.
    pub progress: &'a mut dyn FnMut(&Progress),
    /// What must show.
    pub target: Signature,
    /// Runs that may be spent.
    pub run_max: u64,
    /// Runs that were spent.
    pub run_count: u64,
    /// The least plan so far that shows it.
    pub best: Plan,
    /// Whether the failure needs what is switched on: it does not show without defects, in the repaired core.
    pub needs_switches: bool,
    /// Digests of the candidates that do not show it.
    pub refused: BTreeSet<u64>,
    /// Signatures of the plan that was handed in.
    pub known: BTreeSet<Signature>,
    /// Other findings that were met, each with its least plan.
    pub others: BTreeMap<Signature, Plan>,
}

impl Search<'_> {
    /// Cuts and simplifies until a whole pass over all candidates changes nothing.
    pub fn run(&mut self) -> Result<(), Stop> {
        loop {
            self.cut_groups()?;
            self.cut_halves()?;
            self.halve_numbers()?;
            if !self.try_each()? {
                return Ok(());
            }
        }
    }

    /// Takes out what often goes together.
    fn cut_groups(&mut self) -> Result<(), Stop> {
        let mut at = 0;
        while let Some(group) = groups(&self.best).into_iter().nth(at) {
            if !self.attempt(without(&self.best, &group))? {
                at += 1;
            }
        }
        Ok(())
    }

    /// Takes out half of everything, then quarters of what is left, and so on, the later parts first.
    fn cut_halves(&mut self) -> Result<(), Stop> {
        let mut list = elements(&self.best);
        let mut size = list.len() / 2;
        while size > 0 {
            let mut end = list.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let gone = list[start..end].iter().cloned().collect();
                if self.attempt(without(&self.best, &gone))? {
                    list = elements(&self.best);
                }
                end = start.min(list.len());
            }
            size /= 2;
        }
        Ok(())
    }

    /// Looks for the simplest round number at each place, as if every larger one did as well: a quick way to near the
    /// end, which [`Search::try_each`] then checks.
    fn halve_numbers(&mut self) -> Result<(), Stop> {
        let mut at = 0;
        while let Some(place) = places(&self.best).into_iter().nth(at) {
            let before = value(&self.best, &place).unwrap_or(0);
            let list = simpler(&place, before);
            if let Some(simplest) = list.first()
                && self.attempt_number(&place, *simplest)?
            {
                // A gap of nothing is none.
                at += usize::from(!matches!(place, Place::Gap(_)) || *simplest > 0);
                continue;
            }
            let rounds: Vec<u64> = list.into_iter().skip(1).filter(|number| *number < before).collect();
            let (mut low, mut high) = (0, rounds.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                if self.attempt_number(&place, rounds[middle])? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            at += 1;
        }
        Ok(())
    }

    fn attempt_number(&mut self, place: &Place, number: u64) -> Result<bool, Stop> {
        let weight = Weight::of(&self.best);
        self.attempt_edit(&Edit::Number(place.clone(), number), &weight)
    }

    /// Tries every single edit; after one that is kept the rest is that of the new plan. Says whether any was kept.
    fn try_each(&mut self) -> Result<bool, Stop> {
        let mut is_changed = false;
        let mut at = 0;
        let mut list = edits(&self.best);
        let mut weight = Weight::of(&self.best);
        while at < list.len() {
            if self.attempt_edit(&list[at], &weight)? {
                is_changed = true;
                list = edits(&self.best);
                weight = Weight::of(&self.best);
            } else {
                at += 1;
            }
        }
        Ok(is_changed)
    }

    fn attempt_edit(&mut self, edit: &Edit, weight: &Weight) -> Result<bool, Stop> {
        edit.applied(&self.best, weight).map_or(Ok(false), |candidate| self.try_out(candidate))
    }

    /// Tries a candidate and keeps it if it is less than the best, valid, and shows the failure.
    fn attempt(&mut self, candidate: Plan) -> Result<bool, Stop> {
        if Weight::of(&candidate) >= Weight::of(&self.best) || !is_valid(&candidate) {
            return Ok(false);
        }
        self.try_out(candidate)
    }

    /// Runs a valid candidate that is less than the best, unless it was refused before, and keeps it if it shows the
    /// failure.
    fn try_out(&mut self, candidate: Plan) -> Result<bool, Stop> {
        let digest = candidate.digest().0;
        if self.refused.contains(&digest) {
            return Ok(false);
        }
        let answer = self.judge(&candidate)?;
        if !self.is_shown(&answer) || self.shows_otherwise(&candidate)? {
            self.refused.insert(digest);
            return Ok(false);
        }
        self.best = without_unused(candidate, &answer);
        Ok(true)
    }

    /// Whether a plan shows by itself what had to be switched on in the plan that was handed in: it fails for another
    /// reason then, such as a record that no host would have stored.
    fn shows_otherwise(&mut self, plan: &Plan) -> Result<bool, Stop> {
        if !self.needs_switches {
            return Ok(false);
        }
        let target = self.target.clone();
        Ok(self.ask(&switched_off(plan), TRIED)?.shows(&target))
    }

    /// Learns whether the failure needs what is switched on.
    pub fn learn_needs(&mut self) -> Result<(), Stop> {
        self.needs_switches = switched_off(&self.best) != self.best;
        self.needs_switches = self.needs_switches && !self.shows_otherwise(&self.best.clone())?;
        Ok(())
    }

    /// Runs a plan, and remembers what else it shows.
    pub fn judge(&mut self, plan: &Plan) -> Result<Answer, Stop> {
        let answer = self.ask(plan, TRIED)?;
        for found in &answer.findings {
            let signature = &found.signature;
            let is_cut = signature.outcome == ExitCode::Unmet;
            if is_cut || self.known.contains(signature) || *signature == self.target {
                continue;
            }
            let least = self.others.get(signature);
            if least.is_none_or(|least| Weight::of(plan) < Weight::of(least)) {
                self.others.insert(signature.clone(), without_unused(plan.clone(), &answer));
            }
        }
        Ok(answer)
    }

    /// Runs a plan as part of the budget.
    pub fn ask(&mut self, plan: &Plan, options: TrialOptions) -> Result<Answer, Stop> {
        if self.run_count >= self.run_max {
            return Err(Stop::Spent);
        }
        self.run_count += 1;
        let answer = self.judge.judge(plan, options).map_err(|error| match error {
            Error::Interrupted => Stop::Interrupted,
            other => Stop::Error(other),
        })?;
        (self.progress)(&Progress {
            run_count: self.run_count,
            run_max: self.run_max + 1,
            step_count: told::step_count(&self.best),
            session_count: told::session_count(&self.best),
            pin_count: self.best.pins.len() as u64,
        });
        match answer.harness_error() {
            Some(found) => Err(Stop::Harness { what: found.what.clone(), plan: Box::new(plan.clone()) }),
            None => Ok(answer),
        }
    }

    /// Whether the failure is shown, by a run in which every fault was delivered.
    pub fn is_shown(&self, answer: &Answer) -> bool {
        let is_unmet =
            |found: &crate::trial::Found| found.signature.outcome == ExitCode::Unmet && found.signature != self.target;
        answer.shows(&self.target) && !answer.findings.iter().any(is_unmet)
    }
}

/// The plan with nothing broken in it.
pub(super) fn switched_off(plan: &Plan) -> Plan {
    Plan { defects: Vec::new(), core: Core::default(), ..plan.clone() }
}

/// A plan without the pins that had no effect in its run.
fn without_unused(mut plan: Plan, answer: &Answer) -> Plan {
    for name in &answer.unused_pins {
        plan.pins.remove(name);
    }
    plan
}
