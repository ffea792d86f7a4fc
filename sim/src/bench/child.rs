//! Other programs, run to their end: what they say is kept up to a bound, and an interruption does not wait for them.

use super::check_interrupt;
use crate::error::Error;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// How long an interruption may go unnoticed.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);
/// The most that is kept of one of its outputs; a program that says more is ended.
const OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a program said, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; none for one that was killed.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Why there is no [`Ended`].
#[derive(Debug)]
pub enum NotRun {
    /// It cannot be started.
    NotStarted(io::Error),
    /// It took longer than it may, or said too much, and was ended.
    Ended,
}

/// Runs a program with no input. Without a limit it may take as long as it likes.
///
/// # Errors
/// An interruption, soon after it was asked for; a harness error when it cannot be watched.
pub fn run(command: &mut Command, limit: Option<Duration>) -> Result<Result<Ended, NotRun>, Error> {
    check_interrupt()?;
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Ok(Err(NotRun::NotStarted(error))),
    };
    let stdout = read_beside(child.stdout.take());
    let stderr = read_beside(child.stderr.take());
    let (stdout, stderr) = match (stdout, stderr) {
        (Ok(stdout), Ok(stderr)) => (stdout, stderr),
        (Err(error), _) | (_, Err(error)) => {
            end(child);
            return Err(error);
        }
    };
    let mut left = limit;
    let said = wait(&stdout, &mut left).and_then(|stdout| Some((stdout, wait(&stderr, &mut left)?)));
    let Some((stdout, stderr)) = said else {
        end(child);
        check_interrupt()?;
        return Ok(Err(NotRun::Ended));
    };
    let status = child.wait().map_err(|error| {
        Error::harness(format!("a program that was measured cannot be waited for: {}", crate::files::reason(&error)))
    })?;
    Ok(Ok(Ended { code: status.code(), stdout, stderr }))
}

/// This program, to be run with these arguments.
///
/// # Errors
/// A harness error when the system does not say where it is.
pub fn this_program() -> Result<Command, Error> {
    let program = std::env::current_exe().map_err(|error| {
        Error::harness(format!("sim does not know where it is itself: {}", crate::files::reason(&error)))
    })?;
    Ok(Command::new(program))
}

fn end(mut child: Child) {
    // That it is gone already is no failure.
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads to the end on a thread of its own. Nothing comes when there was too much.
fn read_beside(from: Option<impl Read + Send + 'static>) -> Result<Receiver<String>, Error> {
    let (send, receive) = mpsc::channel();
    let reader = std::thread::Builder::new().name("program output".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let Some(from) = from else { return };
        let is_read = from.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut bytes).is_ok();
        if is_read && bytes.len() as u64 <= OUTPUT_BYTES_MAX {
            // Nobody listens any more when the program was given up.
            let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
        }
    });
    reader.map_err(|error| Error::harness(format!("no thread for an output: {}", crate::files::reason(&error))))?;
    Ok(receive)
}

#[expect(clippy::disallowed_methods, reason = "this process is outside the simulation and its clock is the real one")]
fn wait(said: &Receiver<String>, left: &mut Option<Duration>) -> Option<String> {
    loop {
        let slice = left.map_or(LOOK_UP_EVERY, |left| left.min(LOOK_UP_EVERY));
        match said.recv_timeout(slice) {
            Ok(text) => return Some(text),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => *left = left.map(|left| left - slice),
        }
        if left.is_some_and(|left| left.is_zero()) || crate::interrupt::is_asked_for() {
            return None;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Option<Duration>) -> Result<Ended, NotRun> {
        run(Command::new("sh").args(["-c", script]), limit).expect("nobody interrupts")
    }

    #[test]
    fn what_a_program_says_and_how_it_ends_is_told() {
        let ended = shell("echo out; echo err >&2; exit 3", None).expect("it ends");
        assert_eq!(ended, Ended { code: Some(3), stdout: "out\n".to_owned(), stderr: "err\n".to_owned() });
    }

    #[test]
    fn a_program_that_takes_too_long_or_says_too_much_is_ended() {
        assert!(matches!(shell("exec sleep 600", Some(Duration::from_millis(60))), Err(NotRun::Ended)));
        assert!(matches!(shell("exec yes", Some(Duration::from_secs(60))), Err(NotRun::Ended)));
    }

    #[test]
    fn a_program_that_does_not_exist_is_not_started() {
        let run = run(&mut Command::new("./no/such/program"), None).expect("nobody interrupts");
        assert!(matches!(run, Err(NotRun::NotStarted(error)) if error.kind() == io::ErrorKind::NotFound));
    }
}
