//! Macros that record what is so on the platform and in the host, for whoever listens.

/// Records a platform event: name, whose, fields.
macro_rules! platform_event {
    ($name:literal, $who:expr $(, $key:ident = $value:expr)* $(,)?) => {
        tracing::debug!(name: $name, target: "platform", who = ::core::convert::AsRef::<str>::as_ref(&$who) $(, $key = $value)*)
    };
}

/// Records a change of the host's own state: name, whose, fields.
macro_rules! state_event {
    ($name:literal, $who:expr $(, $key:ident = $value:expr)* $(,)?) => {
        tracing::debug!(name: $name, target: "state", who = ::core::convert::AsRef::<str>::as_ref(&$who) $(, $key = $value)*)
    };
}
