//! Where builds and settings of the runtime differ: one habit each.

use super::cluster::RuntimeBuild;

/// What the builds of the runtime do differently. A build settles all of them; each can be put otherwise by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildHabits {
    /// An alarm that constructs its object brings the object's name (platform facts 7, 8).
    pub cold_alarm_has_name: bool,
    /// A timer from before a section, due inside it, blocks the timers of the section (platform fact 33).
    pub jams_timers: bool,
    /// A reset from outside does not count as a failure of the alarm that runs (platform fact 86).
    pub spares_alarms: bool,
    /// A value over 2 MB is refused (platform fact 55).
    pub limits_values: bool,
    /// A write to another context's TCP connection hangs instead of throwing (platform fact 122).
    pub hangs_on_foreign_write: bool,
    /// `getAlarm` costs two trips instead of three (measured).
    pub get_alarm_is_short: bool,
}

impl RuntimeBuild {
    /// What this build does.
    pub fn habits(self) -> BuildHabits {
        let is_older = self == RuntimeBuild::May2026;
        BuildHabits {
            cold_alarm_has_name: !is_older,
            jams_timers: is_older,
            spares_alarms: !is_older,
            limits_values: is_older,
            hangs_on_foreign_write: is_older,
            get_alarm_is_short: !is_older,
        }
    }

    /// Whether code that is reset from outside goes on without storage, as this build was seen to do it on a developer's
    /// machine (platform facts 109, 110). In production either happens: see [`Switches::leaves_zombies`].
    pub fn leaves_zombies(self) -> bool {
        self == RuntimeBuild::May2026
    }
}

/// The habits of a cluster that its build does not settle, or that are otherwise than its build has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// What the builds do differently; when absent, as the cluster's build does it.
    pub habits: Option<BuildHabits>,
    /// Code that is reset from outside goes on without storage (platform facts 22, 23, 109).
    pub leaves_zombies: bool,
    /// Deleting everything deletes the alarm too (platform fact 62).
    pub wipes_alarm: bool,
    /// An eviction cuts off work in the background (platform fact 16).
    pub evicts_pending_work: bool,
    /// A code update waits until the object is idle, for 300 s at most (platform fact 24).
    pub defers_updates: bool,
    /// The other side of a socket hears nothing of a reset (platform fact 145).
    pub drops_sockets_silently: bool,
    /// Compatibility flag `enhanced_error_serialization`: errors keep name and flags over a call (platform facts 93, 99).
    pub keeps_errors: bool,
    /// The runtime of a developer's machine: idle objects go after ten seconds (platform facts 15, 16), and an alarm that
    /// is set while a retry waits is run by that retry (fact 83).
    pub is_local: bool,
}
