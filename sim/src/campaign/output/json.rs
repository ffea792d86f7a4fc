//! The outcome of a campaign as JSON, for programs. Text in it is as it was: escaping is the business of who shows it.

use super::super::outcome::{FindingOutcome, Outcome, Shrunk};
use super::super::reach::{self, Light};
use super::super::record::ScenarioTally;
use super::{ClaimCounts, claims_of, new_and_known, run_count, scenarios_of};
use crate::files::shown;
use serde_json::{Value as Json, json};

/// Version of the document.
const VERSION: u32 = 1;

/// The whole outcome: totals, scenarios with their claims, findings with the commands that run them again.
pub fn json(outcome: &Outcome) -> Json {
    let (record, exit_code) = (&outcome.record, outcome.exit_code());
    let (new, known) = new_and_known(outcome);
    json!({
        "campaign_findings": VERSION,
        "command": outcome.command,
        "build": record.build,
        "outcome": exit_code.word(),
        "exit_code": exit_code.number(),
        "options": record.options,
        "ended": record.ended,
        "totals": {
            "seed_count": record.seed_count,
            "run_count": run_count(outcome),
            "twice_count": record.twice_count,
            "event_count": record.event_count,
            "new_count": new.len(),
            "known_count": known.len(),
        },
        "scenarios": scenarios_of(outcome).iter().map(|(id, tally)| scenario(id, tally)).collect::<Vec<_>>(),
        "reach": reach_of(outcome),
        "findings": outcome.findings.iter().map(finding).collect::<Vec<_>>(),
        "no_longer_seen": outcome.unseen,
    })
}

/// Dark rows in full, lit ones counted: what lit them is in `campaign.json`.
fn reach_of(outcome: &Outcome) -> Json {
    if outcome.record.reach.is_empty() {
        return Json::Null;
    }
    let rows = reach::rows(&outcome.record);
    let lit_count = rows.iter().filter(|row| row.is_lit()).count();
    let dark = rows.iter().filter(|row| !row.is_lit() && row.light != Light::Untold);
    let dark = dark.map(|row| {
        let seed = if let Light::Dark { seed, .. } = row.light { Some(seed) } else { None };
        json!({"row": row.row.name, "excuse": row.excuse, "is_unmet": row.is_unmet(), "seed": seed, "closest": row.closest()})
    });
    json!({"row_count": rows.len(), "lit_count": lit_count, "dark": dark.collect::<Vec<_>>()})
}

fn scenario(id: &str, tally: &ScenarioTally) -> Json {
    let claim = |name: &str| {
        let ClaimCounts { held, violated, untold } = ClaimCounts::of(tally, name);
        json!({"claim": name, "held_count": held, "violated_count": violated, "untold_count": untold})
    };
    json!({
        "scenario": id,
        "run_count": tally.run_count,
        "unjudged_count": tally.unjudged_count,
        "claims": claims_of(tally).into_iter().map(claim).collect::<Vec<_>>(),
    })
}

fn finding(found: &FindingOutcome) -> Json {
    let row = &found.row;
    json!({
        "signature": found.signature,
        "outcome": found.signature.outcome.word(),
        "exit_code": found.signature.outcome.number(),
        "is_known": found.is_known,
        "why_known": found.why_known,
        "run_count": row.count,
        "smallest_seed": found.smallest_seed(),
        "scenario": row.scenario,
        "wordings": row.wordings,
        "claim": found.claim,
        "what": found.what,
        "shrunk": found.shrunk.as_ref().map(shrunk),
        "plan": shown(&found.folder.join("plan.json")),
        "folder": shown(&found.folder),
        "commands": found.commands,
        "block": found.block,
    })
}

fn shrunk(shrunk: &Shrunk) -> Json {
    let size = |(what, before, after): &(&str, u64, u64)| json!({"what": what, "before": before, "after": after});
    json!({
        "run_count": shrunk.run_count,
        "is_minimal": shrunk.is_minimal,
        "sizes": shrunk.sizes.iter().map(size).collect::<Vec<_>>(),
        "irrelevant": shrunk.irrelevant,
    })
}
