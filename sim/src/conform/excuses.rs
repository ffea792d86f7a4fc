//! What is not compared: records that are not replayed, parts left out, and differences that are known.

use super::probe::Side;
use super::verdict::LeftOut;

/// A difference that is known.
#[derive(Debug)]
pub struct Excuse {
    /// The suite, or the beginning of its name.
    suite: &'static str,
    /// The probe.
    id: &'static str,
    /// What may differ: fields from the top, joined by dots. Everything else is compared.
    pub paths: &'static [&'static str],
    /// Why the model may differ there.
    pub why: &'static str,
}

/// Differences that are known. One that is no difference any more fails.
const EXCUSES: &[Excuse] = &[
    Excuse { suite: "core/2026-05-26", id: "E11", paths: &["caller.error.flags.remote"], why: UNDER_WAY },
    Excuse { suite: PUBLISHED, id: "MC1", paths: &["keysAfterInit", "keysAfterTool", "tool.2"], why: KEEPS_ANSWERS },
    Excuse { suite: PUBLISHED, id: "MC2", paths: &["after.keys", "during.keys"], why: KEEPS_ANSWERS },
    Excuse { suite: PUBLISHED, id: "MC3", paths: &["keys", "ws", "wsAfterClientLeft"], why: ENDS_LISTENERS },
    Excuse {
        suite: PUBLISHED,
        id: "MC4",
        paths: &["getStream.ended", "getStream.gotNotification", "ws"],
        why: ENDS_LISTENERS,
    },
    Excuse { suite: PUBLISHED, id: "MC5", paths: &["keys"], why: KEEPS_ANSWERS },
    Excuse { suite: PUBLISHED, id: "MC5b", paths: &["keys"], why: KEEPS_ANSWERS },
    Excuse { suite: PUBLISHED, id: "MC6", paths: &["keysLeft", "post.body"], why: PRIMES_CALLS },
    Excuse { suite: PUBLISHED, id: "MC7", paths: &["during.keys"], why: KEEPS_ANSWERS },
    Excuse { suite: PUBLISHED, id: "MC10", paths: &["keysAfterToolEnded", "plainGet"], why: KEEPS_ANSWERS },
    Excuse { suite: LATER, id: "AG1", paths: &["keys", "psName", "schedules", "tables"], why: OTHER_TABLES },
    Excuse { suite: LATER, id: "AG1b", paths: &["keys", "onStarts"], why: STARTS_ON_CALLS },
    Excuse { suite: LATER, id: "AG8", paths: &["scheduleRowStillThere"], why: OTHER_TABLES },
    Excuse {
        suite: LATER,
        id: "AG9",
        paths: &["afterSetName", "error", "fetchOnHex", "initOnHex", "name", "setName"],
        why: STARTS_ON_CALLS,
    },
    Excuse { suite: LATER, id: "AG12", paths: &["rows"], why: OTHER_TABLES },
    Excuse { suite: LATER, id: "AG13", paths: &["after.keys"], why: OTHER_TABLES },
    Excuse { suite: LATER, id: "AG14", paths: &["after.keys", "during.keys"], why: OTHER_TABLES },
    Excuse { suite: LATER, id: "AG14b", paths: &["after1_8s.keys", "end.keys"], why: OTHER_TABLES },
    Excuse { suite: LATER, id: "AG16", paths: &["alarmKept"], why: RECOMPUTES },
    Excuse { suite: LATER, id: "EV", paths: &["a.*.psName"], why: OTHER_TABLES },
    Excuse { suite: LATER, id: "EV3", paths: &["alarm"], why: RECOMPUTES },
];

/// The packages that the described host patches, without its patch.
const PUBLISHED: &str = "agents-0.17.3/";
/// Later packages than those of the described host.
const LATER: &str = "agents-0.32.0/";

const KEEPS_ANSWERS: &str = "the model has the described host's patch (fact 205): answered streams keep events and marker until a GET \
                             acknowledges them; as published they go with the answer (fact 198)";
const ENDS_LISTENERS: &str = "the model has the described host's patch (facts 205, 206): a GET replays what is undelivered and ends; as \
                              published it waits, as one socket (fact 199)";
const PRIMES_CALLS: &str = "the model has the described host's patch (fact 207): a POST begins with a priming event, which is kept; as \
                            published its body is empty (fact 202)";
const OTHER_TABLES: &str = "the model is agents 0.17.3, as the described host: 0.32.0 keeps no record of the name, has other tables, and \
                            versions of their schemas among the values (facts 173, 189)";
const STARTS_ON_CALLS: &str = "the model is agents 0.17.3, as the described host: 0.32.0 starts on plain calls too, and says otherwise \
                               that it has no name (fact 173)";
const RECOMPUTES: &str = "the model is agents 0.17.3, as the described host: 0.32.0 recomputes the alarm at a start, and a heartbeat of \
                          the instance before is gone (fact 189)";

