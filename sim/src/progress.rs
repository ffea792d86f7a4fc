//! Progress of long work on standard error: one line that is rewritten on a terminal, else a plain line every few seconds.

use crate::text::shortened;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line of a terminal is rewritten.
const REWRITE_EVERY: Duration = Duration::from_millis(200);
/// How often a plain line is written where there is no terminal.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// The longest line, in characters.
const LINE_CHARS_MAX: usize = 200;

/// Progress of one command.
pub struct Progress {
    is_terminal: bool,
    began: Instant,
    told: Option<Instant>,
    width: usize,
}

impl Progress {
    /// Begins now.
    pub fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), began: now(), told: None, width: 0 }
    }

    /// Wall-clock time since the beginning.
    pub fn elapsed(&self) -> Duration {
        now().duration_since(self.began)
    }

    /// Says how far it is, if it is time to say so again.
    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        let every = if self.is_terminal { REWRITE_EVERY } else { TELL_EVERY };
        let last = self.told.unwrap_or(self.began);
        if now().duration_since(last) >= every {
            self.say(&line());
        }
    }

    /// Says how far it is now.
    pub fn say(&mut self, line: &str) {
        self.told = Some(now());
        let shown = shortened(line, if self.is_terminal { columns() } else { LINE_CHARS_MAX });
        let length = shown.chars().count();
        // Nothing is to be done when even that fails.
        let _ = if self.is_terminal {
            write!(io::stderr(), "\r{shown:<width$}", width = self.width).and_then(|()| io::stderr().flush())
        } else {
            writeln!(io::stderr(), "{shown}")
        };
        self.width = length;
    }

    /// Says something that stays, above the line that is rewritten.
    pub fn note(&mut self, note: &str) {
        self.clear();
        let _ = writeln!(io::stderr(), "{}", crate::text::printable(note));
    }

    /// Takes the rewritten line away.
    pub fn clear(&mut self) {
        if self.is_terminal && self.width > 0 {
            let _ = write!(io::stderr(), "\r{:width$}\r", "", width = self.width);
            self.width = 0;
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

/// Characters that a line of the terminal takes without going on in the next, which could not be rewritten.
fn columns() -> usize {
    let columns = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    columns.unwrap_or(80).clamp(2, LINE_CHARS_MAX) - 1
}

/// A time as people say it: `42 s`, `3 min 20 s`, `2 h 5 min`.
pub fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[expect(clippy::disallowed_methods, reason = "progress is told in wall-clock time, outside of any run")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spoken_in_two_units_at_most() {
        let told = [0, 59, 60, 200, 3600, 7500].map(|seconds| spoken(Duration::from_secs(seconds)));
        assert_eq!(told, ["0 s", "59 s", "1 min 0 s", "3 min 20 s", "1 h 0 min", "2 h 5 min"]);
    }
}
