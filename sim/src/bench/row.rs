//! A row of the table of numbers: what is measured, what must be reached, and what came of it.

use serde::{Serialize, Serializer};

/// What a figure counts, which is also how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Runs a second.
    RunsPerSecond,
    /// How many times one is the other.
    Times,
    /// Seconds of wall-clock time.
    Seconds,
    /// KiB of memory.
    Kibibytes,
    /// MiB of memory.
    Mebibytes,
    /// Steps of a plan.
    Steps,
    /// Seconds of CPU time.
    CpuSeconds,
    /// Recorded events.
    Events,
}

impl Unit {
    /// A value with its unit.
    pub fn show(self, value: f64) -> String {
        let number = number(value);
        match self {
            Self::RunsPerSecond => format!("{number} runs/s"),
            Self::Times => format!("{number}×"),
            Self::Seconds => format!("{number} s"),
            Self::Kibibytes => format!("{number} KiB"),
            Self::Mebibytes => format!("{number} MiB"),
            Self::Steps => format!("{number} steps"),
            Self::CpuSeconds => format!("{number} CPU-s"),
            Self::Events => format!("{number} events"),
        }
    }
}

/// A number with as many digits as it can be trusted for, and a comma between thousands.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let rest = rest.trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    // What is rounded to nothing has no sign.
    let sign = if grouped == "0" && rest.is_empty() { "" } else { sign };
    format!("{sign}{grouped}{point}{rest}")
}

/// Which side of a bound is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
}

/// A figure of a row, before it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureSpec {
    /// Its name within the row.
    pub name: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// What must be reached; nothing for a figure that is only told.
    pub must: Option<f64>,
    /// What is aimed at beyond that.
    pub aim: Option<f64>,
}

/// What came of measuring a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its value, in its unit.
    Measured(f64),
    /// What would be measured does not exist yet.
    NotBuilt(String),
    /// It cannot be measured here, or was not asked for; why, and what to do.
    NotAvailable(String),
}

/// What a figure says about what must be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As good as it must be, or better.
    Reached,
    /// Not as good.
    Short,
    /// Nothing to measure yet.
    NotBuilt,
    /// Not measured here.
    NotAvailable,
}

impl Verdict {
    /// The word in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Short => "short",
            Self::NotBuilt => "not built",
            Self::NotAvailable => "not available",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

/// A figure that was measured, or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name within the row.
    pub name: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    /// Its value, in its unit.
    pub measured: Option<f64>,
    /// What it counts.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// What must be reached.
    pub must: Option<f64>,
    /// What is aimed at.
    pub aim: Option<f64>,
    /// Nothing for a figure that is only told.
    pub verdict: Option<Verdict>,
    /// Why there is no value.
    pub why: Option<String>,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name, for `--row`.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub what: &'static str,
    /// Its figures, the one that counts first.
    pub figures: Vec<Figure>,
    /// How it was measured.
    pub how: String,
}

/// What measuring a row gives: an outcome for each of its figures, in their order, and how it was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// One for each figure.
    pub outcomes: Vec<Outcome>,
    /// Further figures, where how many there are is not known beforehand.
    pub more: Vec<Figure>,
    /// How it was measured, in a few words.
    pub how: String,
}

impl Taken {
    /// Values for all figures.
    pub fn measured(values: &[f64], how: String) -> Self {
        Self { outcomes: values.iter().copied().map(Outcome::Measured).collect(), more: Vec::new(), how }
    }

    /// The same outcome for every figure of a row, of which there are at most `count`.
    pub fn all(outcome: &Outcome, count: usize) -> Self {
        Self { outcomes: vec![outcome.clone(); count], more: Vec::new(), how: String::new() }
    }
}

