//! The ledgers of a run: what sessions took and gave back, thing by thing, as the trace tells.
//!
//! Taken is returned, lost or open. Lost is what an object held when its memory or its isolate went: no code runs then to
//! give anything back (platform facts 103, 132). What is found and given back later for its holder is returned after all.

use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How one thing stands at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// What is counted.
    pub thing: &'static str,
    /// How many were taken.
    pub taken: u64,
    /// How many were given back.
    pub returned: u64,
    /// How many went with their holder.
    pub lost: u64,
}

impl Ledger {
    /// How many are held at the end; negative where more was given back than taken.
    pub fn open(&self) -> i64 {
        self.taken as i64 - self.returned as i64 - self.lost as i64
    }
}

/// What is counted and which events take it and give it back.
struct Account {
    thing: &'static str,
    stream: Stream,
    taken: &'static str,
    returned: &'static str,
    /// It is in the memory of its object, or of the isolate in its object's name.
    goes_with_object: bool,
    /// Taking it again replaces the one that is held.
    is_single: bool,
}

const fn of_state(thing: &'static str, taken: &'static str, returned: &'static str) -> Account {
    Account { thing, stream: Stream::State, taken, returned, goes_with_object: true, is_single: false }
}

/// A runtime brings one server, which is closed once (session-core §2.29). A stream stays where its object is evicted.
const ACCOUNTS: &[Account] = &[
    of_state("resident runtimes", "runtime.installed", "runtime.released"),
    Account { is_single: true, ..of_state("registry entries", "registry.added", "registry.removed") },
    of_state("reservations", "reservation.taken", "reservation.returned"),
    of_state("permits", "permit.granted", "permit.returned"),
    of_state("leases", "lease.taken", "lease.returned"),
    of_state("keep-alive references", "keep-alive.taken", "keep-alive.returned"),
    of_state("handles", "handle.opened", "handle.ended"),
    of_state("servers", "runtime.installed", "server.closed"),
    Account {
        stream: Stream::Platform,
        goes_with_object: false,
        ..of_state("streams", "socket.opened", "socket.closed")
    },
];

/// What one holder has of one thing, and has lost of it.
#[derive(Default)]
struct Held {
    held: u64,
    lost: u64,
}

/// The ledgers of a trace, in a fixed order.
pub fn ledgers(trace: &Trace) -> Vec<Ledger> {
    let isolates = isolates(trace);
    ACCOUNTS.iter().map(|account| account.read(trace, &isolates)).collect()
}

/// The ledgers of several runs together.
pub fn sum(all: impl IntoIterator<Item = Vec<Ledger>>) -> Vec<Ledger> {
    let mut sums = ledgers(&Trace::default());
    for ledger in all.into_iter().flatten() {
        for sum in sums.iter_mut().filter(|sum| sum.thing == ledger.thing) {
            sum.taken += ledger.taken;
            sum.returned += ledger.returned;
            sum.lost += ledger.lost;
        }
    }
    sums
}

/// The isolate that each object was constructed in, by the place of that event.
fn isolates(trace: &Trace) -> Vec<(u32, &str, &str)> {
    let constructed = trace.named(Stream::Platform, "object.constructed");
    constructed.filter_map(|event| Some((event.ordinal, event.who()?, event.text("isolate")?))).collect()
}

impl Account {
    fn read(&self, trace: &Trace, isolates: &[(u32, &str, &str)]) -> Ledger {
        let mut ledger = Ledger { thing: self.thing, taken: 0, returned: 0, lost: 0 };
        let mut holders: BTreeMap<Arc<str>, Held> = BTreeMap::new();
        for event in &trace.events {
            let Some(who) = &event.who else { continue };
            if event.is(self.stream, self.taken) {
                let holder = holders.entry(Arc::clone(who)).or_default();
                if !self.is_single || holder.held == 0 {
                    holder.held += 1;
                    ledger.taken += 1;
                }
            } else if event.is(self.stream, self.returned) {
                let holder = holders.entry(Arc::clone(who)).or_default();
                ledger.returned += 1;
                match holder.held {
                    // It is given back for a holder that is gone.
                    0 if holder.lost > 0 => {
                        holder.lost -= 1;
                        ledger.lost -= 1;
                    }
                    held => holder.held = held.saturating_sub(1),
                }
            }
            if event.stream != Stream::Platform || !matches!(&*event.name, "object.gone" | "isolate.ended") {
                continue;
            }
            let gone = |holder: &str| self.goes(event, holder, isolates);
            for (_, holder) in holders.iter_mut().filter(|(holder, _)| gone(holder)) {
                ledger.lost += holder.held;
                holder.lost += std::mem::take(&mut holder.held);
            }
        }
        ledger
    }

    /// Whether what a holder has goes with this loss of an object or an isolate.
    fn goes(&self, event: &Event, holder: &str, isolates: &[(u32, &str, &str)]) -> bool {
        if event.name == "object.gone" {
            return self.goes_with_object && event.who() == Some(holder);
        }
        let last = || isolates.iter().rfind(|(ordinal, who, _)| *ordinal < event.ordinal && *who == holder);
        last().map(|(_, _, isolate)| *isolate) == event.text("isolate")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::story;

    fn of(trace: &Trace, thing: &str) -> (u64, u64, u64, i64) {
        let found = ledgers(trace).into_iter().find(|ledger| ledger.thing == thing).expect("it is counted");
        (found.taken, found.returned, found.lost, found.open())
    }

    #[test]
    fn everything_of_a_story_that_ends_well_is_returned_or_still_in_use() {
        let trace = story().build();
        let (taken, returned, lost, open) = of(&trace, "resident runtimes");
        assert!(taken > 0 && lost == 0, "{taken} taken, {lost} lost");
        assert_eq!(open, (taken - returned) as i64);
        assert_eq!(of(&trace, "reservations").3, 0);
    }

    #[test]
    fn what_an_object_holds_is_lost_with_its_memory_and_returned_when_it_is_found() {
        let gone = || story().state(6_000, "s1", "permit.granted", &[]).platform(6_001, "s1", "object.gone", &[]);
        let before = of(&story().build(), "permits");
        let (taken, returned, lost, open) = of(&gone().build(), "permits");
        assert_eq!((taken, returned, lost, open), (before.0 + 1, before.1, 1, before.3));
        let found = gone().state(60_000, "s1", "permit.returned", &[]).build();
        assert_eq!(of(&found, "permits"), (before.0 + 1, before.1 + 1, 0, before.3));
    }

    #[test]
    fn an_entry_that_is_replaced_is_one_entry() {
        let twice = story().state(6_000, "s9", "registry.added", &[]).state(6_001, "s9", "registry.added", &[]).build();
        assert_eq!(of(&twice, "registry entries").0, of(&story().build(), "registry entries").0 + 1);
    }

    #[test]
    fn more_given_back_than_taken_shows_as_less_than_nothing() {
        let twice = story().state(9_999, "s9", "lease.returned", &[]).build();
        assert_eq!(of(&twice, "leases").3, of(&story().build(), "leases").3 - 1);
    }

    #[test]
    fn ledgers_of_runs_add_up() {
        let one = ledgers(&story().build());
        let sums = sum([one.clone(), one.clone()]);
        assert!(sums.iter().zip(&one).all(|(sum, one)| sum.taken == 2 * one.taken && sum.open() == 2 * one.open()));
    }
}
