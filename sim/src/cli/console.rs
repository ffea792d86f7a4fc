//! What a command prints: results to standard output, complaints to standard error, colour only where it is seen.

use crate::error::Error;
use crate::report::Style;
use anstream::{AutoStream, ColorChoice};
use std::io::{self, IsTerminal, Write};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal that can, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also into a file or a pipe.
    Always,
    /// Not at all.
    Never,
}

/// Standard output of one command.
pub struct Console {
    out: AutoStream<io::Stdout>,
    is_closed: bool,
    /// How results are shown on it.
    pub style: Style,
}

impl Console {
    /// Looks at the terminal and the environment once.
    pub fn new(color: Color) -> Self {
        let asked = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::AlwaysAnsi,
            Color::Never => ColorChoice::Never,
        };
        asked.write_global();
        let choice = AutoStream::choice(&io::stdout());
        let is_colored = choice != ColorChoice::Never;
        let style = Style { is_colored, has_glyphs: is_colored || io::stdout().is_terminal() };
        Self { out: AutoStream::new(io::stdout(), choice), is_closed: false, style }
    }

    /// Prints text as it is. Once the reader has gone away nothing more is said, and nothing fails because of it: the
    /// exit code still tells what was found.
    ///
    /// # Errors
    /// A harness error when standard output cannot be written for another reason, a full disk for example.
    pub fn print(&mut self, text: &str) -> Result<(), Error> {
        if self.is_closed {
            return Ok(());
        }
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            Err(error) => {
                Err(Error::harness(format!("cannot write to standard output: {}", crate::files::reason(&error))))
            }
        }
    }

    /// Prints JSON, two spaces deep, with a newline at its end.
    ///
    /// # Errors
    /// As [`Console::print`].
    pub fn print_json(&mut self, value: &serde_json::Value) -> Result<(), Error> {
        self.print(&format!("{value:#}\n"))
    }
}

/// Says something on standard error; nothing is to be done when even that fails.
pub fn complain(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
