//! Worker processes: started, asked one run at a time, and replaced when they hang or die, so that a bad run costs one run.

use crate::error::Error;
use crate::trial::{Answer, TrialOptions};
use scenarios::bad_input::BadInput;
use scenarios::document::message;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Signals that a process brings upon itself; any other comes from somebody else.
const OWN_SIGNALS: [i32; 6] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP];
/// Memory that a worker may map if nothing else is said, in MiB; its allocator alone reserves one GiB.
pub const MEMORY_LIMIT_MIB: u64 = 4_096;
/// Wall-clock time that a run of a campaign may take if nothing else is said, in seconds.
pub const RUN_LIMIT_S: u64 = 30;
/// How much of what a worker said on standard error is kept, in bytes.
const TAIL_BYTES: usize = 4096;
/// Workers that may be lost over one run before it is given up, whoever ends them.
const LOSSES_MAX: usize = 20;
/// How long an interruption may go unnoticed while a worker runs.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);

/// One run that a worker is asked for: a line of JSON on its standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Id of the scenario; only to name the run where there is a plan.
    pub scenario: String,
    /// Seed, in decimal; only to name the run where there is a plan.
    pub seed: String,
    /// The plan to run as it is; without it the scenario draws one from the seed, with the worker's own changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
    /// What is done beyond running.
    #[serde(default)]
    pub trial: TrialOptions,
    /// Where to write the trace, which is kept and judged then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
}

impl Job {
    /// The run of a seed.
    pub fn of_seed(scenario: &str, seed: Seed, trial: TrialOptions) -> Self {
        Self { scenario: scenario.to_owned(), seed: seed.to_string(), plan: None, trial, trace: None }
    }

    /// Reads the line of a job.
    ///
    /// # Errors
    /// Anything that is no job, and a plan that is not valid.
    pub fn parse(line: &[u8]) -> Result<Self, BadInput> {
        let job: Self = message(line, "job")?;
        job.plan.iter().try_for_each(|plan| plan.validate())?;
        Ok(job)
    }

    /// The run of a plan as it is.
    pub fn of_plan(plan: &Plan, trial: TrialOptions) -> Self {
        let plan_of = Some(Box::new(plan.clone()));
        Self { scenario: plan.scenario.clone(), seed: plan.seed.to_string(), plan: plan_of, trial, trace: None }
    }
}

/// How workers of one kind are started.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// Arguments after `worker`.
    pub arguments: Vec<String>,
    /// Working directory.
    pub directory: PathBuf,
    /// Whether the environment of this process is withheld.
    pub is_environment_cleared: bool,
    /// Variables set beside that.
    pub environment: Vec<(String, String)>,
    /// Wall-clock time that a run may take.
    pub wall_limit: Duration,
}

impl WorkerSpec {
    /// A worker in the circumstances of this process, whose runs may take so long.
    pub fn plain(wall_limit: Duration) -> Self {
        Self {
            arguments: vec![format!("--memory-limit-mib={MEMORY_LIMIT_MIB}")],
            directory: PathBuf::from("."),
            is_environment_cleared: false,
            environment: Vec::new(),
            wall_limit,
        }
    }
}

/// A worker that is kept alive.
pub struct Worker {
    spec: WorkerSpec,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// The end of what it said on standard error, once it is closed.
    complaints: Receiver<String>,
}

/// How a worker was lost over a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// In one sentence.
    pub how: String,
    /// Who ended it.
    pub by: LostBy,
}

/// Who ended a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostBy {
    /// It did: the run aborted it, overflowed its stack, or asked for too much.
    Itself,
    /// This process, which had waited long enough.
    Limit,
    /// Somebody else, by a signal: that says nothing about the run.
    Somebody,
}

impl Lost {
    fn by_itself(how: String) -> Self {
        Self { how, by: LostBy::Itself }
    }
}

impl Worker {
    /// A worker that is started when it is first asked.
    pub fn new(spec: WorkerSpec) -> Self {
        Self { spec, process: None }
    }

    /// Asks for one run. `Ok(Err(lost))` says how the worker was lost over it; the next question starts another.
    ///
    /// # Errors
    /// A harness error when no worker can be started; an interruption, soon after it was asked for.
    pub fn ask(&mut self, job: &Job) -> Result<Result<Answer, Lost>, Error> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => start(&self.spec)?,
        };
        let line = serde_json::to_string(job).expect("a job is plain data");
        let is_asked = writeln!(process.input, "{line}").and_then(|()| process.input.flush()).is_ok();
        let answered = if is_asked { receive(&process.lines, self.spec.wall_limit) } else { Answered::Died };
        match answered {
            _ if crate::interrupt::is_asked_for() => {
                process.end();
                Err(Error::Interrupted)
            }
            Answered::Line(line) => {
                self.process = Some(process);
                let answer = Answer::parse(line.as_bytes());
                Ok(answer.map_err(|error| Lost::by_itself(format!("the worker's answer cannot be read: {error}"))))
            }
            Answered::Died => Ok(Err(process.manner_of_death())),
            Answered::Late => {
                process.end();
                let limit = self.spec.wall_limit.as_secs_f64();
                let how = format!("no answer within {limit} s of wall-clock time, so the worker was ended");
                Ok(Err(Lost { how, by: LostBy::Limit }))
            }
        }
    }
}

