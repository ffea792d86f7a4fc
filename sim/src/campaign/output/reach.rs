//! The reach of a campaign as text for people and as JSON for programs: each row lit or dark, and what was missing.

use super::super::reach::{self, Light, ReachRow};
use super::super::record::Record;
use super::counted;
use crate::report::Style;
use anstyle::{AnsiColor, Effects, Style as Ansi};
use scenarios::reach::{Closest, Group};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write;

const LIT: Ansi = AnsiColor::Green.on_default();
const DARK: Ansi = AnsiColor::Red.on_default().effects(Effects::BOLD);
const EXCUSED: Ansi = AnsiColor::Yellow.on_default();
const FAINT: Ansi = Ansi::new().effects(Effects::DIMMED);

/// Version of the document.
const VERSION: u32 = 1;

/// Where in its run the closest came, by the name of the row: whoever ran its seed again knows.
pub type Places = BTreeMap<&'static str, Closest>;

/// What `sim reach` prints: a paragraph a group, a line a lit row, two a dark one, and one for all of them.
pub fn text(record: &Record, places: &Places, style: Style) -> String {
    let rows = reach::rows(record);
    let mut out = String::new();
    let widest = rows.iter().map(|row| row.row.name.chars().count()).max().unwrap_or(0);
    for (group, rows) in reach::groups(&rows) {
        heading(&mut out, group, rows, style);
        for row in rows {
            line(&mut out, row, record, places, widest, style);
        }
        out.push('\n');
    }
    let is_met = !rows.iter().any(ReachRow::is_unmet);
    let (ansi, sign, word) = if is_met { (LIT, '✓', "reached") } else { (DARK, '✗', "unmet") };
    let sign = if style.has_glyphs { format!("{sign} ") } else { String::new() };
    let head = painted(&format!("{sign}{word}"), ansi, style);
    let stale = rows.iter().filter(|row| row.is_stale()).count();
    let stale = if stale > 0 { format!("; {} stale", counted(stale, "excuse")) } else { String::new() };
    let _ = writeln!(out, "{head}  {}{stale} ({})", reach::sentence(&rows), runs(record));
    out
}

/// How many runs there were of which seeds.
fn runs(record: &Record) -> String {
    let (from, count) = (record.options.from, record.seed_count);
    let seeds = from.0.checked_add(count).map_or(format!("={}", u64::MAX), |end| end.to_string());
    format!("{}, seeds {from}..{seeds}", counted(count, "run"))
}

fn heading(out: &mut String, group: &Group, rows: &[ReachRow], style: Style) {
    let lit = rows.iter().filter(|row| row.is_lit()).count();
    let name = painted(group.name, Ansi::new().effects(Effects::BOLD), style);
    let _ = writeln!(out, "{name}  {}: {lit} of {} lit", group.title, rows.len());
}

fn line(out: &mut String, row: &ReachRow, record: &Record, places: &Places, widest: usize, style: Style) {
    let (ansi, sign, word) = match (row.light, row.is_unmet()) {
        (Light::Lit { .. }, _) => (LIT, '●', "lit"),
        (_, true) => (DARK, '○', "DARK"),
        _ => (EXCUSED, '○', "dark"),
    };
    let sign = if style.has_glyphs { format!("{sign} ") } else { String::new() };
    let head = painted(&format!("{sign}{word:<4}"), ansi, style);
    let name = row.row.name;
    let told = match row.light {
        Light::Lit { count, seed } => format!("{}, first seed {seed}{}", counted(count, "run"), stale(row)),
        _ => dark(row),
    };
    let _ = writeln!(out, "  {head}  {name:<widest$}  {told}");
    if let (Light::Dark { seed, .. }, Some(closest)) = (row.light, row.closest()) {
        let scenario = reach::scenario_of(record, seed).map_or("?", |scenario| scenario.id);
        let place = places.get(name).and_then(|place| Some((place.session.as_deref()?, place.at_ms)));
        let place = place.map_or(String::new(), |(session, at_ms)| format!(", {session} at {at_ms} ms"));
        let closest = painted(&format!("closest {scenario} seed {seed}{place}: {closest}"), FAINT, style);
        let _ = writeln!(out, "          {closest}");
    }
}

fn stale(row: &ReachRow) -> &'static str {
    if row.is_stale() { "; its excuse is stale" } else { "" }
}

fn dark(row: &ReachRow) -> String {
    match row.excuse {
        Some(reason) => format!("excused: {reason}"),
        None if row.is_required => row.row.claim.to_owned(),
        None => "not required of these scenarios".to_owned(),
    }
}

/// The rows that are dark and not excused, a line each, for the end of a campaign; nothing where all is well.
pub fn unmet_lines(rows: &[ReachRow]) -> String {
    let mut out = String::new();
    for row in rows {
        let closest = row.closest().unwrap_or_else(|| "no run was judged".to_owned());
        let _ = writeln!(out, "dark  {}  {closest}", row.row.name);
    }
    out
}

/// The same as JSON.
pub fn json(record: &Record, places: &Places) -> Json {
    let rows = reach::rows(record);
    json!({
        "reach": VERSION,
        "build": record.build,
        "options": record.options,
        "seed_count": record.seed_count,
        "lit_count": rows.iter().filter(|row| row.is_lit()).count(),
        "dark_count": rows.iter().filter(|row| !row.is_lit()).count(),
        "unmet_count": rows.iter().filter(|row| row.is_unmet()).count(),
        "rows": rows.iter().map(|row| row_json(row, record, places)).collect::<Vec<_>>(),
    })
}

fn row_json(row: &ReachRow, record: &Record, places: &Places) -> Json {
    let mut told = json!({
        "name": row.row.name,
        "claim": row.row.claim,
        "source": row.row.source,
        "is_lit": row.is_lit(),
        "is_required": row.is_required,
        "excuse": row.excuse,
    });
    let of_seed = |seed| json!({"scenario": reach::scenario_of(record, seed).map(|it| it.id), "seed": seed});
    match row.light {
        Light::Lit { count, seed } => {
            told["lit_count"] = count.into();
            told["first"] = of_seed(seed);
        }
        Light::Dark { distance, seed } => {
            let mut closest = of_seed(seed);
            closest["lacked"] = distance.into();
            closest["of"] = row.row.condition_count().into();
            closest["missing"] = row.row.missing(distance).into();
            if let Some(place) = places.get(row.row.name) {
                closest["session"] = json!(place.session.as_deref());
                closest["at_ms"] = place.at_ms.into();
            }
            told["closest"] = closest;
        }
        Light::Untold => {}
    }
    told
}

fn painted(text: &str, ansi: Ansi, style: Style) -> String {
    if style.is_colored { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
}
