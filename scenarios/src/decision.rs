//! Named decisions: whatever a run leaves open is asked here by name, and answered by a pin, by entropy, or calmly.
//!
//! A decision is called `<who>/<what>@<step>#<n>`: the actor, the question, the plan step of that actor that began
//! last, and which occurrence of the question within the step. Its stream belongs to (who, what, step), so that a new
//! question, another actor's or an earlier step's, never moves it.

mod delay;
mod strays;
#[cfg(test)]
mod tests;

use crate::bad_input::BadInput;
use crate::plan::{Plan, Severity, client_of};
use crate::rng::Rng;
use crate::seed::Entropy;
use crate::trace::Drawn;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

pub use delay::{DELAY_MS_MAX, delay_ranges};
pub use strays::{STRAYS, Stray, is_stray};

/// The name of one decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DecisionName {
    /// Session alias, `edge`, an isolate or `world`.
    pub who: Arc<str>,
    /// Dotted question: `latency.rpc`, `alarm.late`, `order.rpc:edge>s1`.
    pub what: Arc<str>,
    /// Index of the actor's plan step that began last; 0 before any and for actors without steps.
    pub step: u32,
    /// Occurrence within (who, what, step), from 0.
    pub occurrence: u32,
}

impl DecisionName {
    /// Reads `<who>/<what>@<step>#<n>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (who, rest) = text.split_once('/')?;
        let (what, rest) = rest.rsplit_once('@')?;
        let (step, occurrence) = rest.split_once('#')?;
        let plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
        let number = |digits: &str| {
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| is_plain)
        };
        (plain(who) && plain(what)).then_some(())?;
        Some(Self { who: who.into(), what: what.into(), step: number(step)?, occurrence: number(occurrence)? })
    }
}

impl fmt::Display for DecisionName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, what, step, occurrence } = self;
        write!(out, "{who}/{what}@{step}#{occurrence}")
    }
}

/// A pin that does not fit the decision it pins; the run is void (a harness error).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinOutOfRange {
    /// The pinned decision.
    pub name: DecisionName,
    /// What the plan pins it to.
    pub value: u64,
    /// Values are below this.
    pub below: u64,
}

impl fmt::Display for PinOutOfRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, below } = self;
        write!(out, "the plan pins {name} to {value}, but that decision is below {below}: change or remove the pin")
    }
}

impl std::error::Error for PinOutOfRange {}

/// Decisions that are recorded without growing: a usual run takes some hundreds.
const RECORD_ROOM: usize = 512;

/// Answers the decisions of one run and records them.
pub struct DecisionSource {
    entropy: Option<Entropy>,
    severity: Severity,
    pins: BTreeMap<DecisionName, Pin>,
    /// Questions that a pin is about.
    pinned: BTreeSet<Arc<str>>,
    actors: BTreeMap<Arc<str>, Actor>,
    record: Vec<Drawn>,
    round_up_ms: Option<u64>,
}

struct Pin {
    value: u64,
    is_used: bool,
}

struct Actor {
    who: Arc<str>,
    step: u32,
    streams: BTreeMap<Arc<str>, DecisionStream>,
}

struct DecisionStream {
    what: Arc<str>,
    step: u32,
    drawn: u32,
    /// Made for the first draw of the step: a question that a calm world answers by itself never needs it.
    rng: Option<Rng>,
}

impl DecisionSource {
    /// The source for a run of that plan.
    ///
    /// # Errors
    /// A pin whose name is no decision name; a validated plan has none.
    pub fn new(plan: &Plan) -> Result<Self, BadInput> {
        let mut pins = BTreeMap::new();
        for (text, &value) in &plan.pins {
            let name = DecisionName::parse(text).ok_or_else(|| {
                BadInput::new(
                    "pins",
                    "a decision is named <who>/<what>@<step>#<n>",
                    "copy the name from the decisions of a trace",
                )
            })?;
            pins.insert(name, Pin { value, is_used: false });
        }
        Ok(Self {
            entropy: plan.entropy,
            severity: plan.world.severity,
            pinned: pins.keys().map(|name| Arc::clone(&name.what)).collect(),
            pins,
            actors: BTreeMap::new(),
            record: Vec::with_capacity(RECORD_ROOM),
            round_up_ms: None,
        })
    }

    /// Tells that this step of the actor begins; touches of the settle phase count on after the last step.
    pub fn begin_step(&mut self, who: &str, step: u32) {
        match self.actors.get_mut(who) {
            Some(actor) => actor.step = step,
            None => {
                let who: Arc<str> = who.into();
                self.actors.insert(Arc::clone(&who), Actor::new(who, step));
            }
        }
    }

    /// Decides on a number in `0..below`: the pin, else drawn from entropy, else 0.
    ///
    /// # Errors
    /// A pin that is not below `below`.
    ///
    /// # Panics
    /// If `below` is 0: a question without an answer is a bug of the asker.
    pub fn decide(&mut self, who: &str, what: &str, below: u64) -> Result<u64, PinOutOfRange> {
        assert!(below > 0, "decision {who}/{what} has no possible value");
        self.take(who, what, below, |stream| stream.make().below(below))
    }

