//! Two builds, measured in alternation: each is started in turn, and their figures are set against each other pair by
//! pair, so that a noisy machine disturbs both alike and shows as spread.

use super::child::{self, Ended, NotRun};
use super::row::{Better, Unit};
use super::rows::RowSpec;
use super::{median, ratio};
use crate::error::Error;
use crate::files::{reason, shown};
use crate::text::{shortened, table};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long a program may take to say what it is.
const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// A figure of two builds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Name of the row.
    pub row: &'static str,
    /// Name of the figure within it.
    pub figure: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The median of this build, in the unit.
    pub this: f64,
    /// The median of the other build.
    pub other: f64,
    /// This over the other, the median of the pairs.
    pub ratio: f64,
    /// The least ratio of a pair.
    pub least: f64,
    /// The greatest ratio of a pair.
    pub most: f64,
    /// What that says of this build.
    pub change: Change,
}

/// How this build differs from the other by one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Better in every pair.
    Better,
    /// Worse in every pair.
    Worse,
    /// Neither: what difference there may be is within the spread.
    None,
}

/// Figures of both builds, pair by pair.
type Pair = [Json; 2];

/// Measures the rows by both programs, `alternations` times; `arguments` say how much.
///
/// # Errors
/// A usage error when the other program is none that can be compared; a harness error when this one fails; an
/// interruption.
pub fn compare(
    other: &Path,
    rows: &[&'static RowSpec],
    arguments: &[String],
    alternations: u32,
    progress: fn(&str),
) -> Result<Vec<Compared>, Error> {
    check_other(other)?;
    let mut asked = vec!["bench".to_owned(), "--format=json".to_owned()];
    asked.extend(rows.iter().map(|row| format!("--row={}", row.name)));
    asked.extend_from_slice(arguments);
    let mut pairs: Vec<Pair> = Vec::new();
    for round in 0..alternations {
        progress(&format!("bench: comparing: {} of {alternations}", round + 1));
        // Who is second has a warmer machine: they take turns.
        let pair = if round % 2 == 0 {
            let this = of_this(&asked)?;
            [this, of_other(other, &asked)?]
        } else {
            let other = of_other(other, &asked)?;
            [of_this(&asked)?, other]
        };
        pairs.push(pair);
    }
    Ok(rows.iter().flat_map(|row| compared(row, &pairs)).collect())
}

fn compared(row: &RowSpec, pairs: &[Pair]) -> Vec<Compared> {
    let of_figure = |figure: &super::row::FigureSpec| {
        let values: Vec<[f64; 2]> = pairs
            .iter()
            .filter_map(|[this, other]| {
                Some([value(this, row.name, figure.name)?, value(other, row.name, figure.name)?])
            })
            .collect();
        // A figure that one of them cannot measure, or does not know, has no ratio.
        if values.len() < pairs.len() || values.is_empty() {
            return None;
        }
        let ratios: Vec<f64> = values.iter().map(|[this, other]| ratio(*this, *other)).collect();
        let of = |which: usize| median(&values.iter().map(|pair| pair[which]).collect::<Vec<_>>());
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Compared {
            row: row.name,
            figure: figure.name,
            what: figure.what,
            unit: figure.unit,
            this: of(0),
            other: of(1),
            ratio: median(&ratios),
            least,
            most,
            change: change(figure.better, least, most),
        })
    };
    row.figures.iter().filter_map(of_figure).collect()
}

fn change(better: Better, least: f64, most: f64) -> Change {
    let (above, below) = match better {
        Better::More => (Change::Better, Change::Worse),
        Better::Less => (Change::Worse, Change::Better),
    };
    match (least > 1.0, most < 1.0) {
        (true, _) => above,
        (_, true) => below,
        _ => Change::None,
    }
}

/// The value of a figure in a document of `sim bench --format json`.
fn value(document: &Json, row: &str, figure: &str) -> Option<f64> {
    let named = |list: &'_ Json, name: &str| -> Option<Json> {
        list.as_array()?.iter().find(|each| each["name"] == name).cloned()
    };
    named(&named(&document["rows"], row)?["figures"], figure)?["measured"].as_f64()
}

