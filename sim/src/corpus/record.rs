//! Makes an entry of a plan: pins what it draws, runs it with and without what it is kept for, and records what that shows.

use super::entry::{self, Entry, Expected, Keeps, Point, Provenance, Shown};
use super::streams::Streams;
use super::verdict::{Runs, TRIAL, about};
use crate::error::Error;
use crate::signature::Signature;
use crate::trial::{Answer, Judge};
use model::defect::{DEFECTS, DefectInfo};
use scenarios::plan::{Core, Plan};
use scenarios::strength;

/// Makes an entry of a plan.
///
/// What the entry is kept for may be switched on in the plan already, as in the report of a run that failed; it is switched
/// off in the plan that is kept. `fails` says that the plan as it is must show something; otherwise it must hold.
///
/// # Errors
/// A usage error when the runs do not show what the entry is to be kept for; a harness error when a run cannot be judged,
/// or when pins do not stand for what was drawn.
pub fn record(handed_in: &Plan, keeps: Keeps, fails: bool, judge: &mut dyn Judge) -> Result<Entry, Error> {
    let off = switched_off(handed_in, &keeps);
    if keeps.core == Some(off.core) {
        return Err(Error::usage("`--core` names the core of the plan itself: leave it out"));
    }
    let (plan, runs) = without_entropy(&off, &keeps, judge)?;
    if let Some(pin) = runs.unused_pins().first() {
        return Err(Error::usage(format!("the plan pins {pin}, which has no effect: remove the pin")));
    }
    let expected = expected(&keeps, &runs, fails)?;
    let entry = Entry {
        entry: entry::VERSION,
        provenance: Provenance {
            scenario: plan.scenario.clone(),
            seed: plan.seed,
            build: env!("SIM_BUILD").to_owned(),
            plan: handed_in.digest().to_string(),
        },
        keeps,
        expected,
        point: point(&runs.as_it_is),
        retired: None,
        plan,
    };
    entry.validate().map_err(|refusal| Error::usage(crate::text::printable(&refusal.to_string())))?;
    Ok(entry)
}

/// The plan without what an entry is kept for.
fn switched_off(plan: &Plan, keeps: &Keeps) -> Plan {
    let mut plan = plan.clone();
    plan.defects.retain(|name| !keeps.defects.contains(name));
    if keeps.core == Some(Core::Described) {
        plan.core = Core::Fixed;
    }
    plan
}

/// What a run says about the point of its entry.
pub fn point(as_it_is: &Answer) -> Point {
    Point {
        deliveries: as_it_is.deliveries.clone(),
        telemetry_digest: as_it_is.telemetry_digest.clone(),
        decisions: Streams::of(&as_it_is.decisions),
    }
}

/// A plan that takes the same course without drawing: every decision that is not calm is pinned.
pub fn pinned<'a>(plan: &Plan, decisions: impl IntoIterator<Item = &'a (String, u64)>) -> Plan {
    let pins = decisions.into_iter().filter(|(_, value)| *value > 0).cloned();
    Plan { entropy: None, pins: pins.collect(), ..plan.clone() }
}

/// The plan with pins for its entropy, and its runs.
fn without_entropy(drawn: &Plan, keeps: &Keeps, judge: &mut dyn Judge) -> Result<(Plan, Runs), Error> {
    let runs = run(drawn, keeps, judge)?;
    if drawn.entropy.is_none() {
        return Ok((drawn.clone(), runs));
    }
    // A decision has one value in both runs: it is drawn by its name.
    let of_broken = runs.broken.iter().flat_map(|answer| &answer.decisions);
    let plan = pinned(drawn, runs.as_it_is.decisions.iter().chain(of_broken));
    let again = run(&plan, keeps, judge)?;
    let digest = |answer: Option<&Answer>| answer.map(|answer| (answer.run_digest.clone(), answer.findings.clone()));
    if digest(Some(&runs.as_it_is)) != digest(Some(&again.as_it_is))
        || digest(runs.broken.as_ref()) != digest(again.broken.as_ref())
    {
        return Err(Error::harness("with its decisions pinned the plan takes another course than with its entropy"));
    }
    Ok((plan, again))
}

fn run(plan: &Plan, keeps: &Keeps, judge: &mut dyn Judge) -> Result<Runs, Error> {
    let mut judged = |plan: &Plan, run: &str| -> Result<Answer, Error> {
        let answer = judge.judge(plan, TRIAL)?;
        match answer.harness_error() {
            Some(found) => Err(Error::harness(format!("the harness failed {run}: {}", found.what))),
            None => Ok(answer),
        }
    };
    let as_it_is = judged(plan, "as it is")?;
    let broken = match keeps.has_broken_run() {
        true => Some(judged(&entry::broken(plan, keeps), &format!("with {}", keeps.names()))?),
        false => None,
    };
    Ok(Runs { as_it_is, broken })
}

fn expected(keeps: &Keeps, runs: &Runs, fails: bool) -> Result<Expected, Error> {
    let as_it_is = Shown::of(&runs.as_it_is, None);
    match (&as_it_is.signature, fails) {
        (Some(signature), false) => {
            return Err(Error::usage(format!(
                "the plan does not hold as it is, it shows {signature}: mend that first, or say `--expect-failure`"
            )));
        }
        (None, true) => {
            return Err(Error::usage("the plan holds as it is: leave `--expect-failure` out"));
        }
        _ => {}
    }
    let broken = runs.broken.as_ref().map(|answer| broken(keeps, answer, &runs.as_it_is)).transpose()?;
    Ok(Expected { as_it_is, broken })
}

/// What the run with the defects shows; it must be what they are predicted to be caught by, and not there without them.
fn broken(keeps: &Keeps, answer: &Answer, as_it_is: &Answer) -> Result<Shown, Error> {
    let is_new = |signature: &Signature| !as_it_is.shows(signature);
    let claims = predicted(keeps);
    let is_predicted = |signature: &Signature| claims.contains(&signature.claim.as_str());
    let meant = about(answer, |signature| is_new(signature) && is_predicted(signature));
    // Of the core it is only known that something shows in it; of some defects no claim is predicted.
    let is_free = claims.is_empty() || keeps.defects.is_empty();
    let meant = meant.or_else(|| about(answer, is_new).filter(|_| is_free));
    meant.map(|signature| Shown::of(answer, Some(signature))).ok_or_else(|| {
        let all: Vec<String> = answer.findings.iter().map(|found| found.signature.to_string()).collect();
        let shows = if all.is_empty() { "holds".to_owned() } else { format!("shows {}", all.join(", ")) };
        let wanted = if is_free { "something that is not there without".to_owned() } else { claims.join(" or ") };
        Error::usage(format!(
            "with {} the plan {shows}, but an entry for that must violate {wanted}: take a plan that does",
            keeps.names()
        ))
    })
}

/// The claims that the named defects are predicted to be caught by.
fn predicted(keeps: &Keeps) -> Vec<&'static str> {
    let is_named = |info: &&DefectInfo| keeps.defects.iter().any(|name| name == info.name);
    let is_on = |info: &&DefectInfo| is_named(info) || keeps.core == Some(Core::Described) && info.described;
    let on = DEFECTS.iter().filter(is_on);
    let mut claims: Vec<&str> = on.filter_map(|info| strength::expected(info.name)).collect();
    claims.sort_unstable();
    claims.dedup();
    claims
}

#[cfg(test)]
mod tests;
