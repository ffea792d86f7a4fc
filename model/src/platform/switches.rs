//! Where builds and settings of the runtime differ: one habit each, and by default that of the older build.

/// The habits of a cluster that its build does not settle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Whether an alarm that constructs its object brings the object's name; when absent, as the build does it (platform
    /// facts 7, 8, 11).
    pub cold_alarm_has_name: Option<bool>,
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
