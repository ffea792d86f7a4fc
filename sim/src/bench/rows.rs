//! The rows of the table, in one place: what is measured, what must be reached, and what is aimed at.

use super::row::{Better, FigureSpec, Taken, Unit};
use super::{Bench, commands, floor, memory, sessions, speed, workers, workspace};
use crate::error::Error;

/// A row before it is measured.
pub struct RowSpec {
    /// Its name, for `--row`.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub what: &'static str,
    /// Its figures, the one that counts first.
    pub figures: &'static [FigureSpec],
    /// Whether two builds are compared by it unless rows are named: quick enough, and not about the machine alone.
    pub is_compared: bool,
    /// Measures it.
    pub measure: fn(&mut Bench) -> Result<Taken, Error>,
}

/// A figure that must reach something.
const fn must(name: &'static str, what: &'static str, unit: Unit, better: Better, must: f64, aim: f64) -> FigureSpec {
    FigureSpec { name, what, unit, better, must: Some(must), aim: Some(aim) }
}

/// A figure that is only told.
pub const fn told(name: &'static str, what: &'static str, unit: Unit, better: Better) -> FigureSpec {
    FigureSpec { name, what, unit, better, must: None, aim: None }
}

use Better::{Less, More};
use Unit::{CpuSeconds, Events, Kibibytes, Mebibytes, RunsPerSecond, Seconds, Steps, Times};

/// Every row, in the order of the table.
pub const ROWS: &[RowSpec] = &[
    RowSpec {
        name: "catalog",
        what: "catalog mix, one run each seed, one core",
        figures: &[
            must("judged", "runs that are kept and judged", RunsPerSecond, More, 800.0, 2_000.0),
            told("kept", "runs with a kept trace", RunsPerSecond, More),
            told("digested", "runs that are only digested", RunsPerSecond, More),
            told("events", "events a run", Events, Less),
        ],
        is_compared: true,
        measure: speed::catalog,
    },
    RowSpec {
        name: "swarm",
        what: "swarm world, one core",
        figures: &[
            must("judged", "runs that are kept and judged", RunsPerSecond, More, 200.0, 400.0),
            told("events", "events a run", Events, Less),
        ],
        is_compared: true,
        measure: speed::swarm,
    },
    RowSpec {
        name: "scenarios",
        what: "each scenario, one core",
        figures: &[told("slowest", "the slowest of them", RunsPerSecond, More)],
        is_compared: false,
        measure: speed::scenarios,
    },
    RowSpec {
        name: "kept",
        what: "a run with a kept trace over the same run only digested",
        figures: &[must("time", "time over time", Times, Less, 1.25, 1.12)],
        is_compared: true,
        measure: speed::kept,
    },
    RowSpec {
        name: "floor",
        what: "runs over the floor, their bare HTTP exchanges and timers",
        figures: &[
            must("instructions", "instructions over instructions", Times, Less, 3.0, 2.0),
            told("time", "time over time", Times, Less),
        ],
        is_compared: true,
        measure: floor::row,
    },
    RowSpec {
        name: "workers",
        what: "two workers over one",
        figures: &[must("runs", "runs a second over runs a second", Times, More, 1.85, 1.95)],
        is_compared: false,
        measure: workers::row,
    },
    RowSpec {
        name: "virtual",
        what: "virtual over wall-clock time, idle-heavy scenarios",
        figures: &[must("time", "time over time", Times, More, 1_000_000.0, 10_000_000.0)],
        is_compared: true,
        measure: speed::virtual_time,
    },
    RowSpec {
        name: "sessions",
        what: "a request among 10,000 sessions over one among 10",
        figures: &[
            must("instructions", "instructions over instructions", Times, Less, sessions::INSTRUCTIONS_MAX, 1.05),
            must("time", "time over time", Times, Less, sessions::TIME_MAX, 2.0),
        ],
        is_compared: false,
        measure: sessions::row,
    },
    RowSpec {
        name: "resident",
        what: "memory for each resident session",
        figures: &[
            must("http", "with HTTP at both ends", Kibibytes, Less, 64.0, 32.0),
            must("direct", "without HTTP", Kibibytes, Less, 24.0, 12.0),
        ],
        is_compared: true,
        measure: memory::resident,
    },
    RowSpec {
        name: "start",
        what: "`--seed N` from start to last line, whole catalog",
        figures: &[must("time", "time", Seconds, Less, 0.5, 0.1)],
        is_compared: true,
        measure: commands::start,
    },
    RowSpec {
        name: "shrink",
        what: "shrink of a typical failure",
        figures: &[
            must("time", "time", Seconds, Less, 10.0, 2.0),
            FigureSpec {
                name: "steps",
                what: "steps that are left",
                unit: Steps,
                better: Less,
                must: Some(12.0),
                aim: None,
            },
        ],
        is_compared: false,
        measure: commands::shrink,
    },
    RowSpec {
        name: "growth",
        what: "memory growth over 100,000 runs in one worker",
        figures: &[must("memory", "resident memory gained", Mebibytes, Less, memory::GAINED_MIB_MAX, 0.0)],
        is_compared: false,
        measure: memory::growth,
    },
    RowSpec {
        name: "build",
        what: "cold build of the workspace, dev profile, dependencies optimised",
        figures: &[must("cpu", "CPU time", CpuSeconds, Less, 300.0, 200.0)],
        is_compared: false,
        measure: workspace::row,
    },
];

