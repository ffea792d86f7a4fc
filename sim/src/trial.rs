//! A trial: one plan run and judged, and what it showed, small enough to cross from a worker to who asked.

use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::recorder::Keep;
use crate::report::hex;
use crate::run::{Finding, RunOptions, RunResult, run_plan};
use crate::signature::{Signature, general};
use crate::supervisor::{Job, Worker, WorkerSpec};
use scenarios::bad_input::BadInput;
use scenarios::document::message;
use scenarios::invariants::Verdict;
use scenarios::plan::Plan;
use scenarios::reach;
use serde::{Deserialize, Serialize};

/// What is wanted of a trial beyond its digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrialOptions {
    /// Whether the claims are judged; otherwise the run is only digested.
    pub is_judged: bool,
    /// See [`RunOptions::are_pins_optional`].
    pub are_pins_optional: bool,
    /// Whether every decision of the run is told.
    pub tells_decisions: bool,
    /// Whether it is told how close the run came to each row of reach.
    pub counts_reach: bool,
}

/// What a trial showed: a worker's answer, as a line of JSON on its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Exit code that the run alone would lead to.
    pub exit_code: u8,
    /// What was found, gravest first.
    pub findings: Vec<Found>,
    /// Claims that could not be told, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
    /// Pins that had no effect, where pins are optional.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_pins: Vec<String>,
    /// Every decision in the order taken, name and value, if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<(String, u64)>,
    /// How often each fault of the plan was delivered, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<u64>,
    /// How close the run came to each row of reach, a digit a row in their order, if asked for: 0 where it came there,
    /// else the conditions that it lacked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reach: String,
    /// Recorded events.
    pub event_count: u64,
    /// Digest of the telemetry, 16 hexadecimal digits.
    pub telemetry_digest: String,
    /// Digest of the whole run, 16 hexadecimal digits.
    pub run_digest: String,
}

/// One finding of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// What it is folded by.
    pub signature: Signature,
    /// What happened in one sentence, without numbers: how findings of one signature differ in wording.
    pub what: String,
}

impl Answer {
    /// What is told of a run.
    pub fn of(result: &RunResult, plan: &Plan, options: TrialOptions) -> Self {
        let untold = result.judged.iter().filter(|judged| matches!(judged.verdict, Ok(Verdict::CannotTell(_))));
        let decisions = result.trace.decisions.iter().filter(|_| options.tells_decisions);
        Self {
            exit_code: result.outcome().number(),
            findings: result.findings.iter().map(|finding| Found::of(finding, plan)).collect(),
            untold: untold.map(|judged| judged.name.to_owned()).collect(),
            unused_pins: result.unused_pins.clone(),
            decisions: decisions.map(|drawn| (drawn.name.to_string(), drawn.value)).collect(),
            deliveries: result.faults.iter().map(|row| row.delivered).collect(),
            reach: reach::written(&result.reached),
            event_count: result.event_count,
            telemetry_digest: hex(result.trace.telemetry_digest),
            run_digest: hex(result.trace.run_digest),
        }
    }

    /// Reads the line of an answer.
    ///
    /// # Errors
    /// Anything that is no answer.
    pub fn parse(line: &[u8]) -> Result<Self, BadInput> {
        message(line, "answer")
    }

    /// A run that its worker was lost over: nothing is known of the model.
    pub fn lost(how: &str) -> Self {
        let signature = Signature::new(ExitCode::Harness, "run-ends", &general(how));
        let found = Found { signature, what: how.to_owned() };
        Self { exit_code: ExitCode::Harness.number(), findings: vec![found], ..Self::default() }
    }

    /// Whether this signature is among what was found.
    pub fn shows(&self, signature: &Signature) -> bool {
        self.findings.iter().any(|found| found.signature == *signature)
    }

    /// The harness error that voids the trial, if there is one.
    pub fn harness_error(&self) -> Option<&Found> {
        self.findings.iter().find(|found| found.signature.outcome == ExitCode::Harness)
    }
}

impl Found {
    fn of(finding: &Finding, plan: &Plan) -> Self {
        let what = match finding {
            Finding::Violation { violations, .. } => violations.first().map_or("", |first| first.what.as_str()),
            Finding::Crash(caught) => caught.message.as_str(),
            Finding::Unmet(_) => "a fault of the plan was not delivered",
            Finding::Harness { what, panic: None } => what.as_str(),
            Finding::Harness { what, panic: Some(caught) } => &format!("{what}: {}", caught.message),
        };
        Self { signature: Signature::of(finding, plan), what: general(what) }
    }
}

/// Whoever can try a plan: a worker process, or, where nothing can go wrong, this one.
pub trait Judge {
    /// Runs and judges a plan.
    ///
    /// # Errors
    /// A harness error when it cannot be tried at all; an interruption.
    fn judge(&mut self, plan: &Plan, options: TrialOptions) -> Result<Answer, Error>;
}

/// Tries plans in this process. A plan that hangs or aborts takes the process with it: for tests and for plans that
/// are known to end.
pub struct Here;

impl Judge for Here {
    fn judge(&mut self, plan: &Plan, options: TrialOptions) -> Result<Answer, Error> {
        let run = RunOptions {
            keep: if options.is_judged { Keep::Trace } else { Keep::DigestOnly },
            are_pins_optional: options.are_pins_optional,
            counts_reach: options.counts_reach,
            ..RunOptions::default()
        };
        Ok(Answer::of(&run_plan(plan, &run)?, plan, options))
    }
}

/// Tries plans in a worker process, which is replaced when it is lost.
pub struct InWorker(Worker);

impl InWorker {
    /// A worker that is started when it is first asked.
    pub fn new(spec: WorkerSpec) -> Self {
        Self(Worker::new(spec))
    }
}

impl Judge for InWorker {
    fn judge(&mut self, plan: &Plan, options: TrialOptions) -> Result<Answer, Error> {
        let known = self.0.ask_surely(&Job::of_plan(plan, options))?;
        Ok(known.answer.unwrap_or_else(|lost| Answer::lost(&lost.how)))
    }
}
