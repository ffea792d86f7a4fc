//! What was found, in words and as JSON.

use super::{Assumptions, Decided, Draws, Evidence, Grade, Planned, Switched, Value};
use crate::text::{counted, printable};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// Width of the column of labels.
const LABEL: usize = 12;

/// What a failure rests on, a line each: what it needs, what it does not, how well that is known.
pub fn text(found: &Assumptions) -> String {
    let mut out = format!("assumptions of {}, after {}\n", found.signature, counted(found.run_count, "run"));
    for (at, line) in needs(found).iter().enumerate() {
        let label = if at == 0 { "needs" } else { "" };
        let _ = writeln!(out, "  {label:<LABEL$}{line}");
    }
    for (at, line) in frees(found).iter().enumerate() {
        let label = if at == 0 { "needs not" } else { "" };
        let _ = writeln!(out, "  {label:<LABEL$}{line}");
    }
    let _ = writeln!(out, "  {:<LABEL$}{}", "so it is", conclusion(found));
    if !found.is_minimal {
        let _ = writeln!(out, "  {:<LABEL$}the runs were spent: less may do", "but");
    }
    out
}

/// The same as JSON.
pub fn document(found: &Assumptions) -> Json {
    json!({
        "signature": found.signature.to_string(),
        "run_count": found.run_count,
        "is_minimal": found.is_minimal,
        "decisions": found.decisions.iter().map(|each| json!({
            "about": each.about,
            "values": each.values.iter().map(|value| json!({
                "name": value.name, "value": value.value.to_string(), "least": value.least.to_string(),
            })).collect::<Vec<_>>(),
            "draws": draws_json(each.draws),
            "evidence": evidence_json(&each.evidence),
        })).collect::<Vec<_>>(),
        "free": found.free.iter().map(|each| json!({"about": each.about, "draws": draws_json(each.draws)})).collect::<Vec<_>>(),
        "faults": found.faults.iter().map(|each| json!({
            "fault": each.index, "what": each.what, "is_needed": each.is_needed, "evidence": evidence_json(&each.evidence),
        })).collect::<Vec<_>>(),
        "switches": found.switches.iter().map(|each| json!({
            "what": each.what,
            "is_needed": each.is_needed(),
            "others": each.others.iter().map(|(value, fails)| json!({"value": value, "fails": fails})).collect::<Vec<_>>(),
            "evidence": evidence_json(&each.evidence),
        })).collect::<Vec<_>>(),
        "weakest": weakest(found).map(|grade| grade.to_string()),
    })
}

fn needs(found: &Assumptions) -> Vec<String> {
    let mut lines: Vec<String> = found.switches.iter().filter(|each| each.is_needed()).flat_map(switch_lines).collect();
    let faults: Vec<&Planned> = found.faults.iter().filter(|each| each.is_needed).collect();
    // Faults that rest on the same stand together, with that said once.
    for alike in faults.chunk_by(|one, other| one.evidence == other.evidence) {
        lines.extend(alike.iter().map(|fault| format!("fault {}: {}", fault.index, printable(&fault.what))));
        lines.extend(alike.first().map(|fault| known(&fault.evidence)));
    }
    lines.extend(found.decisions.iter().flat_map(decision_lines));
    if lines.is_empty() {
        vec!["nothing of the platform: it fails while all of it is calm and nothing is made to fail".to_owned()]
    } else {
        lines
    }
}

fn switch_lines(switch: &Switched) -> Vec<String> {
    let passing: Vec<&str> =
        switch.others.iter().filter(|(_, fails)| !fails).map(|(value, _)| value.as_str()).collect();
    vec![format!("{}: with {} it does not fail", switch.what, passing.join(" or ")), known(&switch.evidence)]
}

fn decision_lines(decided: &Decided) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", decided.about, with_draws(decided.draws))];
    lines.extend(decided.values.iter().map(value_line));
    lines.push(known(&decided.evidence));
    lines
}

fn value_line(value: &Value) -> String {
    let name = printable(&value.name);
    if value.least < value.value {
        format!("  {name} = {}, from {} on", value.value, value.least)
    } else {
        format!("  {name} = {}, and not less", value.value)
    }
}

fn with_draws(draws: Draws) -> String {
    match draws.failed {
        0 => format!("none of {} other draws fails", draws.tried),
        failed if failed == draws.tried => format!("all of {failed} other draws fail as well"),
        failed => format!("{failed} of {} other draws fail as well", draws.tried),
    }
}

fn frees(found: &Assumptions) -> Vec<String> {
    let decisions =
        found.free.iter().map(|each| format!("{}: calm will do, and {}", each.about, with_draws(each.draws)));
    let faults = found.faults.iter().filter(|each| !each.is_needed);
    let faults = faults.map(|each| format!("fault {}: it fails without it as well", each.index));
    let switches = found.switches.iter().filter(|each| !each.is_needed());
    let switches = switches.map(|each| format!("{}: it fails with the others as well", each.what));
    decisions.chain(faults).chain(switches).collect()
}

/// Which facts, from where, and how well known.
fn known(evidence: &Evidence) -> String {
    match evidence.grade {
        Grade::Unknown => {
            "  no fact about the platform: the world around it, or code of the host, does this".to_owned()
        }
        Grade::Never => "  the platform never does so: at such a step nothing can come in".to_owned(),
        grade => {
            let facts = if evidence.facts.len() == 1 { "fact" } else { "facts" };
            format!("  {grade}: {facts} {} [{}]", evidence.facts.join(", "), evidence.sources.join(", "))
        }
    }
}

/// The grade of what is known least of all that is needed.
fn weakest(found: &Assumptions) -> Option<Grade> {
    let switches = found.switches.iter().filter(|each| each.is_needed()).map(|each| each.evidence.grade);
    let faults = found.faults.iter().filter(|each| each.is_needed).map(|each| each.evidence.grade);
    let decisions = found.decisions.iter().map(|each| each.evidence.grade);
    switches.chain(faults).chain(decisions).filter(|grade| *grade != Grade::Unknown).max()
}

fn conclusion(found: &Assumptions) -> String {
    match weakest(found) {
        None => "a failure that rests on no assumption about the platform".to_owned(),
        Some(Grade::Proved) => "as sure as the probes: all that it needs was seen on the real runtime".to_owned(),
        Some(Grade::Never) => "no failure that the real platform can show: it waits where nothing can wait".to_owned(),
        Some(grade) => format!("as sure as its weakest assumption: {grade}"),
    }
}

fn draws_json(draws: Draws) -> Json {
    json!({"tried": draws.tried, "failed": draws.failed})
}

fn evidence_json(evidence: &Evidence) -> Json {
    json!({"facts": evidence.facts, "sources": evidence.sources, "grade": evidence.grade.to_string()})
}
