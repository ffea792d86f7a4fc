//! Doing to the class here what was done to the recorded one, gate by gate.
//!
//! A gate of the recording is found here by its session, its name, its argument and its place among equals that were opened
//! since the last release: when one release wakes several chains, which of them comes first to its next gate is the
//! library's.

use std::collections::BTreeMap;

use model::defect::DefectSet;
use model::stand::{OpenGate, Stand};
use serde_json::{Map, Value, json};

use super::compare::{Difference, exactly, sets};
use super::heard;
use super::program::{Doing, Program, Step};
use crate::capture::guarded;

/// What became of a program.
#[derive(Debug)]
pub struct Played {
    /// What it is called.
    pub id: String,
    /// What a directed one is about.
    pub name: Option<String>,
    /// Its steps.
    pub steps: Vec<StepPlayed>,
}

/// What became of a step.
#[derive(Debug, Default)]
pub struct StepPlayed {
    /// The operation.
    pub told: String,
    /// What was recorded of it, in order.
    pub recorded: Vec<Value>,
    /// What happened here, in order.
    pub here: Vec<Value>,
    /// Where they part.
    pub differences: Vec<Difference>,
    /// Stretches between two releases that it has.
    pub stretches: usize,
    /// Those of them in which what happened came in another order than recorded.
    pub reordered: usize,
}

impl Played {
    /// Whether every step agrees.
    pub fn is_whole(&self) -> bool {
        self.first_difference().is_none()
    }

    /// The first step that parts, with its number.
    pub fn first_difference(&self) -> Option<(usize, &StepPlayed)> {
        self.steps.iter().enumerate().find(|(_, step)| !step.differences.is_empty())
    }
}

/// Replays a program. With `to_the_end` it goes on behind the first step that parts, as far as gates can be matched. A panic
/// of the class is where it parts.
pub fn play(program: &Program, defects: &DefectSet, to_the_end: bool) -> Played {
    let mut steps = Vec::new();
    let played = guarded(|| heard::listening(|| play_steps(program, defects, to_the_end, &mut steps)));
    if let Err(caught) = played {
        let told = program.steps.get(steps.len()).map_or_else(String::new, |step| step.told.clone());
        let here = Some(format!("a panic at {}: {}", caught.file, caught.message));
        let crash = Difference { what: "crash", place: String::new(), recorded: None, here };
        steps.push(StepPlayed { told, differences: vec![crash], ..StepPlayed::default() });
    }
    Played { id: program.id.clone(), name: program.name.clone(), steps }
}

fn play_steps(program: &Program, defects: &DefectSet, to_the_end: bool, steps: &mut Vec<StepPlayed>) {
    heard::take();
    let stand = Stand::new(&program.setup, defects, heard::note).expect("a program has sessions");
    let mut replay = Replay::new(stand);
    for (number, step) in program.steps.iter().enumerate() {
        let played = replay.step(number, step);
        let parts = !played.differences.is_empty();
        steps.push(played);
        if parts && !to_the_end {
            break;
        }
    }
}

struct Replay {
    stand: Stand,
    /// Numbers here of the gates of the recording.
    gates: BTreeMap<u64, u64>,
    /// What each session was like in the recording.
    states: Vec<Value>,
    counters: Value,
}

impl Replay {
    fn new(stand: Stand) -> Self {
        let states = (0..stand.session_count()).map(|session| stand.state(session)).collect();
        let counters = stand.counters();
        Replay { stand, gates: BTreeMap::new(), states, counters }
    }

    fn step(&mut self, number: usize, step: &Step) -> StepPlayed {
        let mut played = StepPlayed { told: step.told.clone(), recorded: step.events.clone(), ..StepPlayed::default() };
        // Each release within a drain is a stretch of its own; what is before the first belongs to the operation.
        let mut stretches = step.events.split(|event| event[0] == "rel");
        let first = stretches.next().unwrap_or_default();
        self.operate(number, step);
        self.stretch(first, &mut played);
        let released = step.events.iter().filter(|event| event[0] == "rel");
        for (release, stretch) in released.zip(stretches) {
            let gate = release[1].as_u64().unwrap_or(u64::MAX);
            let ours = self.ours(gate);
            played.here.push(json!(["rel", ours]));
            match ours {
                Some(ours) => self.stand.release(ours, false),
                None => played.differences.push(missing(gate)),
            }
            self.stretch(stretch, &mut played);
        }
        self.after(step, &mut played);
        played
    }

    fn operate(&mut self, number: usize, step: &Step) {
        match &step.doing {
            Doing::Act { session, act } => self.stand.act(number, *session, act),
            Doing::Release { gate, pauses } => {
                self.ours(*gate).into_iter().for_each(|gate| self.stand.release(gate, *pauses));
            }
            Doing::Fail { gate, failure } => {
                self.ours(*gate).into_iter().for_each(|gate| self.stand.fail(gate, *failure));
            }
            Doing::Drain => {}
            Doing::Advance { ms } => self.stand.advance(*ms),
        }
    }

    fn ours(&self, gate: u64) -> Option<u64> {
        self.gates.get(&gate).copied()
    }

