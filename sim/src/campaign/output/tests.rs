//! Every form of output: how a rich outcome looks, and what becomes of hostile text in it.

use super::sample::{HOSTILE, hostile, outcome};
use super::*;
use crate::exit_code::ExitCode;
use crate::report::Style;
use scenarios::reach::Closest;
use scenarios::seed::Seed;

const BRIGHT: Style = Style { is_colored: true, has_glyphs: true };

#[test]
fn a_rich_outcome_looks_like_this() {
    let outcome = outcome();
    insta::assert_snapshot!("text", text(&outcome, Style::default()));
    insta::assert_snapshot!("markdown", markdown(&outcome));
    insta::assert_snapshot!("junit", junit(&outcome));
    insta::assert_snapshot!("github", github(&outcome));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&json(&outcome)).expect("plain data"));
}

#[test]
fn an_outcome_without_findings_is_one_line_of_text() {
    let mut outcome = outcome();
    outcome.findings.clear();
    outcome.unseen.clear();
    outcome.record.findings.clear();
    assert_eq!(text(&outcome, Style::default()), "held  100 runs, seeds 0..100: nothing was found\n");
    assert_eq!(github(&outcome), "::notice title=sim fuzz::100 runs, seeds 0..100: nothing was found\n");
    assert!(markdown(&outcome).starts_with("## ✅ held: 100 runs, seeds 0..100: nothing was found\n"));
}

#[test]
fn a_campaign_that_did_not_come_to_its_end_says_so() {
    let mut outcome = outcome();
    for (end, told) in
        [(Some(End::Time), "time limit"), (Some(End::StopAfter), "enough was found"), (None, "not at its end")]
    {
        outcome.record.ended = end;
        assert!(text(&outcome, Style::default()).contains(told), "{told}");
    }
}

/// All hostile texts, alone and together.
fn hostile_outcomes() -> impl Iterator<Item = Outcome> {
    HOSTILE.map(str::to_owned).into_iter().chain([HOSTILE.concat()]).map(|text| hostile(&text))
}

#[test]
fn no_form_for_people_holds_a_control_character() {
    for outcome in hostile_outcomes() {
        for told in [text(&outcome, Style::default()), markdown(&outcome), junit(&outcome), github(&outcome)] {
            let held: Vec<char> = told.chars().filter(|each| each.is_control() && *each != '\n').collect();
            assert!(held.is_empty(), "{held:?} in\n{told}");
            assert!(!told.contains(['\u{202e}', '\u{2028}']), "{told}");
        }
        let colours = text(&outcome, BRIGHT);
        assert!(!colours.contains("\u{1b}[31mred") && !colours.contains('\u{9b}'), "{colours}");
    }
}

#[test]
fn junit_is_well_formed_and_keeps_the_text() {
    for outcome in hostile_outcomes() {
        let told = junit(&outcome);
        let document = roxmltree::Document::parse(&told).unwrap_or_else(|error| panic!("{error}\n{told}"));
        let suites: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testsuite")).collect();
        let scenario_count = outcome.record.options.scenarios.len();
        assert_eq!(suites.len(), scenario_count + 1, "one is the campaign's");
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase")).count();
        assert!(cases >= scenario_count * (invariants::ALL.len() + DEMANDS.len()));
        assert!(document.descendants().all(|node| !node.has_tag_name("script") && !node.is_comment()));
    }
    let told = junit(&hostile("<script>]]>&"));
    let document = roxmltree::Document::parse(&told).expect("well-formed");
    assert!(document.descendants().any(|node| node.attribute("classname") == Some("<script>]]>&")), "{told}");
}

#[test]
fn junit_holds_no_time_and_no_id() {
    let told = junit(&outcome());
    let document = roxmltree::Document::parse(&told).expect("well-formed");
    for name in ["time", "timestamp", "uuid", "hostname"] {
        assert!(document.descendants().all(|node| node.attribute(name).is_none()), "{name} in\n{told}");
    }
}

#[test]
fn no_annotation_is_forged() {
    for outcome in hostile_outcomes() {
        let told = github(&outcome);
        assert_eq!(told.lines().count(), outcome.findings.len(), "{told}");
        for line in told.lines() {
            let is_ours =
                ["::error title=", "::warning title=", "::notice title="].iter().any(|head| line.starts_with(head));
            assert!(is_ours, "{line}");
            let title = line.split("::").nth(1).expect("a command");
            assert!(!title.contains(','), "{line}");
        }
    }
}

