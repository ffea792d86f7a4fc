//! What was found, in words and as JSON.

use super::{Assumptions, Decided, Draws, Evidence, Grade, Need, Planned, Switched, Value};
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
            "instead": instead_json(&each.need),
            "evidence": evidence_json(&each.evidence),
        })).collect::<Vec<_>>(),
        "free": found.free.iter().map(|each| json!({"about": each.about, "draws": draws_json(each.draws)})).collect::<Vec<_>>(),
        "faults": found.faults.iter().map(|each| json!({
            "fault": each.index, "what": each.what, "is_needed": each.need.is_needed(),
            "instead": instead_json(&each.need), "evidence": evidence_json(&each.evidence),
        })).collect::<Vec<_>>(),
        "switches": found.switches.iter().map(|each| json!({
            "what": each.what,
            "other": each.other,
            "is_needed": each.need.is_needed(),
            "instead": instead_json(&each.need),
            "evidence": evidence_json(&each.evidence),
        })).collect::<Vec<_>>(),
        "weakest": weakest(found).map(|grade| grade.to_string()),
    })
}

fn needs(found: &Assumptions) -> Vec<String> {
    let switches = found.switches.iter().filter(|each| each.need.is_needed());
    let mut lines: Vec<String> = switches.flat_map(switch_lines).collect();
    let faults: Vec<&Planned> = found.faults.iter().filter(|each| each.need.is_needed()).collect();
    // Faults that rest on the same stand together, with that said once.
    let is_alike = |one: &&Planned, other: &&Planned| {
        one.evidence == other.evidence && one.need == Need::Alone && other.need == Need::Alone
    };
    for alike in faults.chunk_by(is_alike) {
        let words = |fault: &&Planned| format!("fault {}: {}", fault.index, printable(&fault.what));
        let last = alike.len() - 1;
        lines.extend(alike[..last].iter().map(words));
        lines.extend(with_instead(words(&alike[last]), &alike[last].need, &alike[last].evidence));
    }
    lines.extend(found.decisions.iter().flat_map(decision_lines));
    if lines.is_empty() {
        let told = "nothing of the platform: it fails while all of it is calm, nothing is made to fail, and every switch \
                    stands the other way";
        vec![told.to_owned()]
    } else {
        lines
    }
}

/// A need in words, with what is known of it, and with what does in its place.
fn with_instead(what: String, need: &Need, evidence: &Evidence) -> Vec<String> {
    let Need::OneOf(instead) = need else { return vec![what, known(evidence)] };
    if instead.is_empty() {
        return vec![format!("{what}; or several others together"), known(evidence)];
    }
    let mut lines = vec!["one of:".to_owned(), format!("  {what}"), format!("  {}", known(evidence))];
    for other in instead {
        lines.push(format!("  {}", printable(&other.what)));
        lines.push(format!("  {}", known(&other.evidence)));
    }
    lines
}

fn switch_lines(switch: &Switched) -> Vec<String> {
    let what = format!("{}: with {} it does not fail", switch.what, switch.other);
    with_instead(if switch.need == Need::Alone { what } else { switch.what.clone() }, &switch.need, &switch.evidence)
}

fn decision_lines(decided: &Decided) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", decided.about, with_draws(decided.draws))];
    lines.extend(decided.values.iter().map(value_line));
    let last = lines.pop().unwrap_or_default();
    lines.extend(with_instead(last, &decided.need, &decided.evidence));
    lines
}

fn value_line(value: &Value) -> String {
    let Value { name, value, least, too_small } = value;
    let name = printable(name);
    let does = if least < value { format!("; {least} does as well") } else { String::new() };
    format!("  {name} = {value}{does}, {too_small} does not")
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
    let instead = |what: &str| {
        let needs = found.faults.iter().map(|each| &each.need).chain(found.switches.iter().map(|each| &each.need));
        let mut needs = needs.chain(found.decisions.iter().map(|each| &each.need));
        needs.any(|need| matches!(need, Need::OneOf(instead) if instead.iter().any(|other| other.what == what)))
    };
    let faults = found.faults.iter().filter(|each| !each.need.is_needed());
    let faults = faults.filter(|each| !instead(&format!("fault {}: {}", each.index, each.what)));
    let faults = faults.map(|each| format!("fault {}: it fails without it as well", each.index));
    let is_free = |each: &&Switched| !each.need.is_needed() && !instead(&each.what);
    let switches: Vec<&str> = found.switches.iter().filter(is_free).map(|each| each.what.as_str()).collect();
    let switches = (!switches.is_empty()).then(|| format!("{}: it fails with the others as well", switches.join("; ")));
    let together = "all of these at once".to_owned();
    let lines: Vec<String> = decisions.chain(faults).chain(switches).collect();
    let together = (lines.len() > 1).then_some(together);
    lines.into_iter().chain(together).collect()
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
    let of = |need: &Need, evidence: &Evidence| need.is_needed().then(|| need.grade(evidence));
    let switches = found.switches.iter().filter_map(|each| of(&each.need, &each.evidence));
    let faults = found.faults.iter().filter_map(|each| of(&each.need, &each.evidence));
    let decisions = found.decisions.iter().filter_map(|each| of(&each.need, &each.evidence));
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

fn instead_json(need: &Need) -> Json {
    let Need::OneOf(instead) = need else { return json!([]) };
    let each = instead.iter().map(|each| json!({"what": each.what, "evidence": evidence_json(&each.evidence)}));
    Json::Array(each.collect())
}

fn draws_json(draws: Draws) -> Json {
    json!({"tried": draws.tried, "failed": draws.failed})
}

fn evidence_json(evidence: &Evidence) -> Json {
    json!({"facts": evidence.facts, "sources": evidence.sources, "grade": evidence.grade.to_string()})
}
