//! What is known about the real platform: every fact with its sources, and whether it is modelled here.
//!
//! One file a section, one line a fact. A modelled fact has a comment `Fact: N. <sentence> [<sources>]` where it is
//! modelled, and a test whose name begins with `fact_<N>_` (or with several numbers, `fact_46_143_…`). One that is not
//! says which trouble that means for who relies on the simulation. `model/PLATFORM.md` is made from this list.
//!
//! Sources are marked as the list of facts marks them: `R:` ran on both builds of the real runtime, `R26:` and `R11:` on
//! the older and the newer only, `RF:` with newer flags, `RA:`, `RP:` and `RN:` with packages as published, with the
//! host's patch, and with later ones; `S:` read in a source, `D:` in documentation, `I:` in an issue; `PUB` for texts that
//! several public projects match on.

/// Whether a fact is modelled, and else what that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is modelled and tested.
    Modelled,
    /// It is in part, and tested; the rest is not, so that something wrong about this may go unseen.
    PartlyMissedBug(&'static str),
    /// It is in part, and tested; the rest is not, so that something right about this may be called wrong.
    PartlyFalseAlarm(&'static str),
    /// It is not, so that something wrong about this may go unseen.
    MissedBug(&'static str),
    /// It is not, so that something right about this may be called wrong.
    FalseAlarm(&'static str),
    /// The described host replaces it, as that fact says.
    Replaced(&'static str),
}

impl State {
    /// Whether it is modelled, at least in part.
    pub fn is_modelled(&self) -> bool {
        matches!(self, State::Modelled | State::PartlyMissedBug(_) | State::PartlyFalseAlarm(_))
    }
}

/// One fact about the platform.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Its number in the list of facts; later ones that belong to an earlier one have a letter.
    pub number: &'static str,
    /// What is so, in one sentence.
    pub sentence: &'static str,
    /// Where that comes from, separated by commas.
    pub sources: &'static str,
    /// Whether it is modelled.
    pub state: State,
}

/// Facts about one thing.
pub struct Section {
    /// What they are about.
    pub title: &'static str,
    /// The facts, by number.
    pub facts: &'static [Fact],
}

/// Facts as lines: number, sentence, sources in brackets, state.
macro_rules! facts {
    ($($number:literal $sentence:literal [$sources:literal] $state:ident $(($about:literal))?;)*) => {
        &[$(Fact { number: $number, sentence: $sentence, sources: $sources, state: state!($state $(($about))?) }),*]
    };
}

macro_rules! state {
    (modelled) => {
        State::Modelled
    };
    (partly_missed_bug($rest:literal)) => {
        State::PartlyMissedBug($rest)
    };
    (partly_false_alarm($rest:literal)) => {
        State::PartlyFalseAlarm($rest)
    };
    (missed_bug($about:literal)) => {
        State::MissedBug($about)
    };
    (false_alarm($about:literal)) => {
        State::FalseAlarm($about)
    };
    (replaced_by($by:literal)) => {
        State::Replaced($by)
    };
}

mod agent;
mod alarms;
mod background;
mod calls;
mod contexts;
mod decisions;
mod gates;
mod identity;
mod isolates;
mod life;
mod mcp_agent;
mod partyserver;
mod resets;
mod sockets;
mod storage;
#[cfg(test)]
mod tests;

pub use decisions::{DECISIONS, Decision, UNDRAWN};
mod texts;
mod unsettled;
mod varies;
mod writes;

/// Every section, in the order of the list of facts.
pub const SECTIONS: &[Section] = &[
    Section { title: "Identity and names", facts: identity::FACTS },
    Section { title: "Life and death of an instance", facts: life::FACTS },
    Section { title: "Input gate, order, concurrency", facts: gates::FACTS },
    Section { title: "Writes, output gate, what survives", facts: writes::FACTS },
    Section { title: "Storage API", facts: storage::FACTS },
    Section { title: "Alarms", facts: alarms::FACTS },
    Section { title: "Calls between objects, errors at the caller", facts: calls::FACTS },
    Section { title: "Aborts, resets, code updates", facts: resets::FACTS },
    Section { title: "I/O objects across contexts", facts: contexts::FACTS },
    Section { title: "Background work", facts: background::FACTS },
    Section { title: "Isolates and memory", facts: isolates::FACTS },
    Section { title: "Sockets and streams", facts: sockets::FACTS },
    Section { title: "Texts", facts: texts::FACTS },
    Section { title: "partyserver 0.5.8", facts: partyserver::FACTS },
    Section { title: "agents 0.17.3, class Agent", facts: agent::FACTS },
    Section { title: "agents 0.17.3, class McpAgent", facts: mcp_agent::FACTS },
    Section { title: "What varies", facts: varies::FACTS },
    Section { title: "What is not settled", facts: unsettled::FACTS },
];

/// Every fact.
pub fn all() -> impl Iterator<Item = &'static Fact> {
    SECTIONS.iter().flat_map(|section| section.facts)
}
