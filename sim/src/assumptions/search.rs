//! The runs that show what a failure rests on.

use super::evidence::Evidence;
use super::kept::{Decisions, Item, Kept};
use super::list::{self, Switch, basis_of};
use super::{Assumptions, DRAW_COUNT, Decided, Draws, Free, Instead, Need, Planned, RUNS_MAX, Switched, Value};
use crate::error::Error;
use crate::questions::{QUESTIONS, Question};
use crate::signature::Signature;
use crate::trial::{Answer, Judge, TrialOptions};
use scenarios::plan::{Plan, Severity};
use scenarios::seed::{Entropy, Seed};

/// A search under way.
pub(super) struct Search<'a> {
    judge: &'a mut dyn Judge,
    progress: &'a mut dyn FnMut(u64),
    signature: &'a Signature,
    /// The plan with nothing left to chance, and calm wherever nothing is pinned.
    plan: Plan,
    /// Its switches.
    switches: Vec<Switch>,
    /// Its decisions that are not the platform's: they stay what they were.
    others: Decisions,
    /// All that it assumes of the platform.
    all: Kept,
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
        let switches = list::switches(plan);
        let (all, others) = (Kept::default(), Decisions::new());
        let plan = plan.clone();
        let mut search =
            Search { judge, progress, signature, plan, switches, others, all, asked: vec![], run_count: 0 };
        let answer = search.run(&search.plan.clone(), true)?;
        if !answer.shows(signature) {
            return Err(Error::usage(format!("the plan does not show {signature}: nothing rests on anything")));
        }
        let is_asked = |question: &&Question| answer.decisions.iter().any(|(name, _)| question.is_of(name));
        let of_platform = QUESTIONS.iter().filter(|question| !question.facts.is_empty());
        search.asked = of_platform.filter(is_asked).collect();
        let pins = answer.decisions.into_iter().filter(|(_, value)| *value > 0);
        let is_assumed = |name: &str| search.asked.iter().any(|question| question.is_of(name));
        let (decisions, others) = pins.partition(|(name, _)| is_assumed(name));
        search.others = others;
        let (faults, switches) = ((0..search.plan.faults.len()).collect(), (0..search.switches.len()).collect());
        search.all = Kept { faults, switches, decisions };
        search.plan.entropy = None;
        let calm = Plan {
            world: scenarios::plan::World { severity: Severity::Calm, ..search.plan.world.clone() },
            ..search.plan.clone()
        };
        let own = std::mem::replace(&mut search.plan, calm);
        if !search.fails(&search.all.clone())? {
            search.plan = own;
        }
        Ok(search)
    }

    /// Everything that can be found within the budget.
    pub fn find(mut self) -> Result<Assumptions, Error> {
        let needed = self.needed()?;
        let is_minimal = self.run_count < RUNS_MAX;
        let (mut decisions, mut free) = (Vec::new(), Vec::new());
        for question in self.asked.clone() {
            let draws = self.draws(question, &needed)?;
            let values = self.values(question, &needed)?;
            if values.is_empty() {
                free.push(Free { about: question.noun, draws });
                continue;
            }
            let each = values.iter().map(|value| Evidence::of(question.proof_of(value.least)));
            let evidence = each.max_by_key(|evidence| evidence.grade).expect("there is a value");
            let need = self.need(Item::Question(question), &needed)?;
            decisions.push(Decided { about: question.noun, values, draws, need, evidence });
        }
        let faults = self.faults(&needed)?;
        let switches = self.switched(&needed)?;
        let (signature, run_count) = (self.signature.clone(), self.run_count);
        Ok(Assumptions { signature, decisions, free, faults, switches, run_count, is_minimal })
    }

    /// As little as still leads to the failure while everything else is otherwise, all at once: with any one of it left
    /// out there is no failure, unless the runs are spent.
    fn needed(&mut self) -> Result<Kept, Error> {
        let mut kept = self.all.clone();
        self.keep_if_fails(&mut kept, |all| Kept { decisions: Decisions::new(), ..all.clone() })?;
        for question in self.asked.clone() {
            self.keep_if_fails(&mut kept, |kept| kept.without(Item::Question(question)))?;
        }
        let mut size = kept.decisions.len() / 2;
        while size > 1 {
            self.thin(&mut kept, size)?;
            size /= 2;
        }
        loop {
            let before = kept.clone();
            for item in self.faults_and_switches() {
                self.keep_if_fails(&mut kept, |kept| kept.without(item))?;
            }
            self.thin(&mut kept, 1)?;
            if kept == before {
                return Ok(kept);
            }
        }
    }

    /// Leaves out decisions, so many at once.
    fn thin(&mut self, kept: &mut Kept, size: usize) -> Result<(), Error> {
        let mut from = 0;
        while from < kept.decisions.len() {
            let without = |kept: &Kept| {
                let is_left = |at: usize| !(from..from + size).contains(&at);
                let left = kept.decisions.iter().enumerate().filter(|(at, _)| is_left(*at));
                let decisions = left.map(|(_, (name, value))| (name.clone(), *value)).collect();
                Kept { decisions, ..kept.clone() }
            };
            if !self.keep_if_fails(kept, without)? {
                from += size;
            }
        }
        Ok(())
    }

    fn faults_and_switches(&self) -> Vec<Item> {
        let faults = (0..self.plan.faults.len()).map(Item::Fault);
        faults.chain((0..self.switches.len()).map(Item::Switch)).collect()
    }

    /// Takes less if the failure shows with it.
    fn keep_if_fails(&mut self, kept: &mut Kept, less: impl FnOnce(&Kept) -> Kept) -> Result<bool, Error> {
        let less = less(kept);
        let is_kept = less != *kept && self.run_count < RUNS_MAX && self.fails(&less)?;
        if is_kept {
            *kept = less;
        }
        Ok(is_kept)
    }

    /// Whether something is needed, and what does in its place: all else of the plan together first, then each by itself.
    fn need(&mut self, item: Item, needed: &Kept) -> Result<Need, Error> {
        if !needed.has(item) {
            return Ok(Need::Not);
        }
        if !self.fails(&self.all.without(item))? {
            return Ok(Need::Alone);
        }
        let mut instead = Vec::new();
        let questions = self.asked.iter().map(|question| Item::Question(question));
        let all = self.all.clone();
        let candidates: Vec<Item> = self.faults_and_switches().into_iter().chain(questions).collect();
        for other in candidates.into_iter().filter(|other| !needed.has(*other) && all.has(*other)) {
            if self.run_count < RUNS_MAX && self.fails(&needed.without(item).with(other, &all))? {
                instead.push(self.told(other));
            }
        }
        Ok(Need::OneOf(instead))
    }

    fn told(&self, item: Item) -> Instead {
        match item {
            Item::Fault(at) => {
                let fault = &self.plan.faults[at];
                Instead { what: format!("fault {at}: {fault}"), evidence: Evidence::of_basis(basis_of(fault)) }
            }
            Item::Switch(at) => {
                let switch = self.switches[at];
                let what = switch.told(self.plan.world.runtime_build);
                Instead { what, evidence: Evidence::of(switch.now.facts) }
            }
            Item::Question(question) => {
                let of_question = self.all.decisions.iter().filter(|(name, _)| question.is_of(name));
                let each = of_question.map(|(_, value)| Evidence::of(question.proof_of(*value)));
                let evidence = each.max_by_key(|evidence| evidence.grade).unwrap_or_else(|| Evidence::of(&[]));
                Instead { what: format!("{} as the plan draws it", question.noun), evidence }
            }
        }
    }

    /// The needed decisions of a question, each with the smallest value that does as well.
    fn values(&mut self, question: &Question, needed: &Kept) -> Result<Vec<Value>, Error> {
        let mut values = Vec::new();
        for (name, value) in needed.decisions.iter().filter(|(name, _)| question.is_of(name)) {
            let (mut too_small, mut least) = (0, *value);
            while too_small + 1 < least && self.run_count < RUNS_MAX {
                let middle = u64::midpoint(too_small, least);
                let mut changed = needed.clone();
                changed.decisions.insert(name.clone(), middle);
                if self.fails(&changed)? {
                    least = middle;
                } else {
                    too_small = middle;
                }
            }
            values.push(Value { name: name.clone(), value: *value, least, too_small });
        }
        Ok(values)
    }

    /// Other draws of a question, while every other decision of the plan stays calm or what the failure needs.
    fn draws(&mut self, question: &Question, needed: &Kept) -> Result<Draws, Error> {
        // Faults and switches as in the plan: a world that somebody made, not the least one.
        let plan = Kept { decisions: needed.decisions.clone(), ..self.all.clone() };
        let mut open = plan.in_plan(&self.plan, &self.switches, &self.others);
        let decisions = self.run(&open, true)?.decisions;
        open.pins = decisions.into_iter().filter(|(name, _)| !question.is_of(name)).collect();
        let mut draws = Draws::default();
        for severity in [Severity::Usual, Severity::Hostile] {
            open.world.severity = severity;
            for number in 0..DRAW_COUNT / 2 {
                open.entropy = Some(Entropy::of("assumptions", Seed(number)));
                draws.tried += 1;
                draws.failed += u64::from(self.shows(&open)?);
            }
        }
        Ok(draws)
    }

    fn faults(&mut self, needed: &Kept) -> Result<Vec<Planned>, Error> {
        let mut planned = Vec::new();
        for (index, fault) in self.plan.faults.clone().iter().enumerate() {
            let need = self.need(Item::Fault(index), needed)?;
            let evidence = Evidence::of_basis(basis_of(fault));
            planned.push(Planned { index, what: fault.to_string(), need, evidence });
        }
        Ok(planned)
    }

    fn switched(&mut self, needed: &Kept) -> Result<Vec<Switched>, Error> {
        let mut switched = Vec::new();
        for (at, switch) in self.switches.clone().into_iter().enumerate() {
            let need = self.need(Item::Switch(at), needed)?;
            let Instead { what, evidence } = self.told(Item::Switch(at));
            switched.push(Switched { what, other: switch.other.value, need, evidence });
        }
        Ok(switched)
    }

    fn fails(&mut self, kept: &Kept) -> Result<bool, Error> {
        self.shows(&kept.in_plan(&self.plan, &self.switches, &self.others))
    }

    fn shows(&mut self, plan: &Plan) -> Result<bool, Error> {
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
