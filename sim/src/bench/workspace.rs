//! The cold build of the workspace: CPU time of everything that cargo runs for it, into a folder of its own.

use super::Bench;
use super::child::{self, NotRun};
use super::row::{Outcome, Taken};
use crate::error::Error;
use crate::files::Scratch;
use std::path::Path;
use std::process::Command;

/// Ticks a second in `/proc/<pid>/stat`, the same on every Linux that this runs on.
const TICKS_PER_S: f64 = 100.0;

/// CPU seconds of `cargo build --workspace` in the current folder.
///
/// # Errors
/// A harness error when the build fails; an interruption.
pub fn row(bench: &mut Bench) -> Result<Taken, Error> {
    let not_available = |why: &str| Ok(Taken::all(&Outcome::NotAvailable(why.to_owned()), 1));
    if !bench.is_building {
        return not_available("takes minutes: ask for it with `--cold-build`");
    }
    if !(Path::new("Cargo.toml").is_file() && Path::new("sim/Cargo.toml").is_file()) {
        return not_available("this folder is not the checkout: measure there");
    }
    let scratch = Scratch::new("bench-build")?;
    let Some(before) = children_cpu_s() else {
        return not_available("this system does not tell the CPU time of processes: measure on Linux");
    };
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--workspace", "--offline"]).env("CARGO_TARGET_DIR", scratch.path());
    let ended = match child::run(&mut cargo, None)? {
        Ok(ended) => ended,
        Err(NotRun::NotStarted(error)) => {
            return not_available(&format!("cargo cannot be started: {}", crate::files::reason(&error)));
        }
        Err(NotRun::Ended) => return not_available("cargo said too much"),
    };
    if ended.code != Some(0) {
        let first = ended.stderr.lines().next().unwrap_or_default();
        return Err(Error::harness(format!("the workspace does not build: {}", crate::text::shortened(first, 200))));
    }
    let spent = children_cpu_s().map_or(0.0, |after| after - before);
    Ok(Taken::measured(&[spent], "`cargo build --workspace` into an empty folder, dev profile".to_owned()))
}

/// CPU time of the processes that this one started and waited for, and of those that they waited for, in seconds.
fn children_cpu_s() -> Option<f64> {
    children_of(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// The fields `cutime` and `cstime`, the 16th and 17th; the second is a name in brackets that may have spaces in it.
fn children_of(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13).map(str::parse::<u64>);
    let (user, system) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some((user + system) as f64 / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_read_past_a_name_with_spaces() {
        let stat = "1743 (a b) c) S 1 1743 1743 0 -1 4194560 6100 91 2 3 11 12 1530 270 20 0 8 0 36 1 2 3";
        assert_eq!(children_of(stat), Some(18.0));
        assert_eq!(children_of("1743 (sim) S 1 2"), None);
        assert_eq!(children_of(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_of_a_child_counts_once_it_ended() {
        let before = children_cpu_s().expect("Linux tells it");
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        child::run(Command::new("sh").args(["-c", script]), None).expect("nobody interrupts").expect("it ends");
        assert!(children_cpu_s().expect("Linux tells it") > before);
    }
}
