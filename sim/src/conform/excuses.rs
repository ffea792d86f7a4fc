//! What is not compared: records that are not replayed, parts left out, and differences that are known.

use super::probe::Side;
use super::verdict::LeftOut;

/// A difference that is known.
struct Excuse {
    /// The suite, or the beginning of its name.
    suite: &'static str,
    /// The probe.
    id: &'static str,
    /// Why the model may differ there.
    why: &'static str,
}

/// Differences that are known. One that is no difference any more fails.
const EXCUSES: &[Excuse] = &[];

/// Why probes are not replayed, by their ids.
const NOT_REPLAYED: &[(Side, &[&str], &str)] = &[
    (Side::Core, &["X1", "X10", "X11"], "bodies of responses are values in the model, and no I/O objects"),
    (Side::Core, &["M2"], "synchronous work takes no time in the model"),
    (Side::Core, &["M3"], "code at module scope does not run by itself in the model: it has no clock to read"),
    (Side::Core, &["SSE1", "SSE2", "SSE3", "RS6"], "objects of the model answer with whole bodies: the host's streams are the worker's"),
    (Side::Core, &["RS5"], "the model ends an isolate at once: that a process waits for requests is not modelled"),
    (Side::Core, &["WS2"], "the model's objects accept sockets for hibernation only, as the host does"),
];

/// Lists of what is left out, one for each group that has some.
const LEFT_OUT: &[(Side, &[LeftOut])] =
    &[(Side::Core, super::storage::LEFT_OUT), (Side::Core, super::alarms::LEFT_OUT), (Side::Core, super::errors::LEFT_OUT), (Side::Core, super::contexts::LEFT_OUT), (Side::Core, super::naming::LEFT_OUT), (Side::Core, super::sockets::LEFT_OUT), (Side::Core, super::restarts::LEFT_OUT)];

/// What is left out of the answers of a probe.
pub fn left_out_of(side: Side, id: &str) -> Vec<LeftOut> {
    let of_side = LEFT_OUT.iter().filter(|(of, _)| *of == side);
    of_side.flat_map(|(_, list)| list.iter()).filter(|out| out.id == id).copied().collect()
}

/// Why a probe may differ in that suite.
pub fn excuse(suite: &str, id: &str) -> Option<&'static str> {
    EXCUSES.iter().find(|excuse| suite.starts_with(excuse.suite) && excuse.id == id).map(|excuse| excuse.why)
}

/// Why a probe that is in no group is not replayed.
pub fn reason(side: Side, id: &str) -> &'static str {
    let reason = NOT_REPLAYED.iter().find(|(of, ids, _)| *of == side && ids.contains(&id));
    reason.map_or("nobody has written its replay", |(_, _, why)| why)
}
