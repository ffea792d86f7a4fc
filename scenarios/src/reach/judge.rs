//! Judges a run by all rows at once: one pass over its events, one over the states of its sessions.
//!
//! Method: what is so of a session at a moment is a set of facts, a bit each. Every set that a run showed is kept once,
//! and how close the run came to a row is how many of the row's conditions, from the first on, one of the sets holds.

use super::fact::{Fact, Moment, Seen};
use super::{Closest, Evidence, Is, Pattern, Phase, Place, Reached, rows};
use crate::invariants::Case;
use crate::invariants::replay::Session;
use crate::plan::Plan;
use crate::trace::{Event, Stream};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a run says of every row, in their order.
pub fn judge(case: &Case<'_>) -> Vec<Reached> {
    let mut pass = Pass::new(case);
    pass.events();
    pass.states();
    pass.settle()
}

/// What an event may show: something of a row, or a fact.
#[derive(Clone, Copy)]
enum Shows {
    Row(usize, &'static Pattern),
    Fact(Fact, Pattern),
}

/// Whether a fact is so of a session now.
type While = fn(&Session) -> bool;

/// What the events of each name may show.
struct Index {
    /// Hash of stream and name, sorted, and where its entries are.
    keys: Vec<(u64, Range<usize>)>,
    entries: Vec<Shows>,
    /// What must be so of each row at the moment that shows it.
    when: Vec<u128>,
    /// The conditions of all rows, one row behind the other: for each the bits of it and of those before it in its row.
    prefixes: Vec<u128>,
    /// Where the prefixes of each row are.
    chains: Vec<Range<usize>>,
    /// Facts that are so of a session for a while.
    whiles: Vec<(u128, While)>,
    states: Vec<(usize, Phase)>,
    changes: Vec<(usize, Phase, Phase, &'static str)>,
}

/// Events are told apart by stream and name, and by the status that they have: each of the many rows about answers is of
/// one status, and need not be looked at for others.
fn key(stream: Stream, name: &str, status: Option<u64>) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), stream as u64 + 8 * status.map_or(0, |status| status + 1))
}

fn key_of(pattern: &Pattern) -> u64 {
    let status = pattern.fields.iter().find_map(|(place, is)| match (place, is) {
        (Place::Field("status"), Is::Number(status)) => u64::try_from(*status).ok(),
        _ => None,
    });
    key(pattern.stream, pattern.name, status)
}

impl Index {
    fn get() -> &'static Self {
        static INDEX: LazyLock<Index> = LazyLock::new(Index::build);
        &INDEX
    }

    fn build() -> Self {
        let mut all: Vec<(u64, Shows)> = Vec::new();
        let (mut states, mut changes) = (Vec::new(), Vec::new());
        for (at, row) in rows().iter().enumerate() {
            match &row.shown_by {
                Evidence::Events(events) => {
                    all.extend(events.iter().map(|event| (key_of(event), Shows::Row(at, event))));
                }
                Evidence::State(phase) => states.push((at, *phase)),
                Evidence::Change(from, to, by) => changes.push((at, *from, *to, *by)),
            }
        }
        for fact in Fact::ALL {
            let Some(event) = fact.event() else { continue };
            all.push((key_of(&event), Shows::Fact(*fact, event)));
        }
        all.sort_by_key(|(key, _)| *key);
        let mut keys: Vec<(u64, Range<usize>)> = Vec::new();
        for (at, (key, _)) in all.iter().enumerate() {
            match keys.last_mut() {
                Some((last, range)) if last == key => range.end = at + 1,
                _ => keys.push((*key, at..at + 1)),
            }
        }
        let when = rows().iter().map(|row| row.when.iter().fold(0, |bits, fact| bits | fact.bit())).collect();
        let (mut prefixes, mut chains) = (Vec::new(), Vec::new());
        for row in rows() {
            let begin = prefixes.len();
            prefixes.extend(row.conditions().scan(0, |bits, fact| {
                *bits |= fact.bit();
                Some(*bits)
            }));
            chains.push(begin..prefixes.len());
        }
        let whiles = Fact::ALL.iter().filter_map(|fact| match fact.seen() {
            Seen::While(is_so) => Some((fact.bit(), is_so)),
            _ => None,
        });
        let whiles = whiles.collect();
        let entries = all.into_iter().map(|(_, shows)| shows).collect();
        Self { keys, entries, when, prefixes, chains, whiles, states, changes }
    }

    /// What is so of a session for a while.
    fn bits_of(&self, session: &Session) -> u128 {
        self.whiles.iter().fold(0, |bits, (bit, is_so)| if is_so(session) { bits | bit } else { bits })
    }

    /// What an event may show by its name, and by its status if it has one.
    fn of(&self, event: &Event) -> [&[Shows]; 2] {
        let status = if event.stream == Stream::History { event.number("status") } else { None };
        let by_status = status.map_or(&[][..], |status| self.at(key(event.stream, &event.name, Some(status))));
        [self.at(key(event.stream, &event.name, None)), by_status]
    }

    fn at(&self, wanted: u64) -> &[Shows] {
        match self.keys.binary_search_by_key(&wanted, |(key, _)| *key) {
            Ok(at) => &self.entries[self.keys[at].1.clone()],
            Err(_) => &[],
        }
    }
}

