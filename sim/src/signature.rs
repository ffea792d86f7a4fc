//! What makes two findings the same: outcome, claim and kind of subject, without times, counts and names.

use crate::exit_code::ExitCode;
use crate::run::Finding;
use scenarios::plan::{Effect, FaultPlan, Plan, When, client_of};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest part of a signature, in characters.
const PART_MAX: usize = 100;

/// What findings are folded by; written `liveness/idle-runtime-is-released/session`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Signature {
    /// What kind of failure it is.
    pub outcome: ExitCode,
    /// The claim that does not hold: the name of an invariant, or what the harness itself demands of every run.
    pub claim: String,
    /// Kind of what it is about: `session`, `isolate`; for a panic the file and what was said, for a fault what it does.
    pub subject: String,
}

impl Signature {
    /// A signature of these parts, each made a slug.
    pub fn new(outcome: ExitCode, claim: &str, subject: &str) -> Self {
        Self { outcome, claim: slug(claim), subject: slug(subject) }
    }

    /// The signature of a finding about a run of that plan.
    pub fn of(finding: &Finding, plan: &Plan) -> Self {
        let outcome = finding.exit_code();
        match finding {
            Finding::Violation { invariant, violations, .. } => {
                let who = violations.first().and_then(|violation| violation.session.as_deref());
                Self::new(outcome, invariant, kind_of(who, plan))
            }
            Finding::Crash(caught) if caught.message.starts_with("step budget") => {
                Self::new(outcome, "comes-to-rest", "model")
            }
            Finding::Crash(caught) => {
                Self::new(outcome, "does-not-panic", &format!("{} {}", caught.file, general(&caught.message)))
            }
            Finding::Unmet(row) => {
                let fault = plan.faults.get(row.fault).map_or("fault".to_owned(), kind_of_fault);
                Self::new(outcome, "fault-is-delivered", &fault)
            }
            Finding::Harness { what, panic: None } => Self::new(outcome, "harness-works", &general(what)),
            Finding::Harness { what, panic: Some(caught) } => {
                Self::new(outcome, "harness-works", &format!("{} {}", general(what), general(&caught.message)))
            }
        }
    }

    /// Whether a file or folder can have its name from a signature.
    pub fn is_file_name(name: &str) -> bool {
        let outcomes = [
            ExitCode::Safety,
            ExitCode::Liveness,
            ExitCode::Crash,
            ExitCode::Nondeterminism,
            ExitCode::Unmet,
            ExitCode::Harness,
        ];
        let begins =
            |outcome: ExitCode| name.strip_prefix(&slug(outcome.word())).is_some_and(|rest| rest.starts_with('-'));
        outcomes.into_iter().any(begins)
    }

    /// The signature as a name for a file or folder.
    pub fn file_name(&self) -> String {
        format!("{}-{}-{}", slug(self.outcome.word()), self.claim, self.subject)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}/{}", slug(self.outcome.word()), self.claim, self.subject)
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.to_string()
    }
}

impl std::str::FromStr for Signature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "expected outcome/claim/subject such as `liveness/idle-runtime-is-released/session`";
        let mut parts = text.splitn(3, '/');
        let (Some(outcome), Some(claim), Some(subject)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(form.to_owned());
        };
        let known = ExitCode::FINDINGS.into_iter().find(|code| slug(code.word()) == outcome);
        let is_plain = |part: &str| !part.is_empty() && slug(part) == part;
        match known {
            Some(outcome) if is_plain(claim) && is_plain(subject) => {
                Ok(Self { outcome, claim: claim.to_owned(), subject: subject.to_owned() })
            }
            _ => Err(form.to_owned()),
        }
    }
}

impl TryFrom<String> for Signature {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// What kind of thing an alias of a trace names.
fn kind_of(who: Option<&str>, plan: &Plan) -> &'static str {
    let Some(who) = who else { return "world" };
    let is_isolate = who.strip_prefix('i').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if plan.clients.iter().any(|client| client.name == client_of(who))
        || plan.storage.iter().any(|stored| stored.session == who)
    {
        "session"
    } else if plan.callers.iter().any(|caller| caller.name == who) {
        "caller"
    } else if is_isolate {
        "isolate"
    } else {
        "other"
    }
}

fn kind_of_fault(fault: &FaultPlan) -> String {
    let effect = match fault.effect {
        Effect::Fail { .. } => "fail",
        Effect::Delay { .. } => "delay",
        Effect::Hold { .. } => "hold",
        Effect::Interrupt { .. } => "interrupt",
        Effect::Evict {} => "evict",
        Effect::Reset { .. } => "reset",
    };
    match &fault.when {
        When::At { .. } => format!("{effect} at a time"),
        When::Operation { operation, .. } => format!("{effect} at {operation}"),
    }
}

/// A sentence with every number written `N`; names such as `s12` thereby become `sN`.
pub fn general(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut is_number = false;
    for each in sentence.chars() {
        if each.is_ascii_digit() {
            if !is_number {
                out.push('N');
            }
            is_number = true;
        } else {
            is_number = false;
            out.push(each);
        }
    }
    out
}

/// Small letters, digits and single `-`, at most [`PART_MAX`] of them; never empty.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for each in text.chars() {
        if out.len() >= PART_MAX {
            break;
        }
        if each.is_ascii_alphanumeric() {
            out.push(each.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let plain = out.trim_end_matches('-');
    if plain.is_empty() { "unnamed".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::invariants::{Kind, Violation};
    use scenarios::seed::Seed;

    fn violation(session: &str, what: &str, at_ms: u64) -> Finding {
        let violation =
            Violation { session: Some(session.to_owned()), what: what.to_owned(), at_ms, ordinal: 5, pending: None };
        Finding::Violation {
            kind: Kind::Eventually,
            invariant: "idle-runtime-is-released",
            claim: "",
            violations: vec![violation],
        }
    }

    #[test]
    fn times_and_sessions_do_not_tell_findings_apart_but_kinds_of_subjects_do() {
        let plan = (crate::draw::scenarios().next().expect("a scenario").plan)(Seed(1));
        let client = plan.clients[0].name.clone();
        let one = Signature::of(&violation(&client, "still resident 60000 ms late", 64_008), &plan);
        let same = Signature::of(&violation(&format!("{client}.2"), "still resident 7 ms late", 9), &plan);
        let other = Signature::of(&violation("i1", "still resident 7 ms late", 9), &plan);
        assert_eq!(one.to_string(), "liveness/idle-runtime-is-released/session");
        assert_eq!(one, same);
        assert_eq!(other.to_string(), "liveness/idle-runtime-is-released/isolate");
    }

    #[test]
    fn a_signature_is_read_as_it_is_written_and_nothing_else_is() {
        for outcome in ExitCode::FINDINGS {
            let signature = Signature::new(outcome, "Some claim!", "a / b");
            assert_eq!(signature.to_string().parse(), Ok(signature));
        }
        for wrong in
            ["", "liveness", "liveness/a", "held/a/b", "liveness/A/b", "liveness/a/b/c", "liveness//b", "x/a/b"]
        {
            assert!(wrong.parse::<Signature>().is_err(), "{wrong}");
        }
        assert!(format!("liveness/a/{}", "b".repeat(PART_MAX + 1)).parse::<Signature>().is_err());
    }

    #[test]
    fn numbers_of_a_sentence_are_general() {
        assert_eq!(general("session s12 is 300 ms late"), "session sN is N ms late");
    }
}