    /// Decides on a delay in ms on top of the base latency; its range follows from severity and question, calm is 0.
    ///
    /// A pin may use the widest range of the question whatever the severity is, up to [`DELAY_MS_MAX`].
    ///
    /// # Errors
    /// A pin beyond that range.
    pub fn decide_delay(&mut self, who: &str, what: &str) -> Result<u64, PinOutOfRange> {
        let severity = self.severity;
        let below = delay::most_ms(what) + 1;
        self.take(who, what, below, |stream| match severity {
            Severity::Calm => 0,
            _ => delay::draw_ms(severity, what, stream.make()),
        })
    }

    /// Decides on something that a calm platform never does; calm is 0, and is not even asked where nothing else can be
    /// answered: without entropy, or in a calm world, unless a pin is about the question.
    ///
    /// # Errors
    /// A pin beyond the widest range of the question.
    pub fn decide_stray(&mut self, who: &str, what: &str) -> Result<u64, PinOutOfRange> {
        let severity = if self.entropy.is_some() { self.severity } else { Severity::Calm };
        if severity == Severity::Calm && !self.pinned.contains(what) {
            return Ok(0);
        }
        let stray = Stray::of(what);
        self.take(who, what, stray.most() + 1, |stream| match severity {
            Severity::Calm => 0,
            _ => stray.draw(severity, stream.make()),
        })
    }

    /// The grid, in ms, that due times are rounded up to so that events meet: 1, or 2 to 10 in a hostile world.
    ///
    /// # Errors
    /// A pin of `world/round-up@0#0` above 8.
    pub fn round_up_ms(&mut self) -> Result<u64, PinOutOfRange> {
        if let Some(grid) = self.round_up_ms {
            return Ok(grid);
        }
        let grid = match self.severity {
            Severity::Hostile => 2 + self.decide("world", "round-up", 9)?,
            Severity::Calm | Severity::Usual => 1,
        };
        self.round_up_ms = Some(grid);
        Ok(grid)
    }

    /// Everything decided so far, in order.
    pub fn record(&self) -> &[Drawn] {
        &self.record
    }

    /// Everything decided, at the end of a run.
    pub fn take_record(&mut self) -> Vec<Drawn> {
        std::mem::take(&mut self.record)
    }

    /// Pins that no decision has asked for yet.
    pub fn unused_pins(&self) -> impl Iterator<Item = &DecisionName> {
        self.pins.iter().filter(|(_, pin)| !pin.is_used).map(|(name, _)| name)
    }

    fn take(
        &mut self,
        who: &str,
        what: &str,
        below: u64,
        draw: impl FnOnce(&mut Stream<'_>) -> u64,
    ) -> Result<u64, PinOutOfRange> {
        let (name, drawn) = self.next_draw(who, what, draw);
        let mut value = drawn;
        if let Some(pin) = self.pins.get_mut(&name) {
            pin.is_used = true;
            value = pin.value;
            if value >= below {
                return Err(PinOutOfRange { name, value, below });
            }
        }
        self.record.push(Drawn { name, below, value });
        Ok(value)
    }

    /// The next decision of the stream. It is drawn even where a pin overrules it, so that the ones after it in the
    /// same stream stay what they were.
    fn next_draw(&mut self, who: &str, what: &str, draw: impl FnOnce(&mut Stream<'_>) -> u64) -> (DecisionName, u64) {
        // A later session of a client has no steps of its own.
        let of_client = match client_of(who) {
            client if client == who => None,
            client => Some(self.actors.get(client).map_or(0, |actor| actor.step)),
        };
        let actor = match self.actors.get_mut(who) {
            Some(actor) => actor,
            None => self.actors.entry(who.into()).or_insert_with_key(|who| Actor::new(Arc::clone(who), 0)),
        };
        let step = of_client.unwrap_or(actor.step);
        let stream = match actor.streams.get_mut(what) {
            Some(stream) => stream,
            None => actor.streams.entry(what.into()).or_insert_with_key(|what| DecisionStream {
                what: Arc::clone(what),
                step,
                drawn: 0,
                rng: None,
            }),
        };
        if stream.step != step {
            (stream.step, stream.drawn, stream.rng) = (step, 0, None);
        }
        let (who, what) = (Arc::clone(&actor.who), Arc::clone(&stream.what));
        let name = DecisionName { who, what, step, occurrence: stream.drawn };
        stream.drawn += 1;
        let value =
            self.entropy.as_ref().map_or(0, |entropy| draw(&mut Stream { entropy, name: &name, rng: &mut stream.rng }));
        (name, value)
    }
}

impl Actor {
    fn new(who: Arc<str>, step: u32) -> Self {
        Self { who, step, streams: BTreeMap::new() }
    }
}

/// The random stream of one question in one step, keyed when it is first drawn from.
struct Stream<'a> {
    entropy: &'a Entropy,
    name: &'a DecisionName,
    rng: &'a mut Option<Rng>,
}

impl Stream<'_> {
    fn make(&mut self) -> &mut Rng {
        let DecisionName { who, what, step, .. } = self.name;
        self.rng.get_or_insert_with(|| {
            // Put together by hand: this is done for a third of all decisions, and formatting grows its text bit by bit.
            let mut name = String::with_capacity(who.len() + what.len() + 12);
            for part in [who, "/", what, "@", &step.to_string()] {
                name.push_str(part);
            }
            Rng::named(self.entropy, &name)
        })
    }
}