const UNDER_WAY: &str = "a call under way to code that was reset reaches that code, which fails at its storage; in the model the call \
                         itself fails, with the same text and without `remote`";

/// Why probes are not replayed, by their ids; no ids are all that are in no group.
const NOT_REPLAYED: &[(Side, &[&str], &str)] = &[
    (Side::Core, &["X1", "X10", "X11"], "bodies of responses are values in the model, and no I/O objects"),
    (Side::Core, &["M2"], "synchronous work takes no time in the model"),
    (Side::Core, &["M3"], "code at module scope does not run by itself in the model: it has no clock to read"),
    (
        Side::Core,
        &["SSE1", "SSE2", "SSE3", "RS6"],
        "objects of the model answer with whole bodies: the host's streams are the worker's",
    ),
    (Side::Core, &["RS5"], "the model ends an isolate at once: that a process waits for requests is not modelled"),
    (Side::Core, &["WS2"], "the model's objects accept sockets for hibernation only, as the host does"),
];

/// Lists of what is left out, one for each group that has some.
const LEFT_OUT: &[(Side, &[LeftOut])] = &[
    (Side::Core, super::storage::LEFT_OUT),
    (Side::Core, super::alarms::LEFT_OUT),
    (Side::Core, super::errors::LEFT_OUT),
    (Side::Core, super::contexts::LEFT_OUT),
    (Side::Core, super::naming::LEFT_OUT),
    (Side::Core, super::sockets::LEFT_OUT),
    (Side::Core, super::restarts::LEFT_OUT),
    (Side::Agents, super::agents::streams::LEFT_OUT),
];

/// What is left out of the answers of a probe.
pub fn left_out_of(side: Side, id: &str) -> Vec<LeftOut> {
    let of_side = LEFT_OUT.iter().filter(|(of, _)| *of == side);
    of_side.flat_map(|(_, list)| list.iter()).filter(|out| out.id == id).copied().collect()
}

/// In what a probe may differ in that suite, and why.
pub fn excuse(suite: &str, id: &str) -> Option<&'static Excuse> {
    EXCUSES.iter().find(|excuse| suite.starts_with(excuse.suite) && excuse.id == id)
}

/// What is said of a record that nobody has given a reason for.
pub const UNWRITTEN: &str = "nobody has written its replay";

/// Why a probe that is in no group is not replayed.
pub fn reason(side: Side, id: &str) -> &'static str {
    let reason = NOT_REPLAYED.iter().find(|(of, ids, _)| *of == side && (ids.is_empty() || ids.contains(&id)));
    reason.map_or(UNWRITTEN, |(_, _, why)| why)
}

#[cfg(test)]
mod tests {
    use super::super::{probe, record, verdict};
    use super::*;

    fn is_there(side: Side, id: &str, suite: &str) -> bool {
        let suites = record::suites().expect("the data is sound");
        let of_side = suites.iter().filter(|each| each.side == side && each.name.starts_with(suite));
        of_side.flat_map(|suite| &suite.records).any(|record| record.id == id)
    }

    #[test]
    fn every_probe_group_and_list_names_records_that_there_are_and_each_once() {
        let mut seen = Vec::new();
        for group in probe::GROUPS {
            for probe in group.probes {
                assert!(is_there(group.side, probe.id, ""), "{} of {}", probe.id, group.name);
                assert!(!seen.contains(&(group.side, probe.id)), "{} twice", probe.id);
                seen.push((group.side, probe.id));
                assert!(probe.drawn.iter().all(|drawn| is_there(group.side, probe.id, drawn.suite)), "{}", probe.id);
            }
        }
        for (side, ids, _) in NOT_REPLAYED {
            for id in *ids {
                assert!(is_there(*side, id, "") && probe::find(*side, id).is_none(), "{id}");
            }
        }
        for Excuse { suite, id, .. } in EXCUSES {
            let side = if suite.starts_with("core") { Side::Core } else { Side::Agents };
            assert!(is_there(side, id, suite) && probe::find(side, id).is_some(), "{id} in {suite}");
        }
    }

    #[test]
    fn whatever_is_left_out_was_recorded() {
        let suites = record::suites().expect("the data is sound");
        for (side, list) in LEFT_OUT {
            for out in *list {
                let records = suites.iter().filter(|suite| suite.side == *side).flat_map(|suite| &suite.records);
                let seen = records.filter(|record| record.id == out.id).flat_map(|record| &record.seen);
                let is_taken = seen.cloned().any(|mut real| verdict::leave_out(&mut real, out.path));
                assert!(is_taken, "{} has no {}", out.id, out.path);
                assert!(probe::find(*side, out.id).is_some(), "{} is not replayed", out.id);
            }
        }
    }
}
