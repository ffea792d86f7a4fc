//! What sessions hold in the module scope of their isolates: places, reservations, permits, registry entries.
//!
//! Module-scope state outlives an object that is reset, and no code runs then to give anything back (platform facts 103,
//! 132). From the loss of an object that held something on, its isolate is not judged any more.

use super::Case;
use super::replay::Replay;
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// The place of a resident runtime, as the runtime tells.
    Runtime,
    /// The reservation of a cold build.
    Reservation,
    /// A build permit.
    Permit,
    /// An entry in the registry of those that can be asked for their runtime.
    Entry,
}

/// Isolate and number held, by session.
type Holders = BTreeMap<Arc<str>, (Arc<str>, u64)>;

/// Who holds what where, as of the events applied so far.
#[derive(Default)]
pub struct Holdings {
    /// One for each thing.
    held: [Holders; 4],
    /// What was lost with its object and not taken back yet: how many of each thing, by session.
    lost: [BTreeMap<Arc<str>, u64>; 4],
    tainted: BTreeSet<Arc<str>>,
}

impl Holdings {
    /// Calls `look` for every event, with what was so just before it, and gives what is so at the end.
    pub fn each<'c, 't>(
        case: &'c Case<'t>,
        mut look: impl FnMut(&Holdings, &Replay<'c>, &'t Event),
    ) -> (Holdings, Replay<'c>) {
        let (mut holdings, mut replay) = (Holdings::default(), Replay::new(case));
        for event in &case.trace.events {
            look(&holdings, &replay, event);
            holdings.apply(&replay, event);
            replay.advance();
        }
        (holdings, replay)
    }

    /// Whether what this isolate counts can be told from its sessions.
    pub fn is_sound(&self, isolate: &str) -> bool {
        !self.tainted.contains(isolate)
    }

    /// How many of a thing a session holds.
    pub fn of(&self, thing: Thing, who: &str) -> u64 {
        self.held[thing as usize].get(who).map_or(0, |(_, count)| *count)
    }

    /// How many of a thing are held in an isolate.
    pub fn count(&self, thing: Thing, isolate: &str) -> u64 {
        let here = self.held[thing as usize].values().filter(|(at, _)| **at == *isolate);
        here.map(|(_, count)| count).sum()
    }

    /// Everybody who holds a thing, each with where.
    pub fn all(&self, thing: Thing) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.held[thing as usize].iter().map(|(who, (isolate, _))| (who, isolate))
    }

    fn apply(&mut self, replay: &Replay, event: &Event) {
        let Some(who) = &event.who else { return };
        match (event.stream, &*event.name) {
            (Stream::Platform, "isolate.ended") => {
                let ended = event.text("isolate").unwrap_or(who);
                self.held.iter_mut().for_each(|held| held.retain(|_, (isolate, _)| &**isolate != ended));
                self.tainted.remove(ended);
            }
            (Stream::Platform, "object.reset" | "object.gone") => self.lose(who),
            (Stream::State, name) => {
                let Some((thing, is_taken)) = change(name) else { return };
                if event.flag("taken_back") == Some(true) && self.take_back(thing, who) {
                    return;
                }
                let isolate = event.text("isolate").map(Arc::from);
                let isolate = isolate.or_else(|| replay.session(who).and_then(|session| session.isolate.clone()));
                self.change(thing, is_taken, who, isolate);
            }
            _ => {}
        }
    }

    fn lose(&mut self, who: &Arc<str>) {
        for (held, lost) in self.held.iter_mut().zip(&mut self.lost) {
            let Some((isolate, count)) = held.remove(who) else { continue };
            *lost.entry(Arc::clone(who)).or_default() += count;
            self.tainted.insert(isolate);
        }
    }

    /// What the isolate takes back of a session is first of all what that lost; false when it lost nothing.
    fn take_back(&mut self, thing: Thing, who: &Arc<str>) -> bool {
        let lost = self.lost[thing as usize].get_mut(who).filter(|count| **count > 0);
        lost.map(|count| *count -= 1).is_some()
    }

    fn change(&mut self, thing: Thing, is_taken: bool, who: &Arc<str>, isolate: Option<Arc<str>>) {
        let before = self.of(thing, who);
        // An entry is replaced and a runtime installed over another; the others add up.
        let is_single = matches!(thing, Thing::Entry | Thing::Runtime);
        let now = match (is_taken, is_single) {
            (true, true) => 1,
            (true, false) => before + 1,
            (false, _) => before.saturating_sub(1),
        };
        let held = &mut self.held[thing as usize];
        match (now, isolate) {
            (0, _) => drop(held.remove(who)),
            (_, Some(isolate)) => drop(held.insert(Arc::clone(who), (isolate, now))),
            (_, None) => {}
        }
    }
}

/// What a state event of that name takes (true) or gives back.
fn change(name: &str) -> Option<(Thing, bool)> {
    Some(match name {
        "runtime.installed" => (Thing::Runtime, true),
        "runtime.released" => (Thing::Runtime, false),
        "reservation.taken" => (Thing::Reservation, true),
        "reservation.returned" => (Thing::Reservation, false),
        "permit.granted" => (Thing::Permit, true),
        "permit.returned" => (Thing::Permit, false),
        "registry.added" => (Thing::Entry, true),
        "registry.removed" => (Thing::Entry, false),
        _ => return None,
    })
}