/// Asks the other program what it is, before minutes are spent on it.
fn check_other(other: &Path) -> Result<(), Error> {
    let foreign = |problem: &str| {
        Error::usage(format!("--compare {}: {problem}: name the program `sim` of another build", shown(other)))
    };
    let mut command = program(other);
    match child::run(command.arg("--version"), Some(PROBE_LIMIT))? {
        Ok(ended) if ended.code == Some(0) && ended.stdout.starts_with("sim ") => Ok(()),
        Ok(_) => Err(foreign("does not say that it is a sim")),
        Err(NotRun::NotStarted(error)) => Err(foreign(&format!("cannot be started: {}", reason(&error)))),
        Err(NotRun::Ended) => Err(foreign("does not say what it is")),
    }
}

fn program(path: &Path) -> Command {
    // A bare name would be looked for elsewhere than where it was typed.
    let is_bare = path.parent().is_some_and(|folder| folder.as_os_str().is_empty());
    Command::new(if is_bare { Path::new(".").join(path) } else { path.to_owned() })
}

fn of_this(arguments: &[String]) -> Result<Json, Error> {
    let mut command = child::this_program()?;
    let failed = |how: String| Error::harness(format!("this build cannot be measured: {how}"));
    answer(child::run(command.args(arguments), None)?).map_err(failed)
}

fn of_other(other: &Path, arguments: &[String]) -> Result<Json, Error> {
    let mut command = program(other);
    let failed = |how: String| {
        let remedy = "compare with a build whose `bench` has the same rows, or name fewer with `--row`";
        Error::usage(format!("--compare {}: cannot be measured: {how}: {remedy}", shown(other)))
    };
    answer(child::run(command.args(arguments), None)?).map_err(failed)
}

fn answer(ran: Result<Ended, NotRun>) -> Result<Json, String> {
    let ended = match ran {
        Ok(ended) => ended,
        Err(NotRun::NotStarted(error)) => return Err(reason(&error)),
        Err(NotRun::Ended) => return Err("it said too much".to_owned()),
    };
    if ended.code != Some(0) {
        // Progress comes before the complaint.
        let last = ended.stderr.trim().lines().last().unwrap_or("it ended without a word");
        return Err(shortened(last.trim_start_matches("error: "), 200));
    }
    let document: Json = serde_json::from_str(&ended.stdout).map_err(|_| "its answer is no JSON".to_owned())?;
    if document["rows"].is_array() { Ok(document) } else { Err("its answer has no rows".to_owned()) }
}