#[test]
fn every_row_of_a_table_has_its_cells_and_no_markup_of_others() {
    for outcome in hostile_outcomes() {
        let told = markdown(&outcome);
        let mut fence: Option<&str> = None;
        for line in told.lines() {
            match fence {
                Some(end) if line == end => fence = None,
                Some(_) => {}
                None if line.starts_with("```") => fence = Some(line.trim_end_matches("text")),
                None => {
                    let cells = line.matches('|').count();
                    assert!([0, 6, 7].contains(&cells), "{line}");
                    let outside: String = line.split('`').step_by(2).collect();
                    assert!(!outside.contains("<script>") && !outside.contains("<!--"), "{line}");
                    assert!(!outside.contains("](") && !outside.contains('@'), "{line}");
                }
            }
        }
        assert_eq!(fence, None, "a fence is open at the end");
    }
}

#[test]
fn dark_rows_of_reach_are_told_in_every_form_where_they_fail() {
    let mut outcome = sample::with_reach();
    outcome.findings.clear();
    let (plain, page, annotations) = (text(&outcome, Style::default()), markdown(&outcome), github(&outcome));
    assert!(plain.contains("dark  alarm/dispose-quiet  2 of 4 conditions; missing: its alarm fires"), "{plain}");
    assert!(plain.contains(" rows lit; ") && plain.contains("unmet  100 runs"), "{plain}");
    assert!(page.contains("\n| `alarm/dispose-quiet` | a session with nothing live is disposed"), "{page}");
    assert!(annotations.starts_with("::error title=reach::"), "{annotations}");
    let dark = json(&outcome)["reach"]["dark"].clone();
    assert!(dark.as_array().is_some_and(|rows| rows.iter().any(|row| row["row"] == "alarm/dispose-quiet")), "{dark}");
    let cases = junit(&outcome);
    assert!(cases.contains(r#"<testcase name="reach/alarm" classname="campaign">"#), "{cases}");
    assert!(cases.contains("alarm/dispose-quiet: 2 of 4 conditions; missing: its alarm fires"), "{cases}");
    outcome.is_reach_required = false;
    assert!(!junit(&outcome).contains("reach/alarm"));
    assert!(github(&outcome).starts_with("::notice ") && !text(&outcome, Style::default()).contains("dark  alarm/"));
}

#[test]
fn a_group_of_reach_looks_like_this() {
    let record = sample::with_reach().record;
    let closest = Closest { distance: 2, session: Some("s1".into()), at_ms: 1_027 };
    let places = reach::Places::from([("alarm/dispose-quiet", closest)]);
    let told = reach::text(&record, &places, Style::default());
    let row = told.lines().skip_while(|line| !line.contains("alarm/dispose-quiet ")).take(2);
    let lines: Vec<&str> = row.map(str::trim).collect();
    assert!(
        lines[0].starts_with("DARK  alarm/dispose-quiet  ")
            && lines[0].ends_with("a session with nothing live is disposed")
    );
    // Which scenario that seed picks depends on the whole catalog.
    let closest =
        "seed 31, s1 at 1027 ms: 2 of 4 conditions; missing: its alarm fires once it has been idle for the timeout";
    assert!(lines[1].starts_with("closest ") && lines[1].ends_with(closest), "{}", lines[1]);
    assert!(
        told.lines().any(|line| line.trim_start().starts_with("lit   life-cycle/resident ")
            && line.ends_with("60 runs, first seed 2"))
    );
    let bright = reach::text(&record, &places, BRIGHT);
    assert!(bright.contains('\u{1b}') && bright.contains('●') && bright.contains('○'));
}

#[test]
fn an_interrupted_campaign_is_one_in_every_form() {
    let mut outcome = sample::outcome();
    outcome.record.ended = Some(End::Interrupted);
    assert_eq!(outcome.exit_code(), ExitCode::Interrupted);
    assert_eq!((&json(&outcome)["outcome"], &json(&outcome)["exit_code"]), (&"interrupted".into(), &130.into()));
    assert!(markdown(&outcome).starts_with("## ⏸️ interrupted: "), "{}", markdown(&outcome));
    assert!(text(&outcome, Style::default()).contains("interrupted  100 runs"));
    assert!(junit(&outcome).contains("came-to-its-end") && junit(&outcome).contains("(interrupted)"));
    assert!(github(&outcome).contains("::notice title=sim fuzz::"), "{}", github(&outcome));
}

#[test]
fn a_finding_that_no_seed_showed_is_given_no_seed() {
    let mut outcome = sample::outcome();
    outcome.findings.truncate(1);
    outcome.findings[0].row.count = 0;
    outcome.findings[0].row.seed = Seed(987_654);
    assert!(json(&outcome)["findings"][0]["smallest_seed"].is_null());
    for told in [markdown(&outcome), github(&outcome), junit(&outcome), text(&outcome, Style::default())] {
        assert!(!told.contains("987654"), "{told}");
    }
    assert!(github(&outcome).contains("met while another finding was cut down"));
}
