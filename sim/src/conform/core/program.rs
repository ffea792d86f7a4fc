//! Reading recorded programs: one JSON object a line, gzipped or plain.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use model::stand::{Act, Failure, Setup};
use scenarios::bad_input::BadInput;
use scenarios::document;
use serde_json::{Map, Value};

use super::after::{self, AFTER};
use super::fields::{self, Fields};
use super::{operation, setup};
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

/// Reads the programs of a file; `what` names it.
///
/// # Errors
/// A usage error: file, line and step, what is wrong there, and what to do.
pub fn read(bytes: &[u8], what: &str) -> Result<Vec<Program>, Error> {
    read_lines(bytes).map_err(|refusal| Error::from(refusal.in_file(what)))
}

/// What a file says of how its programs were recorded: what, and which. Nothing where it says nothing.
///
/// # Errors
/// As [`read`], for its first line.
pub fn origin(bytes: &[u8], what: &str) -> Result<BTreeMap<String, String>, Error> {
    let told = text(bytes).and_then(|text| match text.lines().next().filter(|line| is_head(line)) {
        Some(line) => head(line),
        None => Ok(BTreeMap::new()),
    });
    told.map_err(|refusal| Error::from(refusal.in_file(what)))
}

/// Whether the first line of a file is no program, but says how they were recorded.
fn is_head(line: &str) -> bool {
    line.trim_start().starts_with(r#"{"recording":"#)
}

fn head(line: &str) -> Result<BTreeMap<String, String>, BadInput> {
    let line: Value = document::without_doubles_anywhere(line, "recording")?;
    let place = "line 1";
    let Some(map) = line.as_object() else { return Ok(BTreeMap::new()) };
    let fields = Fields::new(map, place);
    fields.only(&["recording"])?;
    let recording = fields.object("recording")?;
    recording.all().keys().map(|name| Ok((name.clone(), recording.text(name)?.to_owned()))).collect()
}

fn read_lines(bytes: &[u8]) -> Result<Vec<Program>, BadInput> {
    let text = text(bytes)?;
    let mut programs = Vec::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        if number == 1 && is_head(line) {
            head(line)?;
            continue;
        }
        let program = program(line, number)?;
        if let Some(first) = lines.insert(program.id.clone(), number) {
            let problem = format!("`p` is {}, as that of line {first} is", shown(&program.id));
            return Err(BadInput::new(format!("line {number}"), problem, "give each program a number of its own"));
        }
        programs.push(program);
    }
    if programs.is_empty() {
        return Err(BadInput::new("the file", "holds no program", "write one JSON object a line"));
    }
    Ok(programs)
}

fn text(bytes: &[u8]) -> Result<String, BadInput> {
    let plain = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unfolded = Vec::new();
        let mut reader = MultiGzDecoder::new(bytes).take(BYTES_MAX as u64 + 1);
        reader.read_to_end(&mut unfolded).map_err(|error| {
            BadInput::new("the bytes", format!("are no whole gzip file: {error}"), "copy the file again")
        })?;
        if unfolded.len() > BYTES_MAX {
            let problem = format!("unfold to more than {} MiB", BYTES_MAX / (1024 * 1024));
            return Err(BadInput::new("the bytes", problem, "check that it is a file of programs, or split it"));
        }
        unfolded
    } else {
        bytes.to_vec()
    };
    String::from_utf8(plain).map_err(|error| {
        let place = format!("byte {}", error.utf8_error().valid_up_to());
        BadInput::new(place, "is neither of gzip nor of text in UTF-8", "check that it is a file of programs")
    })
}

fn shown(text: &str) -> String {
    printable(&shortened(text, 200)).into_owned()
}

