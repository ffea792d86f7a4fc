//! Judges a trace: every invariant, each on its own, so that one that fails to judge hides no other.

use crate::capture::guarded;
use crate::run::Finding;
use scenarios::invariants::{self, Case, Invariant, Kind, Verdict};
use scenarios::plan::Plan;
use scenarios::reach::{self, Reached};
use scenarios::trace::Trace;

/// One invariant and what it says about a trace.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Name of the invariant.
    pub name: &'static str,
    /// Kind of its claim.
    pub kind: Kind,
    /// The claim in one sentence.
    pub claim: &'static str,
    /// The verdict, or how judging failed: a check that panics is a failure of the harness and never a pass.
    pub verdict: Result<Verdict, crate::capture::Caught>,
}

/// How close a run came to every row of reach, or how judging that failed.
pub type ReachJudged = Result<Vec<Reached>, crate::capture::Caught>;

/// Judges a trace by all invariants, in their order, and if asked for by all rows of reach.
pub fn judge(plan: &Plan, trace: &Trace, counts_reach: bool) -> (Vec<Judged>, ReachJudged) {
    let case = Case::new(plan, trace);
    let judged = judge_by(invariants::ALL, &case);
    let reached = if counts_reach { guarded(|| reach::judge(&case)) } else { Ok(Vec::new()) };
    (judged, reached)
}

fn judge_by(all: &[Invariant], case: &Case<'_>) -> Vec<Judged> {
    let one = |invariant: &Invariant| Judged {
        name: invariant.name,
        kind: invariant.kind,
        claim: invariant.claim,
        verdict: guarded(|| invariant.judge_case(case)),
    };
    all.iter().map(one).collect()
}

impl Judged {
    /// What a person should know of it. A situation that one run does not reach is no finding: many runs are asked.
    pub fn finding(&self) -> Option<Finding> {
        match &self.verdict {
            Ok(Verdict::Violated(violations)) if self.kind != Kind::Sometimes => Some(Finding::Violation {
                kind: self.kind,
                invariant: self.name,
                claim: self.claim,
                violations: violations.clone(),
            }),
            Ok(_) => None,
            Err(caught) => Some(Finding::Harness {
                what: format!("the check {} panicked", self.name),
                panic: Some(caught.clone()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_code::ExitCode;
    use scenarios::invariants::Violation;

    fn violated(_: &Case<'_>) -> Verdict {
        let violation = Violation { session: None, what: "wrong".to_owned(), at_ms: 1, ordinal: 0, pending: None };
        Verdict::Violated(vec![violation])
    }

    fn codes(kind: Kind, judge: fn(&Case<'_>) -> Verdict) -> Vec<ExitCode> {
        let plan = crate::run::tests::plan();
        let all = [Invariant { name: "a-claim", kind, claim: "it holds", covers: &[], judge }];
        judge_by(&all, &Case::new(&plan, &Trace::default()))
            .iter()
            .filter_map(Judged::finding)
            .map(|finding| finding.exit_code())
            .collect()
    }

    #[test]
    fn each_kind_of_claim_fails_in_its_own_way() {
        assert_eq!(codes(Kind::Always, violated), [ExitCode::Safety]);
        assert_eq!(codes(Kind::Eventually, violated), [ExitCode::Liveness]);
        assert_eq!(codes(Kind::Sometimes, violated), []);
    }

    #[test]
    fn a_claim_that_cannot_be_told_is_neither_a_pass_nor_a_failure() {
        assert_eq!(codes(Kind::Always, |_| Verdict::CannotTell("no trace".to_owned())), []);
    }

    #[test]
    fn a_check_that_panics_is_a_harness_error() {
        assert_eq!(codes(Kind::Always, |_| panic!("no such event")), [ExitCode::Harness]);
    }
}
