//! One plan to one result: a fresh thread, a fresh world, bounds on everything, and each way to fail told apart.

use crate::callers::CALL_TIMEOUT_MS;
use crate::capture::{self, Caught};
use crate::check::{self, Judged};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::planted::{self, Leak};
use crate::recorder::{self, Keep, Recording};
use crate::world;
use scenarios::decision::is_stray;
use scenarios::invariants::{Kind, Violation};
use scenarios::plan::Plan;
use scenarios::reach::Reached;
use scenarios::trace::{Drawn, Trace};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Stack of the thread of a run, in bytes.
pub const STACK_BYTES: usize = 8 * 1024 * 1024;

/// How a plan is run; nothing here changes what a sound run does.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Whether events are kept; without them nothing can be judged.
    pub keep: Keep,
    /// Whether a kept trace is judged; only a measurement has a reason not to.
    pub is_judged: bool,
    /// Seed of the simulator's own generator, on which nothing observable should depend.
    pub scheduler_seed: u64,
    /// Nondeterminism to plant.
    pub leak: Option<Leak>,
    /// Whether pins that the run does not ask for, or that do not fit, are told in place of voiding it: while a plan is
    /// being cut down its pins lose what they are about.
    pub are_pins_optional: bool,
    /// Whether a judged run also says how close it came to each row of reach.
    pub counts_reach: bool,
    /// Wall-clock time after which the run is given up as a harness error; it never decides a verdict.
    pub wall_limit: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            keep: Keep::Trace,
            is_judged: true,
            scheduler_seed: 0,
            leak: None,
            are_pins_optional: false,
            counts_reach: false,
            wall_limit: Duration::from_secs(60),
        }
    }
}

/// Bounds of a run, in units that do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Polls and turns: more is a livelock of the model.
    pub step_max: u64,
    /// Virtual ms: more means that something waits for ever.
    pub virtual_ms_max: u64,
    /// Recorded events.
    pub event_max: u32,
}

impl Budget {
    /// Generous bounds for a plan: they grow with what it asks for.
    pub fn for_plan(plan: &Plan) -> Self {
        let steps: usize = plan.clients.iter().map(|client| client.steps.len() + 1).sum();
        let calls: usize = plan.callers.iter().map(|caller| caller.calls.len()).sum();
        let steps = (steps + calls) as u64;
        let spans = plan.settle.quiet_ms + plan.settle.quiet_after_ms + plan.config.session_timeout_ms;
        let of_clients = plan.clients.iter().map(|client| longest_ms(client, plan));
        let of_callers = plan.callers.iter().map(|caller| {
            let last_ms = caller.calls.iter().map(|call| call.at_ms).max().unwrap_or(0);
            last_ms + caller.calls.len() as u64 * CALL_TIMEOUT_MS
        });
        let waits: u64 = of_clients.chain(of_callers).max().unwrap_or(0);
        Self {
            step_max: 20_000_000 + 200_000 * steps,
            virtual_ms_max: 24 * 60 * 60 * 1000 + 2 * (spans + waits),
            event_max: u32::try_from(1_000_000 + 2_000 * steps).unwrap_or(u32::MAX),
        }
    }
}

/// The longest that a client can take: each step at its latest, each request until it is given up.
fn longest_ms(client: &scenarios::plan::ClientPlan, plan: &Plan) -> u64 {
    let last_ms = client.steps.iter().map(|step| step.at_ms).max().unwrap_or(0);
    // A touch at the end is a step more; opening takes two requests.
    let waits = (client.steps.len() as u64 + 2) * 2;
    last_ms + waits * (client.request_timeout_ms + plan.config.session_timeout_ms)
}

/// What the world is told beside the plan.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Bounds to enforce: steps in the model's door, virtual time in the runtime; events are the recorder's.
    pub budget: Budget,
    /// See [`RunOptions::scheduler_seed`].
    pub scheduler_seed: u64,
    /// See [`RunOptions::leak`].
    pub leak: Option<Leak>,
    /// See [`RunOptions::are_pins_optional`].
    pub are_pins_optional: bool,
}

/// What the world answers beside the recorded events.
#[derive(Clone, Debug, Default)]
pub struct WorldResult {
    /// When the run ended, in virtual ms since its start.
    pub ends_at_ms: u64,
    /// Operations that began.
    pub operation_count: u64,
    /// Every decision, in the order taken.
    pub decisions: Vec<Drawn>,
    /// One row a fault of the plan, in its order.
    pub fault_ledger: Vec<FaultRow>,
    /// Pins of the plan that no decision asked for; where pins are optional, also those that did not fit.
    pub unknown_pins: Vec<String>,
    /// Why the world could not obey the plan: a harness error.
    pub stopped: Option<String>,
}