fn program(line: &str, number: usize) -> Result<Program, BadInput> {
    let place = format!("line {number}");
    let line: Value = document::without_doubles_anywhere(line, "program").map_err(|refusal| {
        // The column counts within the line; the reader knows of one line only.
        let column = refusal.place.rsplit(' ').next().unwrap_or_default().to_owned();
        BadInput { place: format!("{place} column {column}"), ..refusal }
    })?;
    let Some(map) = line.as_object() else {
        return Err(BadInput::new(place, "a program is a JSON object and begins with {", "check that it is a program"));
    };
    let id = id(&Fields::new(map, &place))?;
    let place = format!("{place}, program {}", shown(&id));
    let fields = Fields::new(map, &place);
    fields.only(&["p", "seed", "name", "cfg", "steps"])?;
    if fields.has("seed") {
        fields.number("seed")?;
    }
    let name = if fields.has("name") { Some(fields.text("name")?.to_owned()) } else { None };
    let setup = setup::read(&fields.object("cfg")?)?;
    let told = fields.objects("steps")?;
    if told.is_empty() {
        return Err(fields.wrong("steps", "is empty", "a program has at least one step"));
    }
    if !are_within_reach(&setup, &told) {
        let problem = "has a time that is more than thirty years away";
        return Err(BadInput::new(place, problem, "correct the times in `cfg` and the `d` of its steps"));
    }
    let is_production = setup::is_production(&fields.object("cfg")?)?;
    let (mut steps, mut opened): (Vec<Step>, u64) = (Vec::new(), 0);
    for (index, fields) in told.iter().enumerate() {
        let place = format!("{place}, step {index}");
        let step = step(&Fields::new(fields.all(), &place), &steps, setup.sessions.len(), &mut opened)?;
        if is_production && step.operation == "init" {
            let problem = "`op` is \"init\", and `cfg.prod` says that there is none";
            return Err(BadInput::new(place, problem, "set `prod` to false"));
        }
        steps.push(step);
    }
    Ok(Program { id, name, setup, steps })
}

/// What a program is called.
fn id(fields: &Fields<'_>) -> Result<String, BadInput> {
    let is_directed = |text: &str| {
        text.strip_prefix('d').is_some_and(|k| !k.is_empty() && k.len() < 20 && k.bytes().all(|it| it.is_ascii_digit()))
    };
    match fields.any("p")? {
        Value::Number(number) if number.is_u64() => Ok(number.to_string()),
        Value::String(text) if is_directed(text) => Ok(text.clone()),
        other => {
            let problem = format!("is {}, expected a whole number, or \"d\" with one", fields::shown(other));
            Err(fields.wrong("p", &problem, "number the program so"))
        }
    }
}

/// The longest time that is understood, in milliseconds.
const MS_MAX: u64 = 1_000_000_000_000;

/// Whether every time of a program is one that can be added to another.
fn are_within_reach(setup: &Setup, steps: &[Fields<'_>]) -> bool {
    let advances = steps.iter().filter_map(|step| step.all().get("d").and_then(Value::as_u64));
    let advanced_ms = advances.fold(0u64, u64::saturating_add);
    let stored = setup.sessions.iter().flat_map(|session| {
        let activity = session.storage.data.get("last-activity-ms").and_then(Value::as_i64);
        activity.into_iter().chain(session.storage.alarm)
    });
    let settings = [setup.timeout, setup.max_paused, advanced_ms];
    settings.into_iter().chain(stored.map(i64::unsigned_abs)).all(|ms| ms <= MS_MAX)
}

fn step(fields: &Fields<'_>, before: &[Step], sessions: usize, opened: &mut u64) -> Result<Step, BadInput> {
    let (after, told): (Vec<_>, Vec<_>) = fields.all().iter().partition(|(field, _)| AFTER.contains(&field.as_str()));
    let map = |pairs: Vec<(&String, &Value)>| -> Map<String, Value> {
        pairs.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let (after, told) = (map(after), map(told));
    let told_fields = Fields::new(&told, fields.place());
    let doing = operation::doing(&told_fields, before, sessions)?;
    let operation = told_fields.text("op")?.to_owned();
    let after = after::read(&Fields::new(&after, fields.place()), opened, sessions)?;
    if before.is_empty() && after.counters.is_none() {
        return Err(fields.wrong("c", "is missing, and the first step has all counters", "take the recording again"));
    }
    let after::After { now_ms, events, open, state, counters } = after;
    Ok(Step { operation, told: Value::Object(told).to_string(), doing, now_ms, events, open, state, counters })
}
