//! Outcomes for tests: one with a finding of every kind, and the same with hostile text wherever text comes from outside.

use crate::campaign::outcome::{FindingOutcome, Outcome, Shrunk};
use crate::campaign::record::{
    CampaignOptions, ClaimTally, End, FindingRow, ReachTally, Record, ScenarioTally, VERSION,
};
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use scenarios::seed::Seed;
use std::collections::BTreeMap;

/// Text that would be markup, a command, a control sequence or the end of something in some form.
pub const HOSTILE: [&str; 12] = [
    "]]>",
    "<![CDATA[",
    "\u{0}\u{8}\u{fffe}\u{ffff}",
    "\u{1b}[31mred\u{9b}0m",
    "\n::error::forged",
    "##[error]forged",
    "::stop-commands::x\r\n",
    " | pipe \\| \\\\|",
    "`` ``` ````",
    "<script>alert(1)</script>&amp;<!--",
    "\u{202e}reversed\u{2028}",
    "[link](http://example.org) @someone #1 $x$ 100%0A",
];

const IDLE: &str = "idle/stream-stays-open";
const RESTORE: &str = "restore/two-at-once";
const NEVER: &str = "swarm/never-picked";

/// A campaign with a finding of every kind, one of them known.
pub fn outcome() -> Outcome {
    let findings = vec![
        finding(ExitCode::Harness, "harness-works", "the check x panicked", RESTORE, 41, 1),
        finding(ExitCode::Nondeterminism, "same-plan-same-run", "run", IDLE, 17, 1),
        finding(ExitCode::Crash, "does-not-panic", "model/src/a.rs index out of bounds", RESTORE, 8, 2),
        FindingOutcome {
            is_known: true,
            why_known: Some("the platform does it too".to_owned()),
            ..finding(ExitCode::Safety, "answers-are-right", "session", RESTORE, 3, 40)
        },
        FindingOutcome {
            shrunk: Some(shrunk()),
            ..finding(ExitCode::Liveness, "idle-runtime-is-released", "session", IDLE, 7, 12)
        },
        finding(ExitCode::Unmet, "fault-is-delivered", "hold at teardown server close", IDLE, 55, 1),
    ];
    let unseen = vec!["safety/runtime-closed-once/session".parse().expect("a signature")];
    Outcome {
        record: record(&findings),
        findings,
        unseen,
        is_reach_required: false,
        command: "fuzz --seeds 0..100 --defect=idle-alarm-not-rearmed".to_owned(),
    }
}

/// The same, of a campaign that must reach everything: a row that runs came to, one that is near, one that is far.
pub fn with_reach() -> Outcome {
    let row =
        |name: &str, lit_count, distance, seed| (name.to_owned(), ReachTally { lit_count, distance, seed: Seed(seed) });
    let mut outcome = outcome();
    outcome.is_reach_required = true;
    outcome.record.options.scenarios = scenarios::catalog::all().map(|scenario| scenario.id.to_owned()).collect();
    outcome.record.reach = BTreeMap::from([
        row("life-cycle/resident", 60, 0, 2),
        row("alarm/dispose-quiet", 0, 2, 31),
        row("situation/cap-eviction", 0, 3, 0),
    ]);
    outcome
}

/// The same with that text in every place that text from outside can come to.
pub fn hostile(text: &str) -> Outcome {
    let mut outcome = outcome();
    outcome.command += text;
    outcome.record.options.scenarios.push(text.to_owned());
    outcome.record.scenarios.insert(text.to_owned(), tally(3, 0, &[(text, 2, 1)]));
    for found in &mut outcome.findings {
        found.signature.claim += text;
        found.signature.subject += text;
        found.row.scenario += text;
        found.row.wordings.insert(text.to_owned(), 1);
        found.why_known = found.why_known.take().map(|why| why + text);
        found.claim += text;
        found.what += text;
        found.block = found.block.replace("what", text);
        found.folder.push(text.replace('\0', ""));
        found.commands.iter_mut().for_each(|command| command.push_str(text));
        if let Some(shrunk) = &mut found.shrunk {
            shrunk.irrelevant.push(text.to_owned());
        }
    }
    let claims = outcome.findings.iter().map(|found| found.signature.claim.clone()).collect::<Vec<_>>();
    let tally = outcome.record.scenarios.get_mut(IDLE).expect("a scenario");
    tally.claims.extend(claims.into_iter().map(|claim| (claim, ClaimTally { violated_count: 1, untold_count: 0 })));
    outcome
}

fn finding(outcome: ExitCode, claim: &str, subject: &str, scenario: &str, seed: u64, count: u64) -> FindingOutcome {
    let what = format!("what went wrong with {subject}");
    let signature = Signature::new(outcome, claim, subject);
    let folder = std::path::Path::new("out/findings").join(signature.file_name());
    let commands = vec![
        format!("cargo run -p sim -- --scenario {scenario} --seed {seed}"),
        format!("cargo run -p sim -- replay {}/shrunk.json", folder.display()),
    ];
    let block = format!(
        "FAILED  {claim}  ({})\n        the claim in one sentence\n  scenario   {scenario}   seed {seed}   plan 4905e1d4\n  what       {what}\n  reproduce  {}\n",
        outcome.word(),
        commands[0]
    );
    FindingOutcome {
        signature,
        row: FindingRow {
            scenario: scenario.to_owned(),
            seed: Seed(seed),
            count,
            wordings: BTreeMap::from([(what.clone(), count)]),
        },
        is_known: false,
        why_known: None,
        claim: "the claim in one sentence".to_owned(),
        what,
        block,
        shrunk: None,
        folder,
        commands,
    }
}

fn shrunk() -> Shrunk {
    Shrunk {
        run_count: 25,
        is_minimal: true,
        sizes: vec![("sessions", 2, 1), ("steps", 6, 1), ("lines", 181, 40)],
        irrelevant: vec!["any latency works here".to_owned(), "the seed of the scheduler does not matter".to_owned()],
    }
}

fn record(findings: &[FindingOutcome]) -> Record {
    let scenarios = BTreeMap::from([
        (IDLE.to_owned(), tally(60, 1, &[("idle-runtime-is-released", 12, 3), ("lost-holdings-expire", 0, 59)])),
        (RESTORE.to_owned(), tally(40, 3, &[("answers-are-right", 40, 0), ("idle-runtime-is-released", 1, 0)])),
    ]);
    Record {
        campaign: VERSION,
        build: "0123456789abcdef".to_owned(),
        options: CampaignOptions {
            changes: vec!["--defect=idle-alarm-not-rearmed".to_owned()],
            shrink_runs: 200,
            ..CampaignOptions::new(Seed(0), Some(Seed(100)), [IDLE, RESTORE, NEVER].map(str::to_owned).to_vec())
        },
        seed_count: 100,
        ended: Some(End::AllSeeds),
        twice_count: 7,
        event_count: 123_456,
        scenarios,
        reach: BTreeMap::new(),
        findings: findings.iter().map(|found| (found.signature.clone(), found.row.clone())).collect(),
    }
}

fn tally(run_count: u64, unjudged_count: u64, claims: &[(&str, u64, u64)]) -> ScenarioTally {
    let claim = |(name, violated_count, untold_count): &(&str, u64, u64)| {
        ((*name).to_owned(), ClaimTally { violated_count: *violated_count, untold_count: *untold_count })
    };
    ScenarioTally { run_count, unjudged_count, claims: claims.iter().map(claim).collect() }
}
