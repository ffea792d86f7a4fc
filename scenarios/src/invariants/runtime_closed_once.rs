//! I4, I8: the server and the database handle of each runtime are closed exactly once by the time it is released.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "runtime-closed-once",
    kind: Kind::Always,
    claim: "each runtime has its server closed, its engine dropped, its database handle ended and its place given back once, in this order",
    covers: &["I3", "I4", "I8", "I11"],
    judge,
};

#[derive(Default)]
struct Closing {
    server: u32,
    engine: u32,
    handle: u32,
    released: u32,
}

fn judge(case: &Case<'_>) -> Verdict {
    let mut closings: BTreeMap<(&str, u32, u64), Closing> = BTreeMap::new();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        let is_closing = matches!(&*event.name, "server.closed" | "engine.dropped" | "db.ended" | "runtime.released");
        if event.stream != Stream::State || !is_closing {
            return;
        }
        let Some((who, session)) = event.who().and_then(|who| Some((who, replay.session(who)?))) else {
            return;
        };
        let installed = session.runtime.and_then(|runtime| runtime.number);
        let Some(number) = event.number("runtime").or(installed) else {
            return;
        };
        let closing = closings.entry((who, session.incarnation, number)).or_default();
        let (count, what) = match &*event.name {
            "server.closed" => (&mut closing.server, "the server was closed"),
            "engine.dropped" => (&mut closing.engine, "the engine was dropped"),
            "db.ended" => (&mut closing.handle, "the database handle was ended"),
            _ => (&mut closing.released, "the runtime was released"),
        };
        *count += 1;
        if *count > 1 {
            violations.push(Violation::at(event, format!("{what} again, time {count} for runtime {number}")));
        }
        if event.name == "engine.dropped" && closing.server == 0 {
            violations
                .push(Violation::at(event, format!("the engine of runtime {number} was dropped under its server")));
        }
        if event.name == "runtime.released" && installed == Some(number) {
            let open = match (closing.server, closing.handle) {
                (0, _) => "its server",
                (_, 0) => "its database handle",
                _ => return,
            };
            let what = format!("runtime {number} was released with {open} open");
            let pending = format!("{who}: {open} of runtime {number} is still open");
            violations.push(Violation::at(event, what).pending(pending));
        }
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn each_runtime_of_the_story_is_closed_once() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn a_second_close_of_one_runtime_is_named() {
        let again = [("runtime", 1_u64.into())];
        let found = violation(INVARIANT, story().state(1_030, "s1", "server.closed", &again));
        assert_eq!(found.what, "the server was closed again, time 2 for runtime 1");
        violation(INVARIANT, story().state(1_030, "s1", "db.ended", &again));
        violation(INVARIANT, story().state(1_030, "s1", "engine.dropped", &again).copy("engine.dropped", 0, 1_040));
        violation(INVARIANT, story().state(1_030, "s1", "runtime.released", &again));
    }

    #[test]
    fn an_engine_that_goes_before_its_server_is_named() {
        let early = story().state(1_020, "s1", "engine.dropped", &[("runtime", 1_u64.into())]);
        assert_eq!(violation(INVARIANT, early).what, "the engine of runtime 1 was dropped under its server");
    }

    #[test]
    fn a_release_with_something_open_is_named() {
        let found = violation(INVARIANT, story().without("db.ended", 0));
        assert_eq!(found.what, "runtime 1 was released with its database handle open");
        violation(INVARIANT, story().without("server.closed", 1));
    }

    #[test]
    fn a_runtime_that_was_lost_with_its_object_needs_no_close() {
        let trace = story()
            .without_between(1_000, 5_000)
            .platform(1_000, "s1", "object.gone", &[("reason", "evicted".into())])
            .platform(5_020, "s1", "object.constructed", &[("isolate", "i1".into())]);
        assert_eq!(judged(INVARIANT, trace), Verdict::Held);
    }
}
