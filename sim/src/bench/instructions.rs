//! Counts instructions: a part runs under callgrind, twice with different numbers of repetitions, and the start cancels.

use super::child::{self, Ended, NotRun};
use super::part::{self, Part};
use super::ratio;
use crate::error::Error;
use std::io::ErrorKind;
use std::process::Command;

/// Instructions of one repetition of a part, or why they cannot be counted. `make` builds it for a number of repetitions.
///
/// # Errors
/// An interruption; a harness error of [`child::run`].
pub fn of_one_repetition(
    make: impl Fn(u32) -> Part,
    repetitions: [u32; 2],
    change_arguments: &[String],
) -> Result<Result<f64, String>, Error> {
    let [few, many] = repetitions;
    let (few_count, many_count) = match (count(&make(few), change_arguments)?, count(&make(many), change_arguments)?) {
        (Ok(few), Ok(many)) => (few, many),
        (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
    };
    Ok(Ok(ratio(many_count as f64 - few_count as f64, f64::from(many - few))))
}

fn count(part: &Part, change_arguments: &[String]) -> Result<Result<u64, String>, Error> {
    let mut valgrind = Command::new("valgrind");
    // The total is all that is wanted, and it is told at the end.
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let mut command = part::under(valgrind, part, change_arguments)?;
    Ok(match child::run(&mut command, None)? {
        Ok(ended) => told(&ended),
        Err(NotRun::NotStarted(error)) if error.kind() == ErrorKind::NotFound => {
            Err("valgrind, which counts instructions, is not installed: install its package".to_owned())
        }
        Err(NotRun::NotStarted(error)) => Err(format!("valgrind cannot be started: {}", crate::files::reason(&error))),
        Err(NotRun::Ended) => Err("valgrind said too much".to_owned()),
    })
}

fn told(ended: &Ended) -> Result<u64, String> {
    match (ended.code, collected(&ended.stderr)) {
        (Some(0), Some(count)) => Ok(count),
        (Some(0), None) => Err("valgrind does not tell how many instructions there were".to_owned()),
        _ => {
            let last = ended.stderr.trim().lines().last().unwrap_or_default();
            Err(format!("what runs under valgrind failed: {}", crate::text::shortened(last, 200)))
        }
    }
}

/// The total that callgrind tells at its end, in a line such as `==12== Collected : 51283`.
fn collected(told: &str) -> Option<u64> {
    let mut totals = told.lines().filter_map(|line| {
        let (process, rest) = line.strip_prefix("==")?.split_once("== Collected :")?;
        process.parse::<u64>().ok()?;
        // With caches simulated more counts follow; instructions come first.
        rest.split_whitespace().next()?.parse().ok()
    });
    totals.next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "==11812== Callgrind, a call-graph generating cache profiler\n\
        ==11812== Command: sim bench-part {}\n\
        ==11812== \n\
        ==11812== Events    : Ir\n\
        ==11812== Collected : 512830417\n\
        ==11812== \n\
        ==11812== I   refs:      512,830,417\n";

    fn ended(code: Option<i32>, stderr: &str) -> Ended {
        Ended { code, stdout: String::new(), stderr: stderr.to_owned() }
    }

    #[test]
    fn the_total_of_callgrind_is_read() {
        assert_eq!(told(&ended(Some(0), TOLD)), Ok(512_830_417));
        assert_eq!(collected("==1== Collected : 7 3 2 1\n"), Some(7));
    }

    #[test]
    fn what_only_looks_like_it_is_not() {
        for text in ["", "Collected : 7", "==x== Collected : 7", "==1== Collected : many", "error: Collected : 9"] {
            assert_eq!(collected(text), None, "{text}");
        }
        assert!(told(&ended(Some(0), "==1== no total")).is_err_and(|why| why.contains("does not tell")));
    }

    #[test]
    fn a_failure_beneath_it_is_told_and_its_total_is_not_used() {
        let failed = told(&ended(Some(20), &format!("{TOLD}error: no\u{1b}thread\n"))).expect_err("it failed");
        assert_eq!(failed, "what runs under valgrind failed: error: no\\u{1b}thread");
    }
}
