//! What a recorded step says came of it: clock, events, open gates, changes of state, counters.

use std::collections::BTreeMap;

use scenarios::bad_input::BadInput;
use serde_json::{Map, Value};

use super::fields::{Fields, shown};

/// What a step has beside its operation.
pub const AFTER: [&str; 5] = ["now", "ev", "open", "st", "c"];

/// Kinds of events, and how many members each has, its kind included: at least and at most.
const EVENTS: [(&str, usize, usize); 18] = [
    ("gate", 4, 5),
    ("rel", 2, 2),
    ("settle", 3, 4),
    ("log", 3, 3),
    ("span", 5, 5),
    ("flush", 2, 2),
    ("capture", 3, 3),
    ("claim", 2, 2),
    ("waitUntil", 3, 3),
    ("waited", 3, 3),
    ("opened", 3, 3),
    ("built", 4, 4),
    ("closed", 4, 4),
    ("connect", 3, 3),
    ("connClose", 5, 5),
    ("resolveMeta", 3, 3),
    ("timer", 2, 2),
    ("skip", 1, 1),
];

/// The fields of a session's state.
const STATE: [&str; 23] = [
    "init",
    "eng",
    "paused",
    "srv",
    "h",
    "counted",
    "reserved",
    "disposing",
    "starting",
    "last",
    "alarm",
    "kv",
    "leases",
    "responses",
    "waiters",
    "ka",
    "conns",
    "named",
    "resolved",
    "meta",
    "start",
    "ia",
    "da",
];

/// What was recorded after a step.
pub struct After {
    pub now_ms: i64,
    pub events: Vec<Value>,
    pub open: Vec<u64>,
    pub state: BTreeMap<usize, Map<String, Value>>,
    pub counters: Option<Value>,
}

/// Reads it; `opened` is how many gates were opened before the step, and afterwards those of the step too.
///
/// # Errors
/// Fields, events, sessions or gates that there are not, and gates out of their order.
pub fn read(fields: &Fields<'_>, opened: &mut u64, sessions: usize) -> Result<After, BadInput> {
    let now_ms = fields.number("now")?;
    let events = fields.list("ev")?;
    for (index, event) in events.iter().enumerate() {
        self::event(event, opened)
            .map_err(|problem| fields.wrong(&format!("ev[{index}]"), &problem, "take the recording again"))?;
    }
    let open = open(fields, *opened)?;
    let state = if fields.has("st") { state(&fields.object("st")?, sessions)? } else { BTreeMap::new() };
    let counters = if fields.has("c") { Some(counters(fields)?) } else { None };
    Ok(After { now_ms, events: events.to_vec(), open, state, counters })
}

fn event(event: &Value, opened: &mut u64) -> Result<(), String> {
    let members = event.as_array().ok_or_else(|| format!("is {}, expected a list", shown(event)))?;
    let kind = members.first().and_then(Value::as_str).unwrap_or_default();
    let Some((_, least, most)) = EVENTS.iter().find(|(known, ..)| *known == kind) else {
        let found = members.first().map_or("nothing".to_owned(), shown);
        return Err(format!("begins with {found}, which is no kind of event"));
    };
    if !(*least..=*most).contains(&members.len()) {
        let expected = if least == most { least.to_string() } else { format!("{least} or {most}") };
        return Err(format!("is a `{kind}` of {} members, expected {expected}", members.len()));
    }
    match (kind, members.get(1).and_then(Value::as_u64)) {
        ("gate", Some(id)) if id == *opened => *opened += 1,
        ("gate", _) => return Err(format!("is gate {}, expected {opened}, the next in order", shown(&members[1]))),
        ("rel", Some(id)) if id < *opened => {}
        ("rel", _) => return Err(format!("releases {}, and no such gate was opened", shown(&members[1]))),
        _ => {}
    }
    Ok(())
}

fn open(fields: &Fields<'_>, opened: u64) -> Result<Vec<u64>, BadInput> {
    let mut open: Vec<u64> = Vec::new();
    for (index, gate) in fields.list("open")?.iter().enumerate() {
        let wrong = |problem: &str| {
            let problem = format!("is {}, {problem}", shown(gate));
            fields.wrong(&format!("open[{index}]"), &problem, "list the open gates in the order of their opening")
        };
        let id = gate.as_u64().ok_or_else(|| wrong("expected the number of a gate"))?;
        if id >= opened {
            return Err(wrong("and no such gate was opened so far"));
        }
        if open.last().is_some_and(|last| *last >= id) {
            return Err(wrong("which was opened no later than the one before it"));
        }
        open.push(id);
    }
    Ok(open)
}

fn state(fields: &Fields<'_>, sessions: usize) -> Result<BTreeMap<usize, Map<String, Value>>, BadInput> {
    let mut state = BTreeMap::new();
    for name in fields.all().keys() {
        let Some(session) = name.parse().ok().filter(|session| *session < sessions) else {
            let problem = format!("is the state of no session, and there are {sessions}, counted from 0");
            return Err(fields.wrong(name, &problem, "name one that `cfg.sessions` has"));
        };
        let changes = fields.object(name)?;
        changes.only(&STATE)?;
        state.insert(session, changes.all().clone());
    }
    Ok(state)
}

fn counters(fields: &Fields<'_>) -> Result<Value, BadInput> {
    let counters = fields.object("c")?;
    counters.only(&["r", "p", "f", "reg", "dir"])?;
    for count in ["r", "p", "f"] {
        counters.number(count)?;
    }
    for (rows, members) in [("reg", 3), ("dir", 2)] {
        for (index, row) in counters.list(rows)?.iter().enumerate() {
            if row.as_array().map(Vec::len) != Some(members) {
                let problem = format!("is {}, expected a list of {members} members", shown(row));
                return Err(counters.wrong(&format!("{rows}[{index}]"), &problem, "take the recording again"));
            }
        }
    }
    Ok(Value::Object(counters.all().clone()))
}
