//! Reading recorded programs: one JSON object a line, gzipped or plain.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use model::stand::{Act, Failure, Setup};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::text::{printable, shortened};

/// The most that a file of programs may unfold to.
pub const BYTES_MAX: usize = 512 * 1024 * 1024;

/// A recorded program.
#[derive(Debug)]
pub struct Program {
    /// What it is called: a number, or `d` with one.
    pub id: String,
    /// What a directed one is about.
    pub name: Option<String>,
    /// How the sessions are before it.
    pub setup: Setup,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A step with what was recorded after it.
#[derive(Debug)]
pub struct Step {
    /// The operation's name.
    pub operation: String,
    /// The operation as it stands in the file.
    pub told: String,
    /// What is done.
    pub doing: Doing,
    /// The clock after it.
    pub now_ms: i64,
    /// What happened, in order.
    pub events: Vec<Value>,
    /// Ids of the gates that are open after it.
    pub open: Vec<u64>,
    /// What has changed of each session.
    pub state: BTreeMap<usize, Map<String, Value>>,
    /// The counters, if they have changed.
    pub counters: Option<Value>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Doing {
    /// Something to a session.
    Act {
        /// The session.
        session: usize,
        /// What is done to it.
        act: Act,
    },
    /// Lets a call go on.
    Release {
        /// The gate where it waits.
        gate: u64,
        /// Whether the execution that it resumes pauses again.
        pauses: bool,
    },
    /// Makes one fail.
    Fail {
        /// The gate where it waits.
        gate: u64,
        /// How.
        failure: Failure,
    },
    /// Lets all go on, the oldest first, at most sixty.
    Drain,
    /// Moves the clock.
    Advance {
        /// By so many milliseconds.
        ms: u64,
    },
}

#[derive(Deserialize)]
struct Line {
    p: Value,
    name: Option<String>,
    cfg: Setup,
    steps: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
struct After {
    now: i64,
    ev: Vec<Value>,
    open: Vec<u64>,
    #[serde(default)]
    st: BTreeMap<usize, Map<String, Value>>,
    c: Option<Value>,
}

/// What a step has beside its operation.
const AFTER: [&str; 5] = ["now", "ev", "open", "st", "c"];

/// Reads the programs of a file; `what` names it.
///
/// # Errors
/// A usage error that names the line and says what is wrong there.
pub fn read(bytes: &[u8], what: &str) -> Result<Vec<Program>, Error> {
    let refuse = |problem: String| Error::usage(format!("{what}: {problem}"));
    let text = text(bytes).map_err(refuse)?;
    let mut programs = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |problem: String| refuse(format!("line {}: {problem}", index + 1));
        programs.push(program(line).map_err(wrong)?);
    }
    if programs.is_empty() {
        return Err(refuse("holds no program: expected one JSON object a line".to_owned()));
    }
    Ok(programs)
}

fn text(bytes: &[u8]) -> Result<String, String> {
    let plain = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unfolded = Vec::new();
        let mut reader = MultiGzDecoder::new(bytes).take(BYTES_MAX as u64 + 1);
        reader.read_to_end(&mut unfolded).map_err(|error| format!("is no whole gzip file: {error}"))?;
        if unfolded.len() > BYTES_MAX {
            return Err(format!("unfolds to more than {} MiB", BYTES_MAX / (1024 * 1024)));
        }
        unfolded
    } else {
        bytes.to_vec()
    };
    String::from_utf8(plain).map_err(|_| "is neither gzip nor text in UTF-8".to_owned())
}

fn shown(text: &str) -> String {
    printable(&shortened(text, 200)).into_owned()
}

fn program(line: &str) -> Result<Program, String> {
    let line: Line =
        serde_json::from_str(line).map_err(|error| format!("is no program: {}", shown(&error.to_string())))?;
    let id = line.p.as_str().map_or_else(|| line.p.to_string(), str::to_owned);
    let wrong = |problem: &str| format!("program {}: {problem}", shown(&id));
    if line.cfg.sessions.is_empty() {
        return Err(wrong("has no session"));
    }
    if !are_within_reach(&line) {
        return Err(wrong("has a time that is more than thirty years away"));
    }
    let mut steps: Vec<Step> = Vec::new();
    for (index, fields) in line.steps.into_iter().enumerate() {
        let wrong = |problem: String| format!("program {}, step {index}: {problem}", shown(&id));
        let step = step(fields, &steps, line.cfg.sessions.len()).map_err(wrong)?;
        steps.push(step);
    }
    Ok(Program { id, name: line.name, setup: line.cfg, steps })
}

/// The longest time that is understood, in milliseconds.
const MS_MAX: u64 = 1_000_000_000_000;

/// Whether every time of a program is one that can be added to another.
fn are_within_reach(line: &Line) -> bool {
    let advances = line.steps.iter().filter_map(|step| step.get("d").and_then(Value::as_u64));
    let advanced_ms = advances.fold(0u64, u64::saturating_add);
    let stored = line.cfg.sessions.iter().flat_map(|session| {
        let activity = session.storage.data.get("last-activity-ms").and_then(Value::as_i64);
        activity.into_iter().chain(session.storage.alarm)
    });
    let settings = [line.cfg.timeout, line.cfg.max_paused, advanced_ms];
    settings.into_iter().chain(stored.map(i64::unsigned_abs)).all(|ms| ms <= MS_MAX)
}

fn step(fields: Map<String, Value>, before: &[Step], sessions: usize) -> Result<Step, String> {
    let (after, operation): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(field, _)| AFTER.contains(&field.as_str()));
    let told = Value::Object(operation.clone()).to_string();
    let after: After = serde_json::from_value(Value::Object(after)).map_err(|error| shown(&error.to_string()))?;
    if let Some(session) = after.st.keys().find(|session| **session >= sessions) {
        return Err(format!("tells of session {session}, and there are {sessions}"));
    }
    let doing = doing(&operation, before, sessions)?;
    let operation = operation["op"].as_str().unwrap_or_default().to_owned();
    let (now_ms, events, open, state, counters) = (after.now, after.ev, after.open, after.st, after.c);
    Ok(Step { operation, told, doing, now_ms, events, open, state, counters })
}

