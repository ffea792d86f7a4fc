//! What runs must reach: situations that some run of a campaign has to come to, or the claims about them prove nothing.
//!
//! A row is a chain of conditions, the last of them an event or a state. A run lights it, or says how many of the
//! conditions it lacked. Each table is one file, each row one line.

mod alarm;
mod answers;
mod clients;
mod excuses;
mod fact;
mod judge;
mod life_cycle;
mod logs;
#[cfg(test)]
mod order_tests;
mod pattern;
mod phase;
mod since;
mod situations;
mod spans;
#[cfg(test)]
mod tests;

pub use excuses::{EXCUSED, excuse};
pub use fact::Fact;
pub use judge::judge;
pub use pattern::{Is, Pattern, Place};
pub use phase::Phase;

use std::sync::{Arc, LazyLock};

/// The most conditions of a row: how far a run was from it is one digit.
pub const CONDITION_COUNT_MAX: usize = 9;

/// A situation that some run must come to.
#[derive(Clone, Copy, Debug)]
pub struct Sometimes {
    /// Its name, a path that begins with its group: `alarm/extend-paused`.
    pub name: &'static str,
    /// The paragraph of the behavioural description that it comes from.
    pub source: &'static str,
    /// The situation in one sentence.
    pub claim: &'static str,
    /// What leads there, in order, each useful only with those before it. A run that shows the row without them lights
    /// it all the same.
    pub via: &'static [Fact],
    /// What must be so at the moment that shows it.
    pub when: &'static [Fact],
    /// What shows it.
    pub shown_by: Evidence,
}

/// What shows that a row is reached.
#[derive(Clone, Copy, Debug)]
pub enum Evidence {
    /// One of these events.
    Events(&'static [Pattern]),
    /// A session in this state.
    State(Phase),
    /// A session that goes from one state to another, by the event of this name, or by any where it is empty.
    Change(Phase, Phase, &'static str),
}

/// What a run says of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It came there.
    Yes,
    /// It did not.
    No(Closest),
}

/// The closest that a run came to a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// Conditions of the row that were not met there, at least 1.
    pub distance: u8,
    /// Whose moment it was; nobody's where not even the first condition was met.
    pub session: Option<Arc<str>>,
    /// When, in virtual ms since the start of the run.
    pub at_ms: u64,
}

/// A group of rows.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its name, with which the names of its rows begin.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its rows.
    pub rows: &'static [Sometimes],
}

/// One line a group.
pub const GROUPS: &[Group] = &[
    Group { name: "life-cycle", title: "states and transitions of a session's life", rows: life_cycle::ROWS },
    Group { name: "alarm", title: "branches of the alarm policy", rows: alarm::ROWS },
    Group { name: "span", title: "spans that the host exports", rows: spans::ROWS },
    Group { name: "log", title: "log lines that the host writes", rows: logs::ROWS },
    Group { name: "answer", title: "error answers that clients see", rows: answers::ROWS },
    Group { name: "situation", title: "situations that scenarios are about", rows: situations::ROWS },
    Group { name: "client", title: "what real clients do by themselves", rows: clients::ROWS },
];

/// All rows, group by group.
pub fn rows() -> &'static [&'static Sometimes] {
    static ROWS: LazyLock<Vec<&'static Sometimes>> =
        LazyLock::new(|| GROUPS.iter().flat_map(|group| group.rows).collect());
    &ROWS
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Sometimes> {
    rows().iter().copied().find(|row| row.name == name)
}

impl Sometimes {
    /// A row that one of these events shows.
    const fn events(name: &'static str, source: &'static str, claim: &'static str, events: &'static [Pattern]) -> Self {
        Self { name, source, claim, via: &[], when: &[], shown_by: Evidence::Events(events) }
    }

    /// The same with what leads there.
    const fn via(self, facts: &'static [Fact]) -> Self {
        Self { via: facts, ..self }
    }

    /// The same, only while this is so.
    const fn when(self, facts: &'static [Fact]) -> Self {
        Self { when: facts, ..self }
    }

    /// The conditions before the last one, in order.
    pub fn conditions(&self) -> impl Iterator<Item = Fact> {
        self.via.iter().chain(self.when).copied()
    }

    /// How many conditions there are, what shows it included.
    pub fn condition_count(&self) -> usize {
        self.via.len() + self.when.len() + 1
    }

    /// The first condition that a run lacked which was so far away, in words.
    pub fn missing(&self, distance: u8) -> String {
        let met = self.condition_count().saturating_sub(usize::from(distance));
        let then = if self.when.is_empty() { "" } else { ", at such a moment" };
        self.conditions().nth(met).map_or_else(|| format!("{}{then}", self.shown_by), |fact| fact.words().to_owned())
    }
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Events(events) => events.iter().enumerate().try_for_each(|(index, event)| {
                out.write_str(if index == 0 { "" } else { ", or " })?;
                event.fmt(out)
            }),
            Self::State(phase) => write!(out, "a session is {}", phase.word()),
            Self::Change(from, to, "") => write!(out, "a session goes from {} to {}", from.word(), to.word()),
            Self::Change(from, to, by) => write!(out, "a session goes from {} to {} by `{by}`", from.word(), to.word()),
        }
    }
}

/// What a run says of all rows as text, a digit a row in their order: 0 where it came there, else the distance.
pub fn written(reached: &[Reached]) -> String {
    let digit = |reached: &Reached| match reached {
        Reached::Yes => '0',
        Reached::No(closest) => char::from_digit(u32::from(closest.distance), 10).unwrap_or('9'),
    };
    reached.iter().map(digit).collect()
}