impl Worker {
    /// Asks for a run until it is known how it ends: a worker that is lost is asked once more in a fresh one, and as long
    /// as somebody else ends them, again and again.
    ///
    /// # Errors
    /// As [`Worker::ask`].
    pub fn ask_surely(&mut self, job: &Job) -> Result<Known, Error> {
        let mut losses: Vec<Lost> = Vec::new();
        loop {
            match self.ask(job)? {
                Ok(answer) => return Ok(Known { answer: Ok(answer), losses }),
                Err(lost) => {
                    let is_told = lost.by != LostBy::Somebody && losses.iter().any(|loss| loss.by == lost.by);
                    if is_told || losses.len() >= LOSSES_MAX {
                        return Ok(Known { answer: Err(lost), losses });
                    }
                    losses.push(lost);
                }
            }
        }
    }
}

/// What is known of a run that was asked for until it is known how it ends.
#[derive(Clone, Debug)]
pub struct Known {
    /// What the worker answered, or how every worker is lost over it.
    pub answer: Result<Answer, Lost>,
    /// How workers were lost before that.
    pub losses: Vec<Lost>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.end();
        }
    }
}

impl Process {
    /// Ends it, whatever it is doing, and waits for it.
    fn end(mut self) {
        // It may sit in a loop and never look at its input again. That it is gone already is no failure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// How it ended, once its output is closed: nothing but its end closes it.
    fn manner_of_death(mut self) -> Lost {
        drop(self.input);
        let Ok(status) = self.child.wait() else {
            return Lost::by_itself("the worker died, nobody knows how".to_owned());
        };
        // Its last words arrive before the end of its complaints does, and that comes with its own end.
        let said = self.complaints.recv().unwrap_or_default();
        let why = last_words(&said).map_or_else(String::new, |words| format!(": {words}"));
        let is_own = status.signal().is_none_or(|signal| OWN_SIGNALS.contains(&signal));
        let by = if is_own { LostBy::Itself } else { LostBy::Somebody };
        Lost { how: format!("the worker died: {status}{why}"), by }
    }
}

/// This very program, also once its file was replaced by another build of it.
fn program() -> std::io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Ok(running) } else { std::env::current_exe() }
}

fn start(spec: &WorkerSpec) -> Result<Process, Error> {
    let cannot =
        |error: std::io::Error| Error::harness(format!("no worker can be started: {}", crate::files::reason(&error)));
    let mut command = Command::new(program().map_err(cannot)?);
    command.arg("worker").args(&spec.arguments).current_dir(&spec.directory);
    // Memory that a run gave back serves the next one in a moment: asking the system for it anew takes a tenth of the time.
    command.env("MIMALLOC_PURGE_DELAY", "-1");
    if spec.is_environment_cleared {
        command.env_clear();
    }
    command.envs(spec.environment.iter().cloned());
    // Ctrl-C in a terminal reaches a whole group: who asked a worker decides when it ends.
    command.process_group(0);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let input = child.stdin.take().expect("standard input is a pipe");
    let output = child.stdout.take().expect("standard output is a pipe");
    let errors = child.stderr.take().expect("standard error is a pipe");
    let (send, lines) = mpsc::channel();
    let reader = std::thread::Builder::new().name("worker output".to_owned());
    let reader = reader.spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    reader.map_err(cannot)?;
    let (send_last, complaints) = mpsc::channel();
    let listener = std::thread::Builder::new().name("worker complaints".to_owned());
    listener.spawn(move || drop(send_last.send(tail_of(errors)))).map_err(cannot)?;
    Ok(Process { child, input, lines, complaints })
}

/// The last [`TAIL_BYTES`] of what a worker says, read until it is gone so that it never waits for a reader.
fn tail_of(mut errors: impl Read) -> String {
    let mut tail = Vec::new();
    let mut piece = [0; 1024];
    while let Ok(length @ 1..) = errors.read(&mut piece) {
        tail.extend_from_slice(&piece[..length]);
        let surplus = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..surplus);
    }
    String::from_utf8_lossy(&tail).into_owned()
}

/// The line of a dying worker's complaints that says why, without ids of threads and processes.
fn last_words(said: &str) -> Option<String> {
    const KNOWN: [(&str, &str); 3] = [
        ("has overflowed its stack", "the stack overflowed"),
        ("memory allocation of", "no more memory was to be had"),
        ("panicked", "it panicked outside of a run"),
    ];
    let known = KNOWN.iter().find(|(words, _)| said.contains(words)).map(|(_, meaning)| (*meaning).to_owned());
    known.or_else(|| {
        let complaint = said.lines().rev().find_map(|line| line.strip_prefix("error: "))?;
        Some(crate::text::shortened(complaint, 300))
    })
}

enum Answered {
    Line(String),
    Died,
    Late,
}

#[expect(clippy::disallowed_methods, reason = "this process is outside the simulation and its clock is the real one")]
fn receive(lines: &Receiver<String>, wall_limit: Duration) -> Answered {
    let mut left = wall_limit;
    loop {
        let slice = left.min(LOOK_UP_EVERY);
        match lines.recv_timeout(slice) {
            Ok(line) => return Answered::Line(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Answered::Died,
            Err(mpsc::RecvTimeoutError::Timeout) => left -= slice,
        }
        if left.is_zero() || crate::interrupt::is_asked_for() {
            return Answered::Late;
        }
    }
}