    /// Compares what was recorded between two releases with what was heard since.
    fn stretch(&mut self, recorded: &[Value], played: &mut StepPlayed) {
        let here: Vec<Value> = heard::take().into_iter().map(read).collect();
        let is = |event: &&Value, kind: &str| event[0] == kind;
        let opened = |events: &[Value]| events.iter().filter(|event| is(event, "gate")).cloned().collect::<Vec<_>>();
        self.match_gates(&opened(recorded), &opened(&here), played);
        for (what, kinds) in [("settle", &["settle"][..]), ("events", &[])] {
            let wanted = |event: &&Value| match kinds {
                [] => !is(event, "gate") && !is(event, "settle"),
                kinds => kinds.iter().any(|kind| is(event, kind)),
            };
            let of = |events: &[Value]| events.iter().filter(wanted).cloned().collect::<Vec<_>>();
            played.differences.extend(sets(what, &of(recorded), &of(&here)));
        }
        played.stretches += 1;
        played.reordered += usize::from(!same_order(recorded, &here));
        played.here.extend(here);
    }

    fn match_gates(&mut self, recorded: &[Value], here: &[Value], played: &mut StepPlayed) {
        let mut left: Vec<&Value> = here.iter().collect();
        for gate in recorded {
            match left.iter().position(|other| called(other) == called(gate)) {
                Some(index) => {
                    let ours = left.remove(index);
                    let (theirs, ours) = (gate[1].as_u64(), ours[1].as_u64());
                    self.gates.extend(theirs.zip(ours));
                }
                None => played.differences.push(gate_difference(Some(gate), None)),
            }
        }
        played.differences.extend(left.into_iter().map(|gate| gate_difference(None, Some(gate))));
    }

    /// Compares what is so after a step.
    fn after(&mut self, step: &Step, played: &mut StepPlayed) {
        let clock = exactly("clock", "now", &json!(step.now_ms), &json!(self.stand.now_ms()));
        played.differences.extend(clock);
        let open = self.stand.open();
        played.differences.extend(self.open_gates(&step.open, &open));
        for (session, changes) in &step.state {
            change(&mut self.states[*session], changes);
        }
        for (session, recorded) in self.states.iter().enumerate() {
            let here = sorted(self.stand.state(session));
            played.differences.extend(exactly("state", &format!("s{session}"), &sorted(recorded.clone()), &here));
        }
        if let Some(counters) = &step.counters {
            self.counters = counters.clone();
        }
        played.differences.extend(exactly("counters", "", &self.counters, &self.stand.counters()));
    }

    fn open_gates(&self, recorded: &[u64], here: &[OpenGate]) -> Vec<Difference> {
        let mut left: Vec<&OpenGate> = here.iter().collect();
        let mut differences = Vec::new();
        for gate in recorded {
            let ours = self.ours(*gate);
            match left.iter().position(|open| Some(open.id) == ours) {
                Some(index) => drop(left.remove(index)),
                None => differences.push(missing(*gate)),
            }
        }
        let more = left.into_iter().map(|gate| {
            let here = json!([gate.session, gate.name, gate.argument]).to_string();
            Difference { what: "gates", place: "open".to_owned(), recorded: None, here: Some(here) }
        });
        differences.extend(more);
        differences
    }
}

/// A gate without its number, which is its place in an order.
fn called(gate: &Value) -> Value {
    json!([gate[2], gate[3], gate.get(4)])
}

fn same_order(recorded: &[Value], here: &[Value]) -> bool {
    let same = |(one, other): (&Value, &Value)| match (&one[0], &other[0]) {
        (one_kind, other_kind) if one_kind == "gate" && other_kind == "gate" => called(one) == called(other),
        _ => one == other,
    };
    recorded.len() == here.len() && recorded.iter().zip(here).all(same)
}

fn missing(gate: u64) -> Difference {
    let recorded = Some(format!("gate {gate}"));
    Difference { what: "gates", place: "open".to_owned(), recorded, here: None }
}

fn gate_difference(recorded: Option<&Value>, here: Option<&Value>) -> Difference {
    let shown = |gate: Option<&Value>| gate.map(|gate| called(gate).to_string());
    Difference { what: "gates", place: "opened".to_owned(), recorded: shown(recorded), here: shown(here) }
}

/// Puts changed fields into a recorded state.
fn change(state: &mut Value, changes: &Map<String, Value>) {
    for (field, value) in changes {
        state[field.as_str()] = value.clone();
    }
}

/// A state with its sets in one order.
fn sorted(mut state: Value) -> Value {
    for field in ["paused", "responses", "waiters"] {
        if let Some(ids) = state[field].as_array_mut() {
            ids.sort_by_key(Value::to_string);
        }
    }
    state
}

/// The words of the framework's model on which the class was recorded.
const RESCHEDULE: (&str, &str) =
    ("[Agent] Failed to reschedule alarm after keepAlive dispose:", "[sdk] reschedule failed:");

/// What was heard, in the words of the recordings.
fn read(event: Value) -> Value {
    let mut event = with_their_words(event);
    if event[0] == "settle" {
        event = heard::with_relative_times(event);
    }
    event
}

fn with_their_words(mut event: Value) -> Value {
    if event[0] == "log"
        && let Some(rest) = event[2].as_str().and_then(|text| text.strip_prefix(RESCHEDULE.0))
    {
        event[2] = format!("{}{rest}", RESCHEDULE.1).into();
    }
    event
}
