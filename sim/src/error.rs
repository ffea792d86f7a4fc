//! What stops a command before or beside its findings: a person's mistake, or a failure of the harness itself.

use crate::exit_code::ExitCode;

/// A reason why a command could not do its work. Findings are results and never travel as errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The command line or a file is wrong. One sentence: what, where, what to do; no period at its end.
    #[error("{0}")]
    Usage(String),
    /// The harness or its surroundings failed: a full disk, a worker that cannot be started.
    #[error("{0}")]
    Harness(String),
    /// A person pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A person's mistake.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }

    /// A failure of the harness.
    pub fn harness(sentence: impl Into<String>) -> Self {
        Self::Harness(sentence.into())
    }

    /// The code that the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::Usage,
            Self::Harness(_) => ExitCode::Harness,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }
}

impl From<scenarios::bad_input::BadInput> for Error {
    fn from(refusal: scenarios::bad_input::BadInput) -> Self {
        Self::Usage(refusal.to_string())
    }
}
