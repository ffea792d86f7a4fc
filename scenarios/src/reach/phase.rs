//! The life cycle of a session (session-core §2.29) as the states that a replayed trace shows.

use crate::invariants::replay::Session;

/// Where a session is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It was never started.
    #[default]
    Absent,
    /// A start runs.
    Starting,
    /// A runtime is installed and nothing else goes on.
    Resident,
    /// A disposal runs.
    Disposing,
    /// It has been started before and has no runtime.
    Cold,
    /// It is marked for destruction, whatever else goes on.
    Condemned,
    /// `destroy` runs.
    Destroying,
    /// Its storage is gone.
    Wiped,
}

impl Phase {
    /// All of them, in the order of a life.
    pub const ALL: [Phase; 8] = [
        Phase::Absent,
        Phase::Starting,
        Phase::Resident,
        Phase::Disposing,
        Phase::Cold,
        Phase::Condemned,
        Phase::Destroying,
        Phase::Wiped,
    ];

    /// The phase of a session that was in `before` just before.
    pub fn of(session: &Session, before: Phase) -> Phase {
        let is_starting = session.start_count > 0 || session.init_count > 0;
        let is_empty = session.runtime.is_none() && !is_starting;
        let is_condemned = session.condemned_at_ms.is_some_and(|at| session.wiped_at_ms.is_none_or(|wiped| wiped < at));
        if session.is_destroying {
            Phase::Destroying
        } else if session.wiped_at_ms.is_some() && is_empty && matches!(before, Phase::Destroying | Phase::Wiped) {
            Phase::Wiped
        } else if is_condemned {
            Phase::Condemned
        } else if session.disposal_count > 0 {
            Phase::Disposing
        } else if is_starting {
            Phase::Starting
        } else if session.runtime.is_some() {
            Phase::Resident
        } else if before == Phase::Absent {
            Phase::Absent
        } else {
            Phase::Cold
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Absent => "absent",
            Phase::Starting => "starting",
            Phase::Resident => "resident",
            Phase::Disposing => "disposing",
            Phase::Cold => "cold",
            Phase::Condemned => "condemned",
            Phase::Destroying => "destroying",
            Phase::Wiped => "wiped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::replay::Runtime;

    #[test]
    fn a_life_goes_through_its_phases_in_order() {
        let mut session = Session::default();
        let mut phase = Phase::default();
        let mut lived = Vec::new();
        let changes: [fn(&mut Session); 9] = [
            |session| session.start_count = 1,
            |session| session.runtime = Some(Runtime { number: Some(1), engine: None, at_ms: 1 }),
            |session| session.start_count = 0,
            |session| session.disposal_count = 1,
            |session| session.runtime = None,
            |session| session.disposal_count = 0,
            |session| session.condemned_at_ms = Some(5),
            |session| session.is_destroying = true,
            |session| (session.wiped_at_ms, session.is_destroying) = (Some(6), false),
        ];
        for change in changes {
            change(&mut session);
            phase = Phase::of(&session, phase);
            if lived.last() != Some(&phase) {
                lived.push(phase);
            }
        }
        assert_eq!(lived, Phase::ALL[1..]);
    }

    #[test]
    fn who_was_never_started_stays_absent_and_who_was_wiped_can_start_anew() {
        assert_eq!(Phase::of(&Session::default(), Phase::Absent), Phase::Absent);
        let wiped = Session { wiped_at_ms: Some(6), condemned_at_ms: Some(5), ..Session::default() };
        assert_eq!(Phase::of(&wiped, Phase::Destroying), Phase::Wiped);
        let again = Session { start_count: 1, ..wiped };
        assert_eq!(Phase::of(&again, Phase::Wiped), Phase::Starting);
    }
}
