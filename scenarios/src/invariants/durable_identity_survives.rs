//! I22: what makes a session restorable is deleted by its destruction only, and nothing is destroyed unasked.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "durable-identity-survives",
    kind: Kind::Always,
    claim: "stored meta, props, initialize request and name of a session are deleted only when it is destroyed, and it is destroyed only when ended or condemned",
    covers: &["I22"],
    judge,
};

/// The keys a restore cannot do without (session-core §1.6).
const IDENTITY: [&str; 4] = ["session-meta", "props", "initializeRequest", "__ps_name"];

fn judge(case: &Case<'_>) -> Verdict {
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        if event.stream != Stream::Platform || !matches!(&*event.name, "storage.deleted" | "storage.wiped") {
            return;
        }
        let Some((who, session)) = event.who().and_then(|who| Some((who, replay.session(who)?))) else {
            return;
        };
        let what = match &*event.name {
            "storage.deleted" => {
                let key = event.text("key").unwrap_or("");
                let is_allowed = session.may_be_destroyed() || session.is_destroying;
                if !IDENTITY.contains(&key) || is_allowed {
                    return;
                }
                format!("{key} was deleted although nothing destroys the session")
            }
            "storage.wiped" if !session.may_be_destroyed() => {
                "the storage was wiped although nobody ended the session".to_owned()
            }
            _ => return,
        };
        let pending = format!("{who}: its next use finds no session");
        violations.push(Violation::at(event, what).pending(pending));
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_disposal_that_keeps_the_identity_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn each_part_of_the_identity_is_guarded() {
        for key in IDENTITY {
            let deleted = story().platform(1_024, "s1", "storage.deleted", &[("key", key.into())]);
            let found = violation(INVARIANT, deleted);
            assert_eq!(found.what, format!("{key} was deleted although nothing destroys the session"));
        }
    }

    #[test]
    fn a_wipe_is_right_only_after_an_end() {
        let wiped = story().platform(1_024, "s1", "storage.wiped", &[]);
        violation(INVARIANT, wiped.clone());
        let condemned = wiped.clone().state(900, "s1", "condemned", &[]);
        assert_eq!(judged(INVARIANT, condemned), Verdict::Held);
        let close = [("request", 90_u64.into()), ("op", "close".into())];
        let closed = wiped.history(900, "s1", "request.begin", &close);
        assert_eq!(judged(INVARIANT, closed), Verdict::Held);
    }
}
