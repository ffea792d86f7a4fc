//! Which failures are the platform's and expected, and what to do about each.

use std::rc::Rc;

use super::SessionObject;
use crate::defect::defect;
use crate::fx::{Cause, Exit};
use crate::platform::JsError;
use crate::telemetry::{Span, log_event};

/// How deep a failure is unwrapped.
const CAUSE_DEPTH_MAX: usize = 5;

/// A recognised platform failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// `code_update`, `destroyed`, ….
    pub kind: &'static str,
    /// `transient` or `session_dead`.
    pub disposition: &'static str,
}

/// Texts in order, messages before the flag; the first that is contained wins.
const TEXTS: &[(&str, &str)] = &[
    ("durable object reset because its code was updated", "code_update"),
    ("storage operation exceeded timeout", "storage_timeout"),
    ("internal error in durable object storage", "storage_internal"),
    ("internal error while starting up durable object", "startup_internal_error"),
    ("blockconcurrencywhile() in a durable object waited for too long", "concurrency_reset"),
    ("exceeded its cpu time limit and was reset", "cpu_limit"),
    ("internal error; reference =", "internal_error"),
];

/// Classifies a failure; none when it is not the platform's.
pub fn classify(error: &JsError) -> Option<Reset> {
    let mut next = Some(error);
    for _ in 0..CAUSE_DEPTH_MAX {
        let error = next?;
        if let Some(reset) = classify_one(error) {
            return Some(reset);
        }
        next = error.cause.as_deref();
    }
    None
}

fn classify_one(error: &JsError) -> Option<Reset> {
    let message = error.message.trim().to_lowercase();
    if message == "destroyed" {
        return Some(Reset { kind: "destroyed", disposition: "session_dead" });
    }
    let kind = TEXTS.iter().find(|(text, _)| message.contains(text)).map(|(_, kind)| *kind);
    let kind = kind.or(error.retryable.then_some("retryable"))?;
    Some(Reset { kind, disposition: "transient" })
}

/// Records a recognised reset: a warning and the span's attributes, never a capture.
pub(super) fn record_reset(
    session: &SessionObject,
    operation: &'static str,
    error: &JsError,
    reset: Reset,
    span: &Span,
) {
    log_event!(
        warn,
        "mcp_session_durable_object_reset",
        session.label(),
        operation = operation,
        sessionId = &*session.session_id_for_telemetry(),
        resetKind = reset.kind,
        disposition = reset.disposition,
        cause = &*error.to_string(),
    );
    span.set("mcp.do.reset_kind", reset.kind);
    span.set("mcp.do.reset_disposition", reset.disposition);
    span.set("mcp.do.reset_operation", operation);
}

/// best effort(operation): a recognised failure is recorded and absorbed, anything else fails exactly as before.
pub(super) fn best_effort(
    session: &Rc<SessionObject>,
    operation: &'static str,
    exit: Exit<()>,
    span: &Span,
) -> Exit<()> {
    let Err(cause) = &exit else { return exit };
    let Some(error) = cause.error() else { return exit };
    let is_fatal = operation == "init.mark_activity" && defect!(session.config, ActivityFatalInInit);
    match classify(error).filter(|_| !is_fatal) {
        Some(reset) => {
            record_reset(session, operation, error, reset, span);
            Ok(())
        }
        None if defect!(session.config, EveryFailureAbsorbed) => Ok(()),
        None => {
            assert!(!matches!(cause, Cause::Interrupt));
            exit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destroyed_object_is_dead_and_only_the_exact_word_says_so() {
        let dead = Some(Reset { kind: "destroyed", disposition: "session_dead" });
        assert_eq!(classify(&JsError::new(" Destroyed ")), dead);
        assert_eq!(classify(&JsError::new("it was destroyed")), None);
    }

    #[test]
    fn a_wrapped_reset_is_recognised_down_to_five_levels() {
        let wrap = |levels| (0..levels).fold(JsError::code_updated(), |cause, _| JsError::wrapping("outer", cause));
        assert_eq!(classify(&wrap(4)).map(|reset| reset.kind), Some("code_update"));
        assert_eq!(classify(&wrap(5)), None);
    }

    #[test]
    fn a_message_wins_over_the_retryable_flag() {
        let error = JsError { retryable: true, ..JsError::new("internal error; reference = abc") };
        assert_eq!(classify(&error).map(|reset| reset.kind), Some("internal_error"));
        assert_eq!(classify(&JsError::connection_lost()).map(|reset| reset.kind), Some("retryable"));
    }

    #[test]
    fn a_memory_reset_is_not_recognised_by_this_version() {
        assert_eq!(classify(&JsError::memory_exceeded()), None);
    }
}
