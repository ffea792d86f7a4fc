//! Worker processes: started, asked one run at a time, and replaced when they hang or die, so that a bad run costs one run.

use crate::error::Error;
use crate::trial::{Answer, TrialOptions};
use scenarios::bad_input::BadInput;
use scenarios::document::message;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

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

/// A worker that is kept alive.
pub struct Worker {
    spec: WorkerSpec,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Worker {
    /// A worker that is started when it is first asked.
    pub fn new(spec: WorkerSpec) -> Self {
        Self { spec, process: None }
    }

    /// Asks for one run. `Ok(Err(sentence))` says how the worker was lost over it; the next question starts another.
    ///
    /// # Errors
    /// A harness error when no worker can be started; an interruption, soon after it was asked for.
    pub fn ask(&mut self, job: &Job) -> Result<Result<Answer, String>, Error> {
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
                Ok(Answer::parse(line.as_bytes())
                    .map_err(|error| format!("the worker's answer cannot be read: {error}")))
            }
            Answered::Died => Ok(Err(format!("the worker died: {}", process.manner_of_death()))),
            Answered::Late => {
                process.end();
                let limit = self.spec.wall_limit.as_secs_f64();
                Ok(Err(format!("no answer within {limit} s of wall-clock time, so the worker was ended")))
            }
        }
    }
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
    fn manner_of_death(mut self) -> String {
        drop(self.input);
        self.child.wait().map_or_else(|_| "nobody knows how".to_owned(), |status| status.to_string())
    }
}

fn start(spec: &WorkerSpec) -> Result<Process, Error> {
    let cannot =
        |error: std::io::Error| Error::harness(format!("no worker can be started: {}", crate::files::reason(&error)));
    let program = std::env::current_exe().map_err(cannot)?;
    let mut command = Command::new(program);
    command.arg("worker").args(&spec.arguments).current_dir(&spec.directory);
    if spec.is_environment_cleared {
        command.env_clear();
    }
    command.envs(spec.environment.iter().cloned());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let input = child.stdin.take().expect("standard input is a pipe");
    let output = child.stdout.take().expect("standard output is a pipe");
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
    Ok(Process { child, input, lines })
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