fn doing(operation: &Map<String, Value>, before: &[Step], sessions: usize) -> Result<Doing, String> {
    let number = |field: &str| {
        operation.get(field).and_then(Value::as_u64).ok_or_else(|| format!("`{field}` must be a number, not negative"))
    };
    let name = operation.get("op").and_then(Value::as_str).ok_or("has no `op`")?;
    match name {
        "drain" => return Ok(Doing::Drain),
        "advance" => return Ok(Doing::Advance { ms: number("d")? }),
        "release" => {
            let pauses = operation.get("then").is_some_and(|then| then == "pause");
            return Ok(Doing::Release { gate: number("g")?, pauses });
        }
        "fail" => {
            let kind = operation.get("kind").cloned().unwrap_or_default();
            let failure = serde_json::from_value(kind).map_err(|error| shown(&error.to_string()))?;
            return Ok(Doing::Fail { gate: number("g")?, failure });
        }
        _ => {}
    }
    let act: Act =
        serde_json::from_value(Value::Object(operation.clone())).map_err(|error| shown(&error.to_string()))?;
    let session = match act {
        Act::KeepAliveEnds { i } | Act::AbortWait { i } => match before.get(i).map(|step| &step.doing) {
            Some(Doing::Act { session, .. }) => *session,
            _ => return Err(format!("step {i} began nothing")),
        },
        _ => usize::try_from(number("s")?).unwrap_or(usize::MAX),
    };
    if session >= sessions {
        return Err(format!("is of session {session}, and there are {sessions}"));
    }
    Ok(Doing::Act { session, act })
}
