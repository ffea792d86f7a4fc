//! The seed contract, executable: forty rows, each a plan with a judgement over its trace, or a pure function called directly.
//!
//! A row is what the host's own tests and end-to-end scenarios promise, restated for a world: storage is filled before the
//! run, methods are called through stubs, gates and failing writes are faults of the plan. One file a letter.

mod a;
mod b;
mod c;
mod d;
mod e;
mod f;
mod g;
mod h;
mod j;
mod seen;
mod stage;

use crate::plan::Plan;
use crate::trace::Trace;

pub use seen::Seen;

/// One row.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its id: `A1` to `J5`.
    pub id: &'static str,
    /// What it promises, in a few words; with the id it names the row's test.
    pub title: &'static str,
    /// How it is checked.
    pub check: Check,
}

/// How a row is checked.
#[derive(Clone, Copy)]
pub enum Check {
    /// In a world: this plan, and what its trace must show.
    World {
        /// The plan; always the same.
        plan: fn() -> Plan,
        /// The judgement; a pure function.
        judge: fn(&Seen<'_>) -> Told,
    },
    /// A pure function of the host is called directly; which, only the host's crate knows.
    Direct,
}

/// What a judgement says of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every expectation of the row is met.
    Held,
    /// One is not: which, and what is so instead.
    NotHeld(String),
    /// The run did not come to where the row could be judged; why.
    CannotTell(String),
}

/// Why a judgement stopped; nothing when all is as expected.
pub type Told = Result<(), Verdict>;

/// All rows, in the order of the contract.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [a::ROWS, b::ROWS, c::ROWS, d::ROWS, e::ROWS, f::ROWS, g::ROWS, h::ROWS, j::ROWS].into_iter().flatten()
}

/// The row of that id, in either case.
pub fn row(id: &str) -> Option<&'static Row> {
    rows().find(|row| row.id.eq_ignore_ascii_case(id))
}

/// Judges the trace of a row's plan.
pub fn judge(row: &Row, trace: &Trace) -> Verdict {
    let Check::World { judge, .. } = row.check else {
        return Verdict::CannotTell("the row is about a function that is called directly".to_owned());
    };
    if !trace.is_complete() {
        return Verdict::CannotTell("the run did not come to its planned end".to_owned());
    }
    judge(&Seen::new(trace)).err().unwrap_or(Verdict::Held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_forty_rows_with_ids_of_their_own() {
        let ids: BTreeSet<&str> = rows().map(|row| row.id).collect();
        assert_eq!((rows().count(), ids.len()), (40, 40));
        assert_eq!(row("h10").map(|row| row.id), Some("H10"));
    }

    #[test]
    fn plans_of_rows_are_valid_and_name_their_row() {
        for row in rows() {
            let Check::World { plan, .. } = row.check else { continue };
            let plan = plan();
            assert_eq!(Plan::parse(plan.to_json().as_bytes()).as_ref(), Ok(&plan), "{}", row.id);
            assert_eq!(plan.scenario, format!("contract/{}", row.id.to_lowercase()));
        }
    }

    #[test]
    fn no_row_holds_of_a_run_in_which_nothing_happens_and_none_panics() {
        let mut trace = Trace::default();
        trace.events.push(crate::trace::Event {
            at_ms: 0,
            ordinal: 0,
            stream: crate::trace::Stream::Phase,
            name: "phase".into(),
            who: None,
            fields: vec![("phase".into(), "end".into())],
        });
        for row in rows() {
            assert_ne!(judge(row, &trace), Verdict::Held, "{}", row.id);
            let unended = judge(row, &Trace::default());
            assert!(matches!(unended, Verdict::CannotTell(_)), "{}: {unended:?}", row.id);
        }
    }
}