impl FigureSpec {
    /// The figure with what came of it.
    pub fn with(&self, outcome: Outcome) -> Figure {
        let verdict = self.verdict(&outcome);
        let (measured, why) = match outcome {
            Outcome::Measured(value) => (Some(value), None),
            Outcome::NotBuilt(why) | Outcome::NotAvailable(why) => (None, Some(why)),
        };
        Figure {
            name: self.name,
            what: self.what,
            measured,
            unit: self.unit,
            better: self.better,
            must: self.must,
            aim: self.aim,
            verdict,
            why,
        }
    }

    fn verdict(&self, outcome: &Outcome) -> Option<Verdict> {
        match outcome {
            Outcome::NotBuilt(_) => Some(Verdict::NotBuilt),
            Outcome::NotAvailable(_) => Some(Verdict::NotAvailable),
            Outcome::Measured(value) => self.must.map(|must| {
                let is_reached = match self.better {
                    Better::More => *value >= must,
                    Better::Less => *value <= must,
                };
                if is_reached { Verdict::Reached } else { Verdict::Short }
            }),
        }
    }
}

impl Figure {
    /// The value with its unit; a dash for none.
    pub fn shown(&self) -> String {
        self.measured.map_or_else(|| "–".to_owned(), |value| self.unit.show(value))
    }

    /// A bound with its direction and its unit; nothing for none.
    pub fn bound(&self, bound: Option<f64>) -> String {
        let sign = match self.better {
            Better::More => '≥',
            Better::Less => '≤',
        };
        bound.map_or_else(String::new, |bound| format!("{sign} {}", self.unit.show(bound)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: FigureSpec = FigureSpec {
        name: "judged",
        what: "runs",
        unit: Unit::RunsPerSecond,
        better: Better::More,
        must: Some(800.0),
        aim: Some(2_000.0),
    };

    #[test]
    fn a_verdict_is_on_the_good_side_of_the_bound_or_on_it() {
        let less = FigureSpec { better: Better::Less, ..SPEED };
        for (value, more_is, less_is) in [
            (799.9, Verdict::Short, Verdict::Reached),
            (800.0, Verdict::Reached, Verdict::Reached),
            (800.1, Verdict::Reached, Verdict::Short),
        ] {
            assert_eq!(SPEED.with(Outcome::Measured(value)).verdict, Some(more_is), "{value}");
            assert_eq!(less.with(Outcome::Measured(value)).verdict, Some(less_is), "{value}");
        }
        // What cannot be computed reaches nothing.
        assert_eq!(SPEED.with(Outcome::Measured(f64::NAN)).verdict, Some(Verdict::Short));
        assert_eq!(less.with(Outcome::Measured(f64::NAN)).verdict, Some(Verdict::Short));
    }

    #[test]
    fn what_is_only_told_has_no_verdict_and_what_is_missing_says_why() {
        let told = FigureSpec { must: None, aim: None, ..SPEED };
        assert_eq!(told.with(Outcome::Measured(1.0)).verdict, None);
        let missing = told.with(Outcome::NotAvailable("valgrind is not installed".to_owned()));
        assert_eq!((missing.verdict, missing.measured), (Some(Verdict::NotAvailable), None));
        assert_eq!(missing.why.as_deref(), Some("valgrind is not installed"));
        assert_eq!(SPEED.with(Outcome::NotBuilt("no scenario".to_owned())).verdict, Some(Verdict::NotBuilt));
    }

    #[test]
    fn values_have_three_digits_or_all_whole_ones_and_bounds_their_direction() {
        for (value, text) in [
            (1.046_9, "1.05×"),
            (1.0, "1×"),
            (12.34, "12.3×"),
            (300.4, "300×"),
            (1_234_567.8, "1,234,568×"),
            (-0.25, "-0.25×"),
            (-0.001, "0×"),
            (-2_124.0, "-2,124×"),
        ] {
            assert_eq!(Unit::Times.show(value), text);
        }
        let figure = SPEED.with(Outcome::Measured(365.2));
        assert_eq!((figure.shown(), figure.bound(figure.aim)), ("365 runs/s".to_owned(), "≥ 2,000 runs/s".to_owned()));
        assert_eq!(figure.bound(None), "");
    }
}