/// A set of facts that a run showed, and where it did first.
struct Held {
    bits: u128,
    session: Option<Arc<str>>,
    at_ms: u64,
}

struct Pass<'c, 't> {
    case: &'c Case<'t>,
    index: &'static Index,
    lit: Vec<bool>,
    held: Vec<Held>,
    known: BTreeSet<u128>,
    /// Facts that hold from some event on, for the whole run: after how many events, and all of them so far.
    since: Vec<(usize, u128)>,
    /// What each request is for, by number.
    ops: Vec<(u64, &'t str)>,
}

impl<'c, 't> Pass<'c, 't> {
    fn new(case: &'c Case<'t>) -> Self {
        let planned = planned(case.plan);
        Self {
            case,
            index: Index::get(),
            lit: vec![false; rows().len()],
            held: Vec::new(),
            known: BTreeSet::new(),
            since: vec![(0, planned)],
            ops: Vec::new(),
        }
    }

    fn events(&mut self) {
        let case = self.case;
        let latched = self.since[0].1;
        self.keep(latched, None, 0);
        for (at, event) in case.trace.events.iter().enumerate() {
            let shown = self.index.of(event);
            let is_dark = |shows: &Shows| !matches!(shows, Shows::Row(row, _) if self.lit[*row]);
            if shown.iter().copied().flatten().any(is_dark) {
                self.event(at, event, shown);
            }
        }
    }

    fn event(&mut self, at: usize, event: &'t Event, shown: [&'static [Shows]; 2]) {
        let case = self.case;
        let who = event.who().map(|who| who_of(case, event, who, at));
        let session = who.and_then(|who| case.timeline().session(who, at));
        let moment = Moment { event, session, plan: case.plan, op: self.op(event) };
        let so_far = self.since.last().map_or(0, |(_, bits)| *bits);
        let before = so_far | session.map_or(0, |session| self.index.bits_of(session));
        let mut bits = before;
        let [by_name, by_status] = shown;
        // Facts first: a row may ask for what its own event says.
        for shows in by_name.iter().chain(by_status) {
            let Shows::Fact(fact, pattern) = shows else { continue };
            if bits & fact.bit() == 0 && pattern.fits(event) {
                match fact.seen() {
                    Seen::At(_, is_so) | Seen::OnceIf(_, is_so) if !is_so(&moment) => {}
                    Seen::Once(_) | Seen::OnceIf(..) => {
                        bits |= fact.bit();
                        self.latch(at + 1, fact.bit());
                    }
                    _ => bits |= fact.bit(),
                }
            }
        }
        for shows in by_name.iter().chain(by_status) {
            let Shows::Row(row, pattern) = *shows else { continue };
            let wanted = self.index.when[row];
            if !self.lit[row] && wanted & bits == wanted && pattern.fits(event) {
                self.lit[row] = true;
            }
        }
        if bits != before {
            self.keep(bits, who, event.at_ms);
        }
    }