/// For people.
pub fn text(compared: &[Compared], alternations: u32) -> String {
    if compared.is_empty() {
        return "no figure was measured by both builds\n".to_owned();
    }
    let head = ["row", "figure", "this", "other", "this : other", "least", "most", "this build is"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let mut before = "";
    for each in compared {
        let name = if each.row == before { "" } else { each.row };
        before = each.row;
        let [ratio, least, most] = [each.ratio, each.least, each.most].map(|ratio| format!("{ratio:.3}"));
        let cells = [each.what.to_owned(), each.unit.show(each.this), each.unit.show(each.other), ratio, least, most];
        let says = match each.change {
            Change::Better => "better",
            Change::Worse => "worse",
            Change::None => "the same, as far as this tells",
        };
        lines.push([&[name.to_owned()], &cells[..], &[says.to_owned()]].concat());
    }
    let measured = if alternations == 1 { "once" } else { "in alternation, medians of the pairs and their extremes" };
    format!("{}\n{alternations} × each build, {measured}\n", table(&lines, &[2, 3, 4, 5, 6]))
}

/// For programs.
pub fn json(compared: &[Compared], alternations: u32) -> Json {
    json!({"bench": 1, "alternations": alternations, "compared": compared})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::ROWS;

    fn document(judged: Option<f64>, time: f64) -> Json {
        let figure = |name: &str, measured: Option<f64>| json!({"name": name, "measured": measured});
        json!({"rows": [
            {"name": "catalog", "figures": [figure("judged", judged), figure("kept", Some(100.0))]},
            {"name": "start", "figures": [figure("time", Some(time))]},
        ]})
    }

    fn rows(names: &[&str]) -> Vec<&'static RowSpec> {
        ROWS.iter().filter(|row| names.contains(&row.name)).collect()
    }

    fn of(pairs: &[Pair]) -> Vec<Compared> {
        rows(&["catalog", "start"]).iter().flat_map(|row| compared(row, pairs)).collect()
    }

    #[test]
    fn ratios_are_of_pairs_with_their_median_and_extremes() {
        let pairs = [
            [document(Some(110.0), 0.1), document(Some(100.0), 0.2)],
            [document(Some(240.0), 0.3), document(Some(200.0), 0.2)],
            [document(Some(390.0), 0.2), document(Some(300.0), 0.2)],
        ];
        let compared = of(&pairs);
        let judged = compared.iter().find(|each| each.figure == "judged").expect("both measured it");
        assert_eq!((judged.this, judged.other), (240.0, 200.0));
        assert_eq!((judged.ratio, judged.least, judged.most), (1.2, 1.1, 1.3));
        assert_eq!(judged.change, Change::Better);
        let start = compared.iter().find(|each| each.row == "start").expect("both measured it");
        assert_eq!((start.ratio, start.least, start.change), (1.0, 0.5, Change::None));
        let kept = compared.iter().find(|each| each.figure == "kept").expect("both measured it");
        assert_eq!((kept.ratio, kept.change), (1.0, Change::None));
    }

    #[test]
    fn what_one_build_does_not_measure_is_not_compared() {
        let pairs = [
            [document(Some(110.0), 0.1), document(None, 0.2)],
            [document(Some(110.0), 0.1), document(Some(100.0), 0.2)],
        ];
        let compared = of(&pairs);
        assert_eq!(compared.iter().map(|each| each.figure).collect::<Vec<_>>(), ["kept", "time"]);
        assert!(of(&[]).is_empty());
        assert_eq!(text(&[], 1), "no figure was measured by both builds\n");
    }

    #[test]
    fn better_is_what_is_on_the_good_side_in_every_pair() {
        for (better, least, most, expected) in [
            (Better::More, 1.01, 1.2, Change::Better),
            (Better::More, 0.8, 0.99, Change::Worse),
            (Better::Less, 1.01, 1.2, Change::Worse),
            (Better::Less, 0.8, 0.99, Change::Better),
            (Better::Less, 0.9, 1.1, Change::None),
            (Better::More, 1.0, 1.1, Change::None),
        ] {
            assert_eq!(change(better, least, most), expected, "{least} {most}");
        }
    }

    #[test]
    fn a_comparison_is_a_table_and_a_document() {
        let pairs = [[document(Some(110.0), 0.1), document(Some(100.0), 0.2)]];
        let compared = of(&pairs);
        let expected = "\
row      figure                               this       other  this : other  least   most  this build is
catalog  runs that are kept and judged  110 runs/s  100 runs/s         1.100  1.100  1.100  better
         runs with a kept trace         100 runs/s  100 runs/s         1.000  1.000  1.000  the same, as far as this tells
start    time                                0.1 s       0.2 s         0.500  0.500  0.500  better

1 × each build, once
";
        assert_eq!(text(&compared, 1), expected);
        let document = json(&compared, 1);
        assert_eq!(document["compared"][0]["ratio"], json!(1.1));
        assert_eq!(document["compared"][1]["change"], json!("none"));
    }

    #[test]
    fn an_answer_that_is_none_is_told_in_a_few_words() {
        let ended = |code, stdout: &str, stderr: &str| {
            Ok(Ended { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() })
        };
        assert_eq!(
            answer(ended(2, "", "bench: x\nerror: unexpected argument\n")),
            Err("unexpected argument".to_owned())
        );
        assert_eq!(answer(ended(0, "hello", "")), Err("its answer is no JSON".to_owned()));
        assert_eq!(answer(ended(0, "{}", "")), Err("its answer has no rows".to_owned()));
        assert_eq!(answer(ended(9, "", "")), Err("it ended without a word".to_owned()));
        assert!(answer(ended(0, r#"{"rows": []}"#, "")).is_ok());
    }
}