/// What became of one fault of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRow {
    /// Index in the plan's `faults`.
    pub fault: usize,
    /// Deliveries that the plan asks for; at least 1.
    pub requested: u64,
    /// How often its trigger was set.
    pub armed: u64,
    /// How often its effect happened.
    pub delivered: u64,
}

/// Something that a person should know about a run.
#[derive(Clone, Debug)]
pub enum Finding {
    /// A claim does not hold.
    Violation {
        /// Kind of the claim.
        kind: Kind,
        /// Name of the invariant.
        invariant: &'static str,
        /// The claim in one sentence.
        claim: &'static str,
        /// Where it fails, at least one.
        violations: Vec<Violation>,
    },
    /// The model panicked, or never came to rest.
    Crash(Caught),
    /// A fault of the plan did not happen.
    Unmet(FaultRow),
    /// The harness failed.
    Harness {
        /// What happened, in one sentence.
        what: String,
        /// The panic behind it, if one is.
        panic: Option<Caught>,
    },
}

impl Finding {
    /// The exit code that this finding alone leads to.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Violation { kind: Kind::Eventually, .. } => ExitCode::Liveness,
            Self::Violation { .. } => ExitCode::Safety,
            Self::Crash(_) => ExitCode::Crash,
            Self::Unmet(_) => ExitCode::Unmet,
            Self::Harness { .. } => ExitCode::Harness,
        }
    }

    fn harness(what: impl Into<String>) -> Self {
        Self::Harness { what: what.into(), panic: None }
    }
}

/// A run and what it showed.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// What happened; without events when they were only digested.
    pub trace: Trace,
    /// How many events there were, kept or not.
    pub event_count: u64,
    /// Every invariant with its verdict; none when there was nothing to judge.
    pub judged: Vec<Judged>,
    /// How close it came to each row of reach, in their order; none where that was not asked for or could not be judged.
    pub reached: Vec<Reached>,
    /// What is wrong, gravest first.
    pub findings: Vec<Finding>,
    /// The faults of the plan.
    pub faults: Vec<FaultRow>,
    /// Pins that had no effect, where pins are optional.
    pub unused_pins: Vec<String>,
    /// Why the pins of the plan do not fit the run, in one sentence, where they must: whoever handed the plan in is to
    /// be told. The run is void, and has a harness error as well, for those who made the plan themselves.
    pub refused: Option<String>,
}

impl RunResult {
    /// The exit code of all findings together.
    pub fn outcome(&self) -> ExitCode {
        ExitCode::merge(self.findings.iter().map(Finding::exit_code))
    }
}

/// What a world is: the real one, or a small one of a test.
type WorldFn = fn(&Plan, &WorldOptions) -> WorldResult;

/// Runs a plan on a thread of its own and judges what happened.
///
/// # Errors
/// A harness error when not even a thread or the recorder is to be had.
pub fn run_plan(plan: &Plan, options: &RunOptions) -> Result<RunResult, Error> {
    run_in(world::run_world, plan, options)
}

fn run_in(world: WorldFn, plan: &Plan, options: &RunOptions) -> Result<RunResult, Error> {
    recorder::install()?;
    let (send, receive) = mpsc::sync_channel(1);
    let budget = Budget::for_plan(plan);
    let keep = options.keep;
    let wanted = Wanted {
        is_judged: options.is_judged && keep == Keep::Trace,
        counts_reach: options.counts_reach,
        are_pins_optional: options.are_pins_optional,
    };
    let are_pins_optional = options.are_pins_optional;
    let told = WorldOptions { budget, scheduler_seed: options.scheduler_seed, leak: options.leak, are_pins_optional };
    let of_thread = plan.clone();
    let thread = std::thread::Builder::new().name("run".to_owned()).stack_size(STACK_BYTES).spawn(move || {
        if let Some(leak) = told.leak {
            planted::prepare(leak);
        }
        recorder::begin(keep, budget.event_max);
        let answer = capture::guarded(|| world(&of_thread, &told));
        // Nobody listens any more when the run was given up.
        let _ = send.send((answer, recorder::finish()));
    });
    let thread = thread.map_err(|error| Error::harness(format!("no thread for a run: {error}")))?;
    let (answer, recording) = match wait(&receive, options.wall_limit) {
        Ok(done) => done,
        Err(what) => return Ok(RunResult { findings: vec![Finding::harness(what)], ..RunResult::default() }),
    };
    // Its thread-locals are gone only once it is: memory is counted after the run, not beside it.
    let ended = thread.join();
    let mut result = assemble(plan, wanted, answer, recording);
    if ended.is_err() {
        result.findings.push(Finding::harness("the thread of the run panicked while it ended"));
    }
    result.findings.sort_by_key(|finding| finding.exit_code().gravity());
    Ok(result)
}

