//! After the search: every finding is run again in a fresh process, cut down, and kept with everything a person needs.

use super::baseline::Baseline;
use super::fold::nondeterminism;
use super::folder::{FINDING_FILES, FINDINGS, Folder};
use super::outcome::{FindingOutcome, Outcome, Shrunk};
use super::record::{FindingRow, Record};
use crate::determinism::{self, Pair};
use crate::draw::Overrides;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files;
use crate::progress::Progress;
use crate::report::{self, Report, Style};
use crate::run::{RunOptions, run_plan};
use crate::shrink::{self, Budget, Ending};
use crate::signature::{Signature, general};
use crate::supervisor::{Job, Worker, WorkerSpec};
use crate::trial::{InWorker, Judge, TrialOptions};
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Seeds on either side of one that did not repeat, which are run before it in one of two workers: what runs leak into
/// others shows only among others.
const COMPANY: u64 = 8;

/// Findings that were met while others were cut down: the row that they are told by, and the least plan that shows them.
type Met = BTreeMap<Signature, (FindingRow, Plan)>;

/// What settling needs.
pub struct Settling<'a> {
    /// What the search knows.
    pub record: &'a Record,
    /// Where findings go.
    pub folder: &'a Folder,
    /// What is changed in the plans that seeds draw.
    pub changes: &'a Overrides,
    /// What is known.
    pub baseline: &'a Baseline,
    /// The two kinds of workers of the campaign.
    pub specs: &'a [WorkerSpec; 2],
    /// Whether dark rows of reach fail the campaign.
    pub is_reach_required: bool,
    /// The arguments that run the campaign again.
    pub command: String,
    /// Where it is told how far it is.
    pub progress: &'a mut Progress,
    /// Whether a person asked for the end meanwhile: findings are run again and told, and no longer made small.
    pub is_hurried: bool,
}

/// Confirms, cuts down and keeps every finding of a record.
///
/// # Errors
/// Harness errors of workers and files; an interruption.
pub fn settle(settling: &mut Settling<'_>) -> Result<Outcome, Error> {
    let record = settling.record;
    let mut findings = Vec::new();
    let mut met = BTreeMap::new();
    for (signature, row) in &record.findings {
        settling.progress.tell(|| format!("fuzz: run again: {signature}"));
        let plan = settling.changes.draw(crate::draw::scenario(&row.scenario)?, row.seed)?;
        findings.push(settling.finding_or_hurry(signature, row, &plan, &mut met)?);
    }
    // What was met while others were cut down, and what is met then; each signature once, so that it ends.
    while let Some((signature, (row, plan))) = met.pop_first() {
        if findings.iter().all(|found| found.signature != signature) {
            findings.push(settling.finding_or_hurry(&signature, &row, &plan, &mut met)?);
        }
    }
    findings.sort_by(|one, other| {
        let place = |found: &FindingOutcome| (found.signature.outcome.gravity(), found.signature.clone());
        place(one).cmp(&place(other))
    });
    settling.remove_strangers(&findings);
    let unseen = settling.baseline.unseen(findings.iter().map(|found| &found.signature).chain(record.findings.keys()));
    Ok(Outcome {
        record: record.clone(),
        findings,
        unseen,
        is_reach_required: settling.is_reach_required,
        command: settling.command.clone(),
    })
}

