//! The errors of the platform that a plan names by their kind.

use model::platform::JsError;
use scenarios::plan::{ErrorFlag, ErrorKind, ResetKind, UNKNOWN_ERROR_TEXT};

/// What a reset of that kind ends the object with.
pub(super) fn reset_error(kind: ResetKind) -> JsError {
    match kind {
        ResetKind::CodeUpdate => JsError::code_updated(),
        ResetKind::Memory => JsError::memory_exceeded(),
        ResetKind::Cpu => JsError::cpu_exceeded(),
        ResetKind::StorageTimeout => JsError::storage_timeout(),
        ResetKind::Moved => JsError::moved(),
    }
}

/// The platform's error of a kind, with the text and flags of the plan if it gives them.
pub(super) fn error_of(kind: ErrorKind, text: Option<&str>, flags: Option<&[ErrorFlag]>) -> JsError {
    let mut error = match kind {
        ErrorKind::CodeUpdate => JsError::code_updated(),
        ErrorKind::StorageTimeout => JsError::storage_timeout(),
        ErrorKind::StorageInternal => JsError::new(
            "Internal error in Durable Object storage write caused object to be reset; reference = 0000000000000000",
        ),
        ErrorKind::StartupInternalError => {
            JsError::new("Internal error while starting up Durable Object storage caused object to be reset.")
        }
        ErrorKind::ConcurrencyReset => JsError::section_too_long(),
        ErrorKind::CpuLimit => JsError::cpu_exceeded(),
        ErrorKind::MemoryLimit => JsError::memory_exceeded(),
        ErrorKind::InternalError => JsError::new("internal error; reference = 000000000000000000000000"),
        ErrorKind::Retryable => JsError::connection_lost(),
        ErrorKind::Destroyed => JsError::aborted("destroyed"),
        ErrorKind::Unknown => JsError::new(UNKNOWN_ERROR_TEXT),
    };
    if let Some(text) = text {
        error.message = text.into();
    }
    if let Some(flags) = flags {
        error.retryable = flags.contains(&ErrorFlag::Retryable);
        error.overloaded = flags.contains(&ErrorFlag::Overloaded);
        error.remote = flags.contains(&ErrorFlag::Remote);
        error.durable_object_reset = flags.contains(&ErrorFlag::DurableObjectReset);
    }
    error
}
