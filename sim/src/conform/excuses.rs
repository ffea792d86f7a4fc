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
const NOT_REPLAYED: &[(Side, &[&str], &str)] = &[];

/// Lists of what is left out, one for each group that has some.
const LEFT_OUT: &[(Side, &[LeftOut])] = &[
    (Side::Core, super::storage::LEFT_OUT),
    (Side::Core, super::alarms::LEFT_OUT),
    (Side::Core, super::errors::LEFT_OUT),
    (Side::Core, super::contexts::LEFT_OUT),
];

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