impl Settling<'_> {
    /// As [`Settling::finding`]; the first interruption makes it hurry, the second one ends it.
    fn finding_or_hurry(
        &mut self,
        signature: &Signature,
        row: &FindingRow,
        plan: &Plan,
        met: &mut Met,
    ) -> Result<FindingOutcome, Error> {
        match self.finding(signature, row, plan, met) {
            Err(Error::Interrupted) if !self.is_hurried => {
                self.hurry();
                self.finding(signature, row, plan, met)
            }
            done => done,
        }
    }

    /// What comes now is told as it is; the next interruption ends it.
    fn hurry(&mut self) {
        self.is_hurried = true;
        crate::interrupt::answer();
        self.progress.note("fuzz: stopping, findings are told as they are, and `--resume` makes them small later; once more ends it at once");
    }

    fn finding(
        &mut self,
        signature: &Signature,
        row: &FindingRow,
        plan: &Plan,
        met: &mut Met,
    ) -> Result<FindingOutcome, Error> {
        if *signature == nondeterminism() {
            return self.unrepeatable(signature.clone(), row, plan, None);
        }
        if signature.outcome == ExitCode::Harness && row.count == 0 {
            // Met while another plan was cut down: it is told as it was met, since there is no seed to run again.
            return self.bare(signature, row, plan);
        }
        let answer = self.fresh().judge(plan, judged())?;
        if !answer.shows(signature) {
            let subject = format!("{} {}", signature.claim, signature.subject);
            let unrepeatable = Signature::new(ExitCode::Nondeterminism, "same-plan-same-run", &subject);
            return self.unrepeatable(unrepeatable, row, plan, Some(signature));
        }
        match signature.outcome {
            ExitCode::Harness => self.bare(signature, row, plan),
            _ => self.confirmed(signature, row, plan, met),
        }
    }

    fn fresh(&self) -> InWorker {
        InWorker::new(self.specs[0].clone())
    }

    /// A failure of the model that repeats: cut down, told by the smallest plan that shows it.
    fn confirmed(
        &mut self,
        signature: &Signature,
        row: &FindingRow,
        plan: &Plan,
        met: &mut Met,
    ) -> Result<FindingOutcome, Error> {
        let (shown, shrunk) = self.shrink(signature, row, plan, met)?;
        let mut found = self.bare(signature, row, plan)?;
        let file = if shrunk.is_some() { "shrunk.json" } else { "plan.json" };
        let result = run_plan(&shown, &RunOptions::default())?;
        let mut report = Report::in_folder(&shown, &result, found.folder.clone());
        let is_it = result.findings.iter().map(|finding| Signature::of(finding, &shown) == *signature);
        let mut is_it = is_it.collect::<Vec<_>>().into_iter();
        report.blocks.retain(|_| is_it.next().unwrap_or(false));
        if shrunk.is_some() {
            self.keep(&found, file, shown.to_json().as_bytes())?;
            found.commands.push(replay(&found, file));
        }
        // A shrunk plan does not tell what it was drawn from any more.
        report.seed = row.seed.to_string();
        report.reproduce = found.commands.clone();
        if let Some(block) = report.blocks.first() {
            (found.claim, found.what) = (block.claim.clone(), block.what.clone());
        }
        found.block = report::text::findings(&report, Style::default()).trim_end().to_owned();
        found.shrunk = shrunk;
        self.keep(&found, "trace.jsonl", &report::trace_lines(&shown, &result.trace))?;
        self.keep(&found, "report.txt", report::text::whole(&report).as_bytes())?;
        Ok(found)
    }

    /// The smallest plan that shows it, and what it took; the plan itself where nothing may be spent.
    fn shrink(
        &mut self,
        signature: &Signature,
        row: &FindingRow,
        plan: &Plan,
        met: &mut Met,
    ) -> Result<(Plan, Option<Shrunk>), Error> {
        let budget = Budget { runs: self.record.options.shrink_runs };
        if budget.runs == 0 || self.is_hurried {
            return Ok((plan.clone(), None));
        }
        let mut judge = self.fresh();
        let progress = &mut *self.progress;
        let mut tell = |at: &shrink::Progress| {
            let shrink::Progress { run_count, run_max, step_count, .. } = at;
            progress.tell(|| format!("fuzz: {signature}: {step_count} steps after {run_count} of {run_max} runs"));
        };
        let of_met =
            |what: &str| FindingRow { count: 0, wordings: BTreeMap::from([(what.to_owned(), 0)]), ..row.clone() };
        let shrinking = match shrink::shrink(plan, signature, &budget, &mut judge, &mut tell) {
            Ok(shrinking) => shrinking,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // That one plan cannot be made small is a finding about the harness, and takes no other finding away.
            Err(error) => {
                let broken = Signature::new(ExitCode::Harness, "harness-works", &general(&error.to_string()));
                met.entry(broken).or_insert_with(|| (of_met(&error.to_string()), plan.clone()));
                return Ok((plan.clone(), None));
            }
        };
        for (other, least) in shrinking.others {
            met.entry(other).or_insert_with(|| (of_met("met while another finding was cut down"), least));
        }
        match shrinking.ending {
            // The least plan so far is told, as one that is not minimal.
            Ending::Interrupted => self.hurry(),
            Ending::Harness { what, plan } => {
                let broken = Signature::new(ExitCode::Harness, "harness-works", &general(&what));
                met.entry(broken).or_insert_with(|| (of_met(&what), *plan));
            }
            Ending::Minimal | Ending::Spent => {}
        }
        Ok((shrinking.plan, Some(shrinking.summary)))
    }

    /// What can be told of every finding; its plan is kept.
    fn bare(&self, signature: &Signature, row: &FindingRow, plan: &Plan) -> Result<FindingOutcome, Error> {
        let folder = self.folder.path().join(FINDINGS).join(signature.file_name());
        let what = row.wordings.iter().max_by_key(|(_, count)| **count).map_or("", |(what, _)| what.as_str());
        let claim = scenarios::invariants::ALL.iter().find(|invariant| invariant.name == signature.claim);
        let mut found = FindingOutcome {
            signature: signature.clone(),
            row: row.clone(),
            is_known: self.record.options.known.contains(signature),
            why_known: self.baseline.knows(signature).map(str::to_owned),
            claim: claim.map_or(String::new(), |invariant| invariant.claim.to_owned()),
            what: what.to_owned(),
            block: String::new(),
            shrunk: None,
            folder,
            commands: Vec::new(),
        };
        self.keep(&found, "plan.json", plan.to_json().as_bytes())?;
        found.commands = report::commands_of(plan, &found.folder);
        found.block = bare_block(&found);
        Ok(found)
    }

    /// A run that did not repeat, with the first event in which two of them differ.
    fn unrepeatable(
        &mut self,
        signature: Signature,
        row: &FindingRow,
        plan: &Plan,
        was: Option<&Signature>,
    ) -> Result<FindingOutcome, Error> {
        let mut found = self.bare(&signature, row, plan)?;
        found.claim = "the same plan gives the same run".to_owned();
        if let Some(was) = was {
            found.what = format!("the campaign saw {was}, and a fresh process does not");
        }
        let explained = self.explain(row.seed)?;
        found.block = format!("{}\n\n{}", bare_block(&found), explained.trim_end());
        self.keep(&found, "report.txt", format!("{}\n", found.block).as_bytes())?;
        Ok(found)
    }

    /// Runs the seed alone in one worker and after its neighbours in another, and says where the traces part.
    fn explain(&self, seed: Seed) -> Result<String, Error> {
        let neighbours = seed.0.saturating_sub(COMPANY)..seed.0.saturating_add(COMPANY);
        let scratch = self.folder.path().join(".traces");
        let trace = |side: &str| std::path::absolute(scratch.join(format!("{side}.jsonl"))).unwrap_or_default();
        let job = |seed: u64, trace: Option<PathBuf>| -> Result<Job, Error> {
            let among: Vec<_> =
                self.record.options.scenarios.iter().filter_map(|id| crate::draw::scenario(id).ok()).collect();
            let scenario = scenarios::catalog::pick(Seed(seed), &among);
            let scenario = scenario.ok_or_else(|| Error::harness("the campaign has no scenario"))?;
            Ok(Job { trace, ..Job::of_seed(scenario.id, Seed(seed), judged()) })
        };
        let mut in_company = Worker::new(self.specs[0].clone());
        let mut alone = Worker::new(self.specs[1].clone());
        for neighbour in neighbours.filter(|neighbour| *neighbour != seed.0) {
            // It is there only for what it leaves behind.
            let _ = in_company.ask(&job(neighbour, None)?)?;
        }
        let one = in_company.ask_surely(&job(seed.0, Some(trace("one")))?)?.answer;
        let other = alone.ask_surely(&job(seed.0, Some(trace("other")))?)?.answer;
        let pair =
            Pair { job: job(seed.0, None)?, one: one.map_err(|lost| lost.how), other: other.map_err(|lost| lost.how) };
        let difference = match (&pair.one, &pair.other) {
            (Ok(_), Ok(_)) => {
                let read = |side: &str| determinism::read_trace(&trace(side));
                determinism::first_difference(&read("one")?, &read("other")?)
            }
            _ => None,
        };
        // Traces of runs that did not repeat say nothing that could be compared later.
        let _ = std::fs::remove_dir_all(&scratch);
        Ok(determinism::explanation(&pair, difference.as_ref()))
    }

    /// Findings that an earlier, disturbed ending of this campaign left and this one does not have. Folders that are
    /// called as no finding is, and files that no campaign writes, are somebody else's.
    fn remove_strangers(&self, findings: &[FindingOutcome]) {
        let entries = std::fs::read_dir(self.folder.path().join(FINDINGS)).into_iter().flatten().flatten();
        let is_left = |entry: &std::fs::DirEntry| {
            let name = entry.file_name();
            let is_known = findings.iter().any(|found| found.folder.file_name() == Some(&name));
            !is_known && Signature::is_file_name(&name.to_string_lossy()) && entry.path().join("plan.json").is_file()
        };
        for stranger in entries.filter(is_left).map(|entry| entry.path()) {
            // What cannot be removed is named in no list and misleads nobody.
            FINDING_FILES.iter().for_each(|file| drop(std::fs::remove_file(stranger.join(file))));
            let _ = std::fs::remove_dir(&stranger);
        }
    }

    fn keep(&self, found: &FindingOutcome, name: &str, bytes: &[u8]) -> Result<(), Error> {
        files::write_atomically(&found.folder.join(name), bytes)
    }
}

fn judged() -> TrialOptions {
    TrialOptions { is_judged: true, ..TrialOptions::default() }
}

fn replay(found: &FindingOutcome, file: &str) -> String {
    format!("cargo run -p sim -- {}", report::replay_from(&found.folder, file))
}

/// The block of a finding that no run in this process can show.
fn bare_block(found: &FindingOutcome) -> String {
    let FindingOutcome { signature, row, what, commands, .. } = found;
    let mut lines = vec![format!("FAILED  {}  ({})", signature.claim, signature.outcome.word())];
    lines.push(format!("  scenario   {}   seed {}", row.scenario, row.seed));
    lines.push(format!("  what       {}", crate::text::printable(what)));
    let labels = std::iter::once("reproduce").chain(std::iter::repeat(""));
    lines.extend(commands.iter().zip(labels).map(|(command, label)| format!("  {label:<10} {command}")));
    lines.join("\n")
}
