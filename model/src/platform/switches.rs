//! Habits of a platform that its build does not decide: compatibility flags, and what only the local runtime does.

/// The flags and place of a cluster. The default is that of the described host: no flag, in production.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Compatibility flag `delete_all_deletes_alarm` (platform fact 62).
    pub wipes_alarm: bool,
    /// Compatibility flag `enhanced_error_serialization`: errors keep name and flags over a call (platform facts 93, 99).
    pub keeps_errors: bool,
    /// The runtime of a developer's machine: idle objects go after ten seconds (platform facts 15, 16), and an alarm that
    /// is set while a retry waits is run by that retry (fact 83).
    pub is_local: bool,
}
