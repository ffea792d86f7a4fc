//! Rows of reach that may stay dark, by name, each with the reason why. Whoever brings what lights a row takes its line out.

/// One line a row: its name, and why it may be dark.
#[rustfmt::skip]
pub const EXCUSED: &[(&str, &str)] = &[
];

/// Why the row of that name may stay dark, if it may.
pub fn excuse(name: &str) -> Option<&'static str> {
    EXCUSED.iter().find(|(excused, _)| *excused == name).map(|(_, reason)| *reason)
}
