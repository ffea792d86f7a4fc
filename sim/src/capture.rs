//! Panics as data: one hook for the process that keeps what a guarded thread panicked with instead of printing it.

use crate::{recorder, world};
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// What it said.
    pub message: String,
    /// Source file below its crate, such as `model/src/rt.rs`; never an absolute path.
    pub file: String,
    /// Line in that file: for people, never part of a digest or a signature.
    pub line: u32,
    /// Virtual ms since the start of the run; 0 outside a run.
    pub at_ms: u64,
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<Caught>> = const { RefCell::new(None) };
}

/// Runs `work`, and gives back the first panic in it instead of unwinding further or printing.
///
/// # Errors
/// The panic.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Caught> {
    install_hook();
    let was_guarded = IS_GUARDED.replace(true);
    CAUGHT.set(None);
    // What the unwound work leaves behind is not looked at again: a run owns everything that it touches.
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    done.map_err(|_| CAUGHT.take().unwrap_or_else(unexplained))
}

fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that ends can panic after its thread-locals are gone: that one is printed.
            if IS_GUARDED.try_with(Cell::get).unwrap_or(false) {
                keep(info);
            } else {
                before(info);
            }
        }));
    });
}

fn keep(info: &PanicHookInfo<'_>) {
    let caught = Caught {
        message: message_of(info),
        file: info.location().map_or_else(String::new, |place| below_crate(place.file())),
        line: info.location().map_or(0, |place| place.line()),
        at_ms: world::run_ms(),
    };
    // Whatever the unwinding says while it drops the world is not part of the run.
    recorder::mute();
    CAUGHT.with_borrow_mut(|first| {
        // Unwinding may panic again in turn; the first one is the cause.
        first.get_or_insert(caught);
    });
}

fn message_of(info: &PanicHookInfo<'_>) -> String {
    info.payload_as_str().unwrap_or("a panic without a message").to_owned()
}

fn unexplained() -> Caught {
    Caught { message: "unwound without a panic".to_owned(), file: String::new(), line: 0, at_ms: 0 }
}

/// A source path below its crate: the folder before the last `src` and what follows it.
fn below_crate(path: &str) -> String {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let from = parts
        .iter()
        .rposition(|part| *part == "src" || *part == "tests")
        .map_or(parts.len() - 1, |at| at.saturating_sub(1));
    parts[from.min(parts.len() - 1)..].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_kept_with_message_and_place_and_not_unwound() {
        let caught = guarded(|| panic!("number {}", 7)).expect_err("it panics");
        assert_eq!(caught.message, "number 7");
        assert_eq!(caught.file, "sim/src/capture.rs");
        assert!(caught.line > 0);
        assert_eq!(guarded(|| 5), Ok(5));
    }

    #[test]
    fn the_first_of_two_panics_is_the_one_that_is_told() {
        struct PanicsToo;
        impl Drop for PanicsToo {
            fn drop(&mut self) {
                let inner = panic::catch_unwind(|| panic!("second"));
                assert!(inner.is_err());
            }
        }
        let caught = guarded(|| {
            let _late = PanicsToo;
            panic!("first")
        });
        assert_eq!(caught.expect_err("it panics").message, "first");
    }

    #[test]
    fn guards_nest() {
        let outer = guarded(|| {
            let inner = guarded(|| panic!("inner")).expect_err("inner");
            assert_eq!(inner.message, "inner");
            panic!("outer")
        });
        assert_eq!(outer.expect_err("outer").message, "outer");
    }

    #[test]
    fn places_are_below_their_crate() {
        for (path, shown) in [
            ("model/src/session/alarm.rs", "model/src/session/alarm.rs"),
            (
                "/home/x/.cargo/registry/src/index-1/madsim-0.2.34/src/sim/task/mod.rs",
                "madsim-0.2.34/src/sim/task/mod.rs",
            ),
            ("/rustc/abc/library/core/src/option.rs", "core/src/option.rs"),
            ("main.rs", "main.rs"),
            ("src/main.rs", "src/main.rs"),
        ] {
            assert_eq!(below_crate(path), shown);
        }
    }
}
