//! Judges a run by all rows at once: one pass over its events, one over the states of its sessions.
//!
//! Method: what is so of a session at a moment is a set of facts, a bit each. Every set that a run showed is kept once,
//! and how close the run came to a row is how many of the row's conditions, from the first on, one of the sets holds.

use super::fact::{Fact, Moment, Seen, Test};
use super::since::{Asked, Subjects, Whose};
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

/// What an event may show: something of a row, a fact, or that a fact is so from now on or not any more.
#[derive(Clone, Copy)]
enum Shows {
    Row(usize, &'static Pattern),
    Fact(Fact, Pattern),
    Turn { fact: Fact, whose: Whose, is_so: bool, event: Pattern, test: Test },
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
        for &fact in Fact::ALL {
            all.extend(fact.event().map(|event| (key_of(&event), Shows::Fact(fact, event))));
            let Seen::Since(whose, from, until) = fact.seen() else { continue };
            let turns = until.iter().map(|turn| (false, turn)).chain(from.iter().map(|turn| (true, turn)));
            all.extend(turns.map(|(is_so, turn)| {
                let shows = Shows::Turn { fact, whose, is_so, event: turn.event, test: turn.test };
                (key_of(&turn.event), shows)
            }));
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
    /// The requests, by number.
    asked: Vec<(u64, Asked<'c>)>,
    /// What is so of whom from some event on.
    subjects: Subjects<'c>,
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
            asked: Vec::new(),
            subjects: Subjects::default(),
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

    fn event(&mut self, at: usize, event: &'c Event, shown: [&'static [Shows]; 2]) {
        let case = self.case;
        let asked = self.asked(at, event);
        let who = self.who_of(at, event, asked);
        let session = who.and_then(|who| case.timeline().session(who, at));
        let so_far = self.since.last().map_or(0, |(_, bits)| *bits);
        let before =
            so_far | session.map_or(0, |session| self.index.bits_of(session)) | self.subjects.of(event, who, asked);
        self.subjects.note(event);
        let opener = self.subjects.opener(event, asked);
        let moment = Moment { event, session, plan: case.plan, request: asked, opener, before };
        let [by_name, by_status] = shown;
        // Facts first: a row may ask for what its own event says. What is so from the event on is not so at it.
        let facts = by_name.iter().chain(by_status);
        let bits = facts.fold(before, |bits, shows| bits | self.fact(at, shows, &moment));
        for shows in by_name.iter().chain(by_status) {
            match *shows {
                Shows::Row(row, pattern) => {
                    let wanted = self.index.when[row];
                    self.lit[row] |= wanted & bits == wanted && pattern.fits(event);
                }
                Shows::Turn { fact, whose, is_so, event: pattern, test } if pattern.fits(event) && test(&moment) => {
                    self.subjects.set((fact, whose, is_so), event, who, asked);
                }
                _ => {}
            }
        }
        if bits != so_far {
            self.keep(bits, who, event.at_ms);
        }
    }

    /// The bit of a fact that the event shows at once, if it does.
    fn fact(&mut self, at: usize, shows: &Shows, moment: &Moment<'_>) -> u128 {
        let Shows::Fact(fact, pattern) = shows else { return 0 };
        if moment.was(*fact) || !pattern.fits(moment.event) {
            return 0;
        }
        match fact.seen() {
            Seen::At(_, is_so) if !is_so(moment) => return 0,
            Seen::Once(_) => self.latch(at + 1, fact.bit()),
            _ => {}
        }
        fact.bit()
    }

    /// From so many events on it is so of the whole run.
    fn latch(&mut self, applied: usize, bit: u128) {
        let so_far = self.since.last().map_or(0, |(_, bits)| *bits);
        self.since.push((applied, so_far | bit));
    }

    /// The request that an event belongs to. Requests are numbered as they begin.
    fn asked(&mut self, at: usize, event: &'c Event) -> Option<Asked<'c>> {
        let number = event.number("request").filter(|_| event.stream == Stream::History)?;
        if event.name == "request.begin" {
            let in_use = event.who().and_then(|who| self.case.timeline().in_use(who, at));
            self.asked.push((number, Asked::new(event, in_use)));
        }
        let at = self.asked.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.asked[at].1)
    }

    /// The session that an event is about: of a request's event the one that the request is about, as it was when it
    /// began, of what else a client does the one that it uses.
    fn who_of(&self, at: usize, event: &'c Event, asked: Option<Asked<'c>>) -> Option<&'c str> {
        match asked {
            Some(asked) => asked.session,
            None if event.stream == Stream::History => self.case.timeline().in_use(event.who()?, at).or(event.who()),
            None => event.who(),
        }
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