#[expect(clippy::disallowed_methods, reason = "this thread is outside the simulation and its clock is the real one")]
fn wait<T>(from: &Receiver<T>, wall_limit: Duration) -> Result<T, String> {
    from.recv_timeout(wall_limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => {
            format!("the run did not end within {} s of wall-clock time", wall_limit.as_secs_f64())
        }
        RecvTimeoutError::Disconnected => "the thread of the run ended without an answer".to_owned(),
    })
}

/// What is wanted of a run once it is over.
#[derive(Clone, Copy)]
struct Wanted {
    is_judged: bool,
    counts_reach: bool,
    are_pins_optional: bool,
}

fn assemble(plan: &Plan, wanted: Wanted, answer: Result<WorldResult, Caught>, recording: Recording) -> RunResult {
    let mut findings = Vec::new();
    let world = answer.unwrap_or_else(|caught| {
        let ends_at_ms = caught.at_ms;
        findings.push(classify(caught));
        WorldResult { ends_at_ms, ..WorldResult::default() }
    });
    let are_unknown = !wanted.are_pins_optional && !world.unknown_pins.is_empty();
    let refused = world.stopped.or_else(|| are_unknown.then(|| unknown_pins(&world.unknown_pins)));
    findings.extend(refused.clone().map(Finding::harness));
    // What the platform did by itself may have taken a fault's occasion.
    let has_strayed = world.decisions.iter().any(|drawn| drawn.value > 0 && is_stray(&drawn.name.what));
    let must_happen = |row: &&FaultRow| !has_strayed && plan.faults.get(row.fault).is_none_or(|fault| !fault.may_miss);
    let undelivered = world.fault_ledger.iter().filter(|row| row.delivered < row.requested).filter(must_happen);
    findings.extend(undelivered.cloned().map(Finding::Unmet));
    let trace = Trace {
        events: recording.events,
        decisions: world.decisions,
        ends_at_ms: world.ends_at_ms,
        operation_count: world.operation_count,
        telemetry_digest: recording.telemetry_digest,
        run_digest: recording.run_digest,
    };
    // A harness that failed proves nothing about the model.
    let can_judge = wanted.is_judged && findings.iter().all(|finding| finding.exit_code() != ExitCode::Harness);
    let (judged, reached) =
        if can_judge { check::judge(plan, &trace, wanted.counts_reach) } else { (Vec::new(), Ok(Vec::new())) };
    findings.extend(judged.iter().filter_map(Judged::finding));
    let reached = reached.unwrap_or_else(|caught| {
        findings.push(Finding::Harness { what: "the judging of reach panicked".to_owned(), panic: Some(caught) });
        Vec::new()
    });
    let unused_pins = if wanted.are_pins_optional { world.unknown_pins } else { Vec::new() };
    RunResult {
        trace,
        event_count: recording.event_count,
        judged,
        reached,
        findings,
        faults: world.fault_ledger,
        unused_pins,
        refused,
    }
}

/// Tells a panic of the model from one of the harness, by where it came from and what it says.
fn classify(caught: Caught) -> Finding {
    let harness = |what: &str| Finding::Harness { what: what.to_owned(), panic: Some(caught.clone()) };
    if caught.message.starts_with("step budget") {
        return Finding::Crash(caught);
    }
    if caught.file.starts_with("madsim") {
        if caught.message.starts_with("no events, all tasks will block forever") {
            return harness("every task waits and nothing is due, so the run can never end");
        }
        if caught.message.starts_with("time limit exceeded") {
            return harness("the run did not end within its virtual time");
        }
        return harness("the simulated runtime panicked");
    }
    if caught.file.starts_with("sim/") || caught.file.starts_with("scenarios/") {
        return harness("the harness panicked");
    }
    Finding::Crash(caught)
}

fn unknown_pins(pins: &[String]) -> String {
    let shown: Vec<_> = pins.iter().take(3).map(|pin| format!("`{}`", crate::text::shortened(pin, 80))).collect();
    let more = pins.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the plan pins decisions that this run never took: {}{more}: correct or remove them", shown.join(", "))
}

#[cfg(test)]
pub(crate) mod tests;