    /// From so many events on it is so of the whole run.
    fn latch(&mut self, applied: usize, bit: u128) {
        let so_far = self.since.last().map_or(0, |(_, bits)| *bits);
        self.since.push((applied, so_far | bit));
    }

    /// What the request is for that an event is about. Requests are numbered as they begin.
    fn op(&mut self, event: &'t Event) -> Option<&'t str> {
        let number = event.number("request").filter(|_| event.stream == Stream::History)?;
        if event.name == "request.begin" {
            self.ops.push((number, event.text("op")?));
        }
        let at = self.ops.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.ops[at].1)
    }

    /// The states of all sessions, one by one.
    fn states(&mut self) {
        let case = self.case;
        for (who, states) in case.timeline().histories() {
            let is_stored = case.plan.storage.iter().any(|object| *object.session == *who);
            let mut phase = if is_stored { Phase::Cold } else { Phase::Absent };
            let mut last = None;
            for (applied, session) in states {
                let event = &case.trace.events[applied - 1];
                let next = Phase::of(session, phase);
                if next != phase || last.is_none() {
                    self.phase(phase, next, &event.name);
                }
                phase = next;
                let bits = self.latched(*applied) | self.index.bits_of(session);
                if last.replace(bits) != Some(bits) {
                    self.keep(bits, Some(who), event.at_ms);
                }
            }
        }
    }

    fn phase(&mut self, from: Phase, to: Phase, by: &str) {
        for (row, phase) in &self.index.states {
            self.lit[*row] |= *phase == from || *phase == to;
        }
        for (row, was, is, wanted) in &self.index.changes {
            self.lit[*row] |= (*was, *is) == (from, to) && (wanted.is_empty() || *wanted == by);
        }
    }

    /// What had happened in the run once so many events were applied.
    fn latched(&self, applied: usize) -> u128 {
        let passed = self.since.partition_point(|(since, _)| *since <= applied);
        self.since[..passed].last().map_or(0, |(_, bits)| *bits)
    }

    fn keep(&mut self, bits: u128, who: Option<&str>, at_ms: u64) {
        if self.known.insert(bits) {
            self.held.push(Held { bits, session: who.map(Into::into), at_ms });
        }
    }

    fn settle(self) -> Vec<Reached> {
        let ever = self.held.iter().fold(0, |bits, held| bits | held.bits);
        let reached = |(chain, is_lit): (&Range<usize>, &bool)| match is_lit {
            true => Reached::Yes,
            false => Reached::No(closest(&self.index.prefixes[chain.clone()], &self.held, ever)),
        };
        self.index.chains.iter().zip(&self.lit).map(reached).collect()
    }
}

/// The session that an event is about: of a client's event the one it uses.
fn who_of<'a>(case: &'a Case<'_>, event: &'a Event, who: &'a str, applied: usize) -> &'a str {
    let in_use = if event.stream == Stream::History { case.timeline().in_use(who, applied) } else { None };
    in_use.unwrap_or(who)
}

/// Facts that the plan alone tells.
fn planned(plan: &Plan) -> u128 {
    let is_so = |fact: &Fact| matches!(fact.seen(), Seen::Planned(is_so) if is_so(plan));
    Fact::ALL.iter().copied().filter(is_so).fold(0, |bits, fact| bits | fact.bit())
}

/// How many of a row's conditions, from the first on, one set of facts has at most; of equal ones the first set is told.
fn closest(prefixes: &[u128], held: &[Held], ever: u128) -> Closest {
    let (mut met, mut best) = (0, None);
    // What never was so, not even at different moments, is never met.
    let possible = prefixes.partition_point(|prefix| ever & prefix == *prefix);
    for held in held {
        if met == possible {
            break;
        }
        while prefixes.get(met).is_some_and(|prefix| held.bits & prefix == *prefix) {
            (met, best) = (met + 1, Some(held));
        }
    }
    let distance = (prefixes.len() + 1 - met) as u8;
    Closest { distance, session: best.and_then(|held| held.session.clone()), at_ms: best.map_or(0, |held| held.at_ms) }
}
