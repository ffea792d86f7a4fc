//! The exit codes of `sim`, what each promises to a caller, and which one wins when several apply.

/// How a command ended, as its process reports it.
///
/// Only a command that has something to clean up catches Ctrl-C and ends with 130; every other one is ended by the
/// signal, which a shell reports as 130 as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything that was judged held.
    Held = 0,
    /// The command line or a file that was handed in is wrong; nothing was run. Or a place that results were to go to
    /// cannot be written to: where that shows after a run, what it found is told all the same.
    Usage = 2,
    /// An *always* claim was violated.
    Safety = 10,
    /// An *eventually* claim was violated.
    Liveness = 11,
    /// The modelled system panicked or never came to rest.
    Crash = 12,
    /// The same plan gave two different traces.
    Nondeterminism = 13,
    /// A fault that the plan asks for was never delivered.
    Unmet = 14,
    /// The harness itself failed; nothing is known about the modelled system.
    Harness = 20,
    /// A person stopped it.
    Interrupted = 130,
}

/// Findings from the gravest to the lightest. What casts doubt on everything else comes first.
const PRECEDENCE: [ExitCode; 6] = [
    ExitCode::Harness,
    ExitCode::Nondeterminism,
    ExitCode::Crash,
    ExitCode::Safety,
    ExitCode::Liveness,
    ExitCode::Unmet,
];

impl ExitCode {
    /// What a finding can be, gravest first.
    pub const FINDINGS: [Self; 6] = PRECEDENCE;

    /// The number that the process returns.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// One word for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Usage => "usage",
            Self::Safety => "safety",
            Self::Liveness => "liveness",
            Self::Crash => "crash",
            Self::Nondeterminism => "nondeterminism",
            Self::Unmet => "unmet",
            Self::Harness => "harness error",
            Self::Interrupted => "interrupted",
        }
    }

    /// The code of several results together: 20, 13, 12, 10, 11, 14, in this order, else 0.
    ///
    /// A usage mistake is found before anything runs, so it never meets a finding; alone it stays 2.
    pub fn merge(codes: impl IntoIterator<Item = ExitCode>) -> ExitCode {
        let mut found = Vec::from_iter(codes);
        found.retain(|code| *code != Self::Held);
        found.into_iter().min_by_key(|code| code.gravity()).unwrap_or(Self::Held)
    }

    /// Its place in that order, 0 for the gravest.
    pub fn gravity(self) -> usize {
        PRECEDENCE.iter().position(|each| *each == self).unwrap_or(PRECEDENCE.len())
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::ExitCode::{self, *};

    #[test]
    fn the_numbers_are_those_of_the_documentation() {
        let numbers = [Held, Usage, Safety, Liveness, Crash, Nondeterminism, Unmet, Harness, Interrupted];
        assert_eq!(numbers.map(ExitCode::number), [0, 2, 10, 11, 12, 13, 14, 20, 130]);
    }

    #[test]
    fn the_graver_of_any_two_findings_wins_in_either_order() {
        for (graver, at) in super::PRECEDENCE.into_iter().zip(1..) {
            for lighter in super::PRECEDENCE.into_iter().skip(at) {
                assert_eq!(ExitCode::merge([graver, lighter, Held]), graver);
                assert_eq!(ExitCode::merge([Held, lighter, graver]), graver);
            }
        }
    }

    #[test]
    fn nothing_found_is_held_and_a_lone_usage_mistake_stays_one() {
        assert_eq!(ExitCode::merge([]), Held);
        assert_eq!(ExitCode::merge([Held, Held]), Held);
        assert_eq!(ExitCode::merge([Usage]), Usage);
    }
}
