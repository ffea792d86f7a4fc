//! A report as JSON, for programs. Text in it is as it was: escaping for a terminal is the business of who shows it.

use super::{Block, Check, FaultLine, Report};
use crate::run::FaultRow;
use scenarios::ledgers::Ledger;
use scenarios::story::Line;
use serde_json::{Value as Json, json};

/// Version of the documents that are written here.
const VERSION: u32 = 1;

/// A whole report.
pub fn document(report: &Report) -> Json {
    let mut document = line(report);
    document["report"] = VERSION.into();
    document["operation_count"] = report.operation_count.into();
    document["checks"] = report.checks.iter().map(check).collect();
    document["faults"] = report.faults.iter().map(fault).collect();
    document["findings"] = report.blocks.iter().map(block).collect();
    document["reproduce"] = report.reproduce.iter().map(String::as_str).collect();
    document["story"] = report.story.iter().map(story).collect();
    document
}

/// The result of a run without its particulars.
pub fn line(report: &Report) -> Json {
    json!({
        "scenario": report.scenario,
        "seed": report.seed,
        "plan": report.plan_digest,
        "outcome": report.outcome.word(),
        "exit_code": report.outcome.number(),
        "event_count": report.event_count,
        "ends_at_ms": report.ends_at_ms,
        "telemetry_digest": report.telemetry_digest,
        "run_digest": report.run_digest,
        "findings": report.blocks.iter().map(|block| block.name.as_str()).collect::<Vec<_>>(),
    })
}

/// What was taken and given back.
pub fn ledgers(ledgers: &[Ledger]) -> Json {
    let one = |ledger: &Ledger| {
        let Ledger { thing, taken, returned, lost } = ledger;
        json!({"thing": thing, "taken": taken, "returned": returned, "lost": lost, "open": ledger.open()})
    };
    ledgers.iter().map(one).collect()
}

fn check(check: &Check) -> Json {
    json!({"name": check.name, "kind": check.kind, "verdict": check.verdict, "why": check.why})
}

fn fault(line: &FaultLine) -> Json {
    let FaultRow { fault, requested, armed, delivered } = line.row;
    json!({
        "fault": fault,
        "what": line.what,
        "may_miss": line.may_miss,
        "requested": requested,
        "armed": armed,
        "delivered": delivered,
    })
}

fn block(block: &Block) -> Json {
    json!({
        "name": block.name,
        "kind": block.kind,
        "claim": block.claim,
        "what": block.what,
        "at_ms": block.at_ms,
        "event": block.event,
        "pending": block.pending,
        "place": block.place,
        "also": block.also,
        "steps": block.steps.iter().map(|step| json!({"at_ms": step.at_ms, "client": step.client, "text": step.text})).collect::<Vec<_>>(),
        "around": block.around.iter().map(story).collect::<Vec<_>>(),
    })
}

fn story(line: &Line) -> Json {
    json!({"at_ms": line.at_ms, "event": u64::from(line.ordinal) + 1, "kind": line.kind.word(), "who": line.who, "text": line.text})
}
