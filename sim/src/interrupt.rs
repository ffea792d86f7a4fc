//! Ctrl-C, and the signal that a supervisor ends jobs with, for commands that leave something behind: it is noticed and answered by cleaning up, not by dying at once.

use crate::error::Error;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Set by the signal.
static ASKED_FOR: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on either signal is only noticed; a second one ends the process at once, as 130.
///
/// # Errors
/// A harness error when the system refuses.
pub fn notice() -> Result<(), Error> {
    let asked_for = ASKED_FOR.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        let second = flag::register_conditional_shutdown(signal, 130, Arc::clone(asked_for));
        let first = second.and_then(|_| flag::register(signal, Arc::clone(asked_for)));
        first.map_err(|error| Error::harness(format!("Ctrl-C cannot be watched for: {error}")))?;
    }
    Ok(())
}

/// Whether somebody wants it to end since [`notice`].
pub fn is_asked_for() -> bool {
    ASKED_FOR.get().is_some_and(|asked_for| asked_for.load(Ordering::Relaxed))
}

/// Answers the request: what comes now is the cleaning up, and the next signal asks again, to leave that too.
pub fn answer() {
    if let Some(asked_for) = ASKED_FOR.get() {
        asked_for.store(false, Ordering::Relaxed);
    }
}
