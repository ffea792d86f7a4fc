//! Runs rows of the seed contract: a world for each, or the function itself, and what came of it.

mod direct;

use crate::capture::guarded;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::run::{Finding, RunOptions, RunResult, run_plan};
use model::config::HostConfig;
use scenarios::contract::{Check, Row, Verdict, judge};
use scenarios::plan::Plan;

/// A row and what came of it.
pub struct Checked {
    /// The row.
    pub row: &'static Row,
    /// What its judgement says.
    pub verdict: Verdict,
    /// What it means for the command as a whole.
    pub exit_code: ExitCode,
    /// The run, for a row that is about a world.
    pub ran: Option<(Plan, RunResult)>,
}

/// Checks a row; `change` is applied to the plan of a world, `config` is the host's for a function.
///
/// # Errors
/// A harness error when no run can be started; those of `change`.
pub fn check(
    row: &'static Row,
    config: &HostConfig,
    change: impl FnOnce(Plan) -> Result<Plan, Error>,
) -> Result<Checked, Error> {
    let Check::World { plan, .. } = row.check else {
        let verdict = call(|| direct::check(row.id, config));
        let exit_code = code_of(&verdict);
        return Ok(Checked { row, verdict, exit_code, ran: None });
    };
    let plan = change(plan())?;
    let result = run_plan(&plan, &RunOptions::default())?;
    // The claims about all runs are not the row's business; what keeps the run from being one is.
    let trouble = result.findings.iter().find(|finding| !matches!(finding, Finding::Violation { .. }));
    let (verdict, exit_code) = match trouble {
        Some(finding @ Finding::Unmet(fault)) => {
            let why = format!("faults[{}] of the plan was never delivered", fault.fault);
            (Verdict::CannotTell(why), finding.exit_code())
        }
        Some(finding) => (Verdict::CannotTell(told(finding)), finding.exit_code()),
        None => {
            let verdict = judge(row, &result.trace);
            let code = code_of(&verdict);
            (verdict, code)
        }
    };
    Ok(Checked { row, verdict, exit_code, ran: Some((plan, result)) })
}

/// Calls a function; that it does not throw is an expectation too, and the other rows are checked all the same.
fn call(check: impl FnOnce() -> Verdict) -> Verdict {
    guarded(check).unwrap_or_else(|caught| Verdict::NotHeld(format!("the function threw: {}", caught.message)))
}

fn code_of(verdict: &Verdict) -> ExitCode {
    match verdict {
        Verdict::Held => ExitCode::Held,
        Verdict::NotHeld(_) => ExitCode::Safety,
        Verdict::CannotTell(_) => ExitCode::Unmet,
    }
}

fn told(finding: &Finding) -> String {
    match finding {
        Finding::Crash(caught) => format!("the model crashed: {}", caught.message),
        Finding::Harness { what, .. } => format!("the harness failed: {what}"),
        Finding::Violation { invariant, .. } => format!("{invariant} is violated"),
        Finding::Unmet(row) => format!("faults[{}] was never delivered", row.fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_throws_does_not_hold() {
        assert_eq!(call(|| panic!("no entry")), Verdict::NotHeld("the function threw: no entry".to_owned()));
        assert_eq!(call(|| Verdict::Held), Verdict::Held);
    }
}
