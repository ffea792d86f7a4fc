//! The table as text, as JSON and as Markdown: functions of the rows.

use super::place::Place;
use super::row::{Figure, Row};
use crate::text::{escaped_in_markdown as escaped, printable, table};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// For people: the table, then how each row was measured.
pub fn text(place: &Place, rows: &[Row]) -> String {
    let mut out = format!("{}\n", printable(&place.line()));
    if place.profile != "release" {
        out.push_str("what must be reached is about release builds: add --release to cargo run\n");
    }
    out.push('\n');
    let head = ["row", "what", "measured", "must reach", "aim", "verdict"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        for (at, figure) in row.figures.iter().enumerate() {
            let name = if at == 0 { row.name } else { "" };
            lines.push([&[name.to_owned(), title(row, at)], &cells(figure)[..]].concat());
        }
    }
    out.push_str(&table(&lines, &[2, 3, 4]));
    out.push('\n');
    let notes: Vec<Vec<String>> = rows
        .iter()
        .flat_map(|row| notes(row).into_iter().map(|note| vec![row.name.to_owned(), printable(&note).into_owned()]))
        .collect();
    out.push_str(&table(&notes, &[]));
    out
}

/// For programs.
pub fn json(place: &Place, rows: &[Row]) -> Json {
    json!({"bench": 1, "place": place, "rows": rows})
}

/// For `PERFORMANCE.md`: the command, where and when, and the table with a column that says how.
pub fn markdown(command: &str, place: &Place, rows: &[Row]) -> String {
    let mut out = format!("`{}`: {}.\n\n", command.replace('`', "'"), escaped(&place.line()));
    out.push_str("| what | measured | must reach | aim | verdict |\n|---|---:|---:|---:|---|\n");
    for row in rows {
        for (at, figure) in row.figures.iter().enumerate() {
            let cells = cells(figure).map(|cell| escaped(&cell)).join(" | ");
            let _ = writeln!(out, "| {} | {cells} |", escaped(&title(row, at)));
        }
    }
    out.push('\n');
    for row in rows {
        for note in notes(row) {
            let _ = writeln!(out, "- *{}*: {}.", row.name, escaped(&note));
        }
    }
    out
}

/// What a figure is about: the row for its first, what it is for the others.
fn title(row: &Row, at: usize) -> String {
    let what = row.figures[at].what;
    match (at, row.figures.len()) {
        (0, 1) => row.what.to_owned(),
        (0, _) => format!("{}: {what}", row.what),
        _ => format!("… {what}"),
    }
}

/// Measured, must reach, aim, verdict.
fn cells(figure: &Figure) -> [String; 4] {
    let verdict = figure.verdict.map_or("", |verdict| verdict.word());
    [figure.shown(), figure.bound(figure.must), figure.bound(figure.aim), verdict.to_owned()]
}

/// How a row was measured, and why figures of it are missing; what several have in common is said once.
fn notes(row: &Row) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let missing = row.figures.iter().filter_map(|figure| figure.why.clone());
    for note in Some(row.how.clone()).into_iter().chain(missing) {
        if !note.is_empty() && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::row::{Better, FigureSpec, Outcome, Unit};

    fn place() -> Place {
        Place {
            date: "2026-11-30".to_owned(),
            profile: "release",
            commit: "28bb9d7".to_owned(),
            cpu: "Some|CPU".to_owned(),
            cores: 2,
            memory_gib: Some(24),
            load: None,
        }
    }

    fn rows() -> Vec<Row> {
        let spec = FigureSpec {
            name: "judged",
            what: "runs that are judged",
            unit: Unit::RunsPerSecond,
            better: Better::More,
            must: Some(800.0),
            aim: Some(2_000.0),
        };
        let told =
            FigureSpec { name: "events", what: "events a run", unit: Unit::Events, must: None, aim: None, ..spec };
        let less = FigureSpec { unit: Unit::Times, better: Better::Less, must: Some(3.0), aim: Some(2.0), ..spec };
        let why = || "valgrind is not installed: install `valgrind`".to_owned();
        vec![
            Row {
                name: "catalog",
                what: "catalog mix",
                figures: vec![spec.with(Outcome::Measured(365.4)), told.with(Outcome::Measured(426.0))],
                how: "200 runs".to_owned(),
            },
            Row {
                name: "floor",
                what: "runs over the floor",
                figures: vec![
                    less.with(Outcome::NotAvailable(why())),
                    FigureSpec { what: "time", ..less }.with(Outcome::NotAvailable(why())),
                ],
                how: String::new(),
            },
            Row {
                name: "kept",
                what: "kept over digested",
                figures: vec![less.with(Outcome::Measured(1.05))],
                how: "8 blocks".to_owned(),
            },
        ]
    }

    #[test]
    fn the_text_has_a_line_a_figure_and_says_how() {
        let expected = "\
2026-11-30, commit 28bb9d7, release build, Some|CPU, 2 cores, 24 GiB

row      what                                         measured    must reach             aim  verdict
catalog  catalog mix: runs that are judged          365 runs/s  ≥ 800 runs/s  ≥ 2,000 runs/s  short
         … events a run                             426 events
floor    runs over the floor: runs that are judged           –          ≤ 3×            ≤ 2×  not available
         … time                                              –          ≤ 3×            ≤ 2×  not available
kept     kept over digested                              1.05×          ≤ 3×            ≤ 2×  reached

catalog  200 runs
floor    valgrind is not installed: install `valgrind`
kept     8 blocks
";
        assert_eq!(text(&place(), &rows()), expected);
        let debug = Place { profile: "debug", ..place() };
        assert!(text(&debug, &rows()).contains("release builds: add --release"));
    }

    #[test]
    fn the_json_has_every_figure_with_its_unit_bound_and_verdict() {
        let document = json(&place(), &rows());
        let figure = &document["rows"][0]["figures"][0];
        assert_eq!((&document["bench"], &document["place"]["commit"]), (&json!(1), &json!("28bb9d7")));
        assert_eq!(
            *figure,
            json!({
                "name": "judged", "what": "runs that are judged", "measured": 365.4, "unit": "runs-per-second",
                "better": "more", "must": 800.0, "aim": 2000.0, "verdict": "short", "why": null,
            })
        );
        assert_eq!(document["rows"][0]["figures"][1]["verdict"], Json::Null);
        assert_eq!(document["rows"][1]["figures"][0]["verdict"], json!("not available"));
        assert_eq!(document["rows"][1]["figures"][0]["measured"], Json::Null);
    }

    #[test]
    fn the_markdown_is_a_table_in_which_nothing_from_outside_means_anything() {
        let expected = "\
`sim bench`: 2026-11-30, commit 28bb9d7, release build, Some\\|CPU, 2 cores, 24 GiB.

| what | measured | must reach | aim | verdict |
|---|---:|---:|---:|---|
| catalog mix: runs that are judged | 365 runs/s | ≥ 800 runs/s | ≥ 2,000 runs/s | short |
| … events a run | 426 events |  |  |  |
| runs over the floor: runs that are judged | – | ≤ 3× | ≤ 2× | not available |
| … time | – | ≤ 3× | ≤ 2× | not available |
| kept over digested | 1.05× | ≤ 3× | ≤ 2× | reached |

- *catalog*: 200 runs.
- *floor*: valgrind is not installed: install `valgrind`.
- *kept*: 8 blocks.
";
        assert_eq!(markdown("sim bench", &place(), &rows()), expected);
        assert_eq!(escaped("a<b>_*[x]`c_d|e`\u{1b}"), "a\\<b\\>\\_\\*\\[x\\]`c_d\\|e`\\\\u{1b}");
    }
}