/// The rows of those names in the order of the table; those of `otherwise` when no name is given.
///
/// # Errors
/// A usage error for an unknown name, with the nearest ones.
pub fn named(names: &[String], otherwise: fn(&RowSpec) -> bool) -> Result<Vec<&'static RowSpec>, Error> {
    for name in names {
        if !ROWS.iter().any(|row| row.name == name) {
            let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
            let hint = crate::text::near_names(name, known.iter().copied());
            let hint = hint.unwrap_or_else(|| format!("there is {}", known.join(", ")));
            let shown = crate::text::shortened(name, 60);
            return Err(Error::usage(format!("the table has no row `{shown}`: {hint}")));
        }
    }
    let is_asked = |row: &&RowSpec| match names {
        [] => otherwise(row),
        names => names.iter().any(|name| name == row.name),
    };
    Ok(ROWS.iter().filter(is_asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_what_must_be_reached_comes_first() {
        let names: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), ROWS.len());
        for row in ROWS {
            // A row of which nothing must be reached only tells.
            let must = |figure: &FigureSpec| figure.must.is_some();
            assert_eq!(row.figures.first().map(must), Some(row.figures.iter().any(must)), "{}", row.name);
            let figures: BTreeSet<&str> = row.figures.iter().map(|figure| figure.name).collect();
            assert_eq!(figures.len(), row.figures.len(), "{}", row.name);
        }
    }

    #[test]
    fn an_aim_is_beyond_what_must_be_reached() {
        for figure in ROWS.iter().flat_map(|row| row.figures) {
            let (Some(must), Some(aim)) = (figure.must, figure.aim) else { continue };
            assert_eq!(aim > must, figure.better == More, "{}: {must}, {aim}", figure.what);
        }
    }

    #[test]
    fn rows_are_found_by_name_and_near_names_are_told() {
        let names = |wanted: &[&str]| -> Result<Vec<&str>, String> {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            let found = named(&wanted, |row| row.name == "start").map_err(|error| error.to_string())?;
            Ok(found.iter().map(|row| row.name).collect())
        };
        assert_eq!(names(&["growth", "kept"]), Ok(vec!["kept", "growth"]));
        assert_eq!(names(&[]), Ok(vec!["start"]));
        assert_eq!(names(&["flor"]), Err("the table has no row `flor`: did you mean `floor`?".to_owned()));
        assert!(names(&["zzzzzz"]).is_err_and(|told| told.contains("there is catalog, swarm")));
    }
}
