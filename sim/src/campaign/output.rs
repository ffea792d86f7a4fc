//! Outputs of a campaign.
use super::baseline::Baseline;
use super::outcome::Outcome;
use crate::report::Style;

/// For people.
pub fn text(outcome: &Outcome, _baseline: &Baseline, _style: Style) -> String {
    let mut out = String::new();
    for found in &outcome.findings {
        out += &format!(
            "{}  {} runs, smallest seed {}\n{}\n\n",
            found.signature, found.row.count, found.row.seed, found.block
        );
    }
    out + &format!(
        "{} seeds, {} twice, {} findings\n",
        outcome.record.seed_count,
        outcome.record.twice_count,
        outcome.findings.len()
    )
}
/// JSON.
pub fn json(outcome: &Outcome) -> serde_json::Value {
    serde_json::to_value(&outcome.record).expect("plain")
}
/// JUnit.
pub fn junit(_: &Outcome) -> String {
    String::new()
}
/// Markdown.
pub fn markdown(_: &Outcome) -> String {
    String::new()
}
/// GitHub.
pub fn github(_: &Outcome) -> String {
    String::new()
}
