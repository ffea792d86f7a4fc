//! What makes two findings the same: kind, claim or place, and what happened, without times, counts and names.

use crate::run::Finding;

/// The signature of a finding; equal ones are reported once.
pub fn signature(finding: &Finding) -> String {
    let kind = finding.exit_code().word();
    match finding {
        Finding::Violation { invariant, violations, .. } => {
            let what = violations.first().map_or("", |violation| violation.what.as_str());
            format!("{kind}/{invariant}/{}", general(what))
        }
        Finding::Crash(caught) => format!("{kind}/{}/{}", caught.file, general(&caught.message)),
        Finding::Unmet(row) => format!("{kind}/faults[{}]", row.fault),
        Finding::Harness { what, panic: None } => format!("{kind}/{}", general(what)),
        Finding::Harness { what, panic: Some(caught) } => {
            format!("{kind}/{}/{}", general(what), general(&caught.message))
        }
    }
}

/// A sentence with every number written `N`; names such as `s12` thereby become `sN`.
fn general(sentence: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::invariants::{Kind, Violation};

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
    fn times_and_sessions_do_not_tell_findings_apart_but_what_happened_does() {
        let one = signature(&violation("s1", "session s1 still resident 60000 ms late", 64_008));
        let same = signature(&violation("s12", "session s12 still resident 7 ms late", 9));
        let other = signature(&violation("s1", "session s1 released twice", 64_008));
        assert_eq!(one, "liveness/idle-runtime-is-released/session sN still resident N ms late");
        assert_eq!(one, same);
        assert_ne!(one, other);
    }
}
