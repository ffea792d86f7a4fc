//! Who reports a failure: the session once, or else whoever guards its entry points; never both, never a reset.

use std::sync::Arc;

use super::SessionObject;
use super::failure::classify;
use crate::platform::JsError;
use crate::telemetry::{self, Span};

/// The failure that the session dealt with last, by identity: one and the same throw reaches every caller of a start.
#[derive(Default)]
pub(crate) struct Claimed(std::cell::RefCell<Option<Arc<str>>>);

impl Claimed {
    fn holds(&self, error: &JsError) -> bool {
        self.0.borrow().as_ref().is_some_and(|message| Arc::ptr_eq(message, &error.message))
    }
}

/// `claimCauseHandled`: the session has decided what to do about a failure, so the guard of the entry points must drop
/// its copy. Called after any capture of the session's own.
pub(super) fn claim(session: &SessionObject, error: &JsError) {
    *session.claimed.0.borrow_mut() = Some(Arc::clone(&error.message));
}

/// What the host's error reporter around an entry point does with the outcome: a failure that nobody has claimed and
/// that is no recognised reset is captured as it escapes, once however many entry points it escapes from. The outcome
/// itself is not changed.
pub(super) fn escaping<T>(session: &SessionObject, outcome: Result<T, JsError>) -> Result<T, JsError> {
    if let Err(error) = &outcome
        && !session.claimed.holds(error)
        && classify(error).is_none()
    {
        telemetry::capture(session.label(), error);
        claim(session, error);
    }
    outcome
}

/// Puts a failure on the span of an effect that ends with it.
pub(super) fn record_cause(span: &Span, error: &JsError) {
    span.fail(error);
    span.set("exception.stacktrace", error.to_string());
}
