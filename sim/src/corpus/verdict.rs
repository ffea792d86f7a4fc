//! Whether an entry still reaches its point: what its runs show against what was recorded.
//!
//! *Reached* means the same outcome, signature and deliveries, and the same decisions. *Drifted*: the point is reached, but
//! something around it has changed. *Lost*: it is not reached, or a plan that should hold does not.

use super::entry::{Entry, Shown};
use super::streams::Parting;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use crate::trial::{Answer, Judge, TrialOptions};

/// How a kept plan is tried: judged, with its decisions told, and with pins that lost what they are about told as well.
pub const TRIAL: TrialOptions =
    TrialOptions { is_judged: true, are_pins_optional: true, tells_decisions: true, counts_reach: false };

/// What an entry came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It reaches its point as it did when it was recorded.
    Reached,
    /// It reaches its point on another way.
    Drifted,
    /// It does not reach its point, or does not hold.
    Lost,
}

impl State {
    /// One word for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Drifted => "drifted",
            Self::Lost => "lost",
        }
    }
}

/// What an entry came to, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// In a word.
    pub state: State,
    /// The exit code that it alone leads to.
    pub code: ExitCode,
    /// Why it is lost, a sentence each.
    pub losses: Vec<String>,
    /// What is different although the point is reached, a sentence each.
    pub drifts: Vec<String>,
    /// How the decisions differ.
    pub parting: Parting,
}

/// The runs of an entry.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The plan as it is.
    pub as_it_is: Answer,
    /// The plan with what it is kept for switched on.
    pub broken: Option<Answer>,
}

impl Runs {
    /// Runs an entry.
    ///
    /// # Errors
    /// A harness error when no run can be tried at all; an interruption.
    pub fn of(entry: &Entry, judge: &mut dyn Judge) -> Result<Self, Error> {
        let as_it_is = judge.judge(&entry.plan, TRIAL)?;
        let broken = entry.broken_plan().map(|plan| judge.judge(&plan, TRIAL)).transpose()?;
        Ok(Self { as_it_is, broken })
    }

    /// Pins that have no effect in any of the runs.
    pub fn unused_pins(&self) -> Vec<&str> {
        let is_unused_too = |pin: &&String| self.broken.as_ref().is_none_or(|broken| broken.unused_pins.contains(pin));
        self.as_it_is.unused_pins.iter().filter(is_unused_too).map(String::as_str).collect()
    }
}

/// Judges the runs of an entry.
pub fn judge(entry: &Entry, runs: &Runs) -> Verdict {
    let mut judging = Judging::default();
    let expected = &entry.expected;
    judging.as_it_is(&expected.as_it_is, &runs.as_it_is);
    judging.deliveries(&entry.point.deliveries, &runs.as_it_is.deliveries);
    if let (Some(shown), Some(broken)) = (&expected.broken, &runs.broken) {
        judging.broken(shown, broken, &entry.keeps.names());
    }
    // A failure that is still shown proves that the point is reached, whatever the pins do; otherwise they are the proof.
    let is_proved = expected.broken.is_some() || expected.as_it_is.signature.is_some();
    for pin in runs.unused_pins() {
        let told = format!("the pin {pin} has no effect: no decision asks for it, or its range does not fit any more");
        if is_proved { judging.drifts.push(told) } else { judging.lose(ExitCode::Unmet, told) }
    }
    let has_decisions = runs.as_it_is.harness_error().is_none();
    let parting =
        if has_decisions { entry.point.decisions.parting(&runs.as_it_is.decisions) } else { Parting::default() };
    judging.decisions(&parting);
    if has_decisions && entry.point.telemetry_digest != runs.as_it_is.telemetry_digest {
        let (before, now) = (&entry.point.telemetry_digest, &runs.as_it_is.telemetry_digest);
        judging.drifts.push(format!("telemetry is {now}, was {before}"));
    }
    let Judging { losses, drifts, codes } = judging;
    let state = match (losses.is_empty(), drifts.is_empty()) {
        (true, true) => State::Reached,
        (true, false) => State::Drifted,
        (false, _) => State::Lost,
    };
    Verdict { state, code: ExitCode::merge(codes), losses, drifts, parting }
}

#[derive(Default)]
struct Judging {
    losses: Vec<String>,
    drifts: Vec<String>,
    codes: Vec<ExitCode>,
}

impl Judging {
    fn lose(&mut self, code: ExitCode, told: String) {
        self.losses.push(told);
        self.codes.push(code);
    }

    /// A harness that failed proves nothing; returns whether it did.
    fn is_void(&mut self, run: &str, answer: &Answer) -> bool {
        let Some(found) = answer.harness_error() else { return false };
        self.lose(ExitCode::Harness, format!("the harness failed {run}: {}", found.what));
        true
    }

    /// The plan as it is: nothing may be found that is not expected.
    fn as_it_is(&mut self, expected: &Shown, answer: &Answer) {
        if self.is_void("as it is", answer) {
            return;
        }
        for found in &answer.findings {
            if expected.signatures().all(|known| *known != found.signature) {
                let expected = &expected.outcome;
                let told = format!("as it is it shows {}, expected {expected}: {}", found.signature, found.what);
                self.lose(found.signature.outcome, told);
            }
        }
        self.shows("as it is", expected, answer);
    }

    /// The plan with a defect: it must show what it is kept for, and whatever else it shows is no harm.
    fn broken(&mut self, expected: &Shown, answer: &Answer, with: &str) {
        let run = format!("with {with}");
        if self.is_void(&run, answer) {
            return;
        }
        self.shows(&run, expected, answer);
        for found in &answer.findings {
            if expected.signatures().all(|known| *known != found.signature) {
                self.drifts.push(format!("{run} it also shows {}", found.signature));
            }
        }
    }

    /// That a run shows what is expected of it; that something stands beside it no more is drift.
    fn shows(&mut self, run: &str, expected: &Shown, answer: &Answer) {
        if let Some(signature) = expected.signature.as_ref().filter(|signature| !answer.shows(signature)) {
            self.lose(ExitCode::Unmet, format!("{run} it shows {}, expected {signature}", told(answer)));
        }
        for gone in expected.also.iter().filter(|also| !answer.shows(also)) {
            self.drifts.push(format!("{run} it no longer shows {gone}"));
        }
    }

    fn deliveries(&mut self, before: &[u64], now: &[u64]) {
        // A run that was lost tells of none.
        for (fault, (before, now)) in before.iter().zip(now).enumerate() {
            match now {
                now if now == before => {}
                0 => self.lose(ExitCode::Unmet, format!("faults[{fault}] is not delivered any more")),
                now => self.drifts.push(format!("faults[{fault}] is delivered {now} times, was {before}")),
            }
        }
    }

    fn decisions(&mut self, parting: &Parting) {
        if let Some(first) = parting.changed.first() {
            let count = parting.changed.len();
            let which = if count == 1 { String::new() } else { format!(", first of {count}") };
            let asked = match first.now {
                0 => "is asked no more".to_owned(),
                now => format!("is asked {now} times"),
            };
            self.drifts.push(format!("the decision {} {asked}, was {}{which}", first.stream, first.before));
        }
        if let Some(first) = parting.new.first() {
            let count = parting.new.len();
            let which = if count == 1 { String::new() } else { format!(", first of {count}") };
            self.drifts.push(format!("the decision {} is new{which}", first.stream));
        }
    }
}

fn told(answer: &Answer) -> String {
    let all: Vec<String> = answer.findings.iter().map(|found| found.signature.to_string()).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}

/// What is found in a run under a signature that is preferred, or else first.
pub fn about(answer: &Answer, is_meant: impl Fn(&Signature) -> bool) -> Option<&Signature> {
    answer.findings.iter().map(|found| &found.signature).find(|signature| is_meant(signature))
}

#[cfg(test)]
mod tests;
