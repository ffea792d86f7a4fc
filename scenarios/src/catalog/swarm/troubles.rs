//! What may go wrong in a swarm, and where it is aimed.

use super::everything::Swarm;
use crate::catalog::draft::direct::make_room;
use crate::catalog::draft::{Draft, at, operation};
use crate::plan::{Edge, Effect, ErrorKind, Interruptible, ResetKind};

/// All of it; a swarm has some.
pub const TROUBLES: &[Trouble] = &[
    Trouble::Fail,
    Trouble::Delay,
    Trouble::Hold,
    Trouble::InterruptInit,
    Trouble::InterruptDisposal,
    Trouble::Reset,
    Trouble::Evict,
    Trouble::Deploy,
    Trouble::MakeRoom,
];

/// What a step may fail with.
const ERRORS: &[ErrorKind] = &[
    ErrorKind::CodeUpdate,
    ErrorKind::StorageTimeout,
    ErrorKind::StorageInternal,
    ErrorKind::StartupInternalError,
    ErrorKind::ConcurrencyReset,
    ErrorKind::CpuLimit,
    ErrorKind::MemoryLimit,
    ErrorKind::InternalError,
    ErrorKind::Unknown,
];

/// Operations of the edge worker, where trouble is aimed.
const EDGE_OPERATIONS: &[&str] =
    &["edge · auth.authenticate", "edge · stub.validate", "bridge · stub.set-name", "bridge · stub.fetch"];
/// Operations of sessions, most of which most sessions pass.
const OPERATIONS: &[&str] = &[
    "name · storage.put __ps_name",
    "start · storage.get facet",
    "body · storage.put props",
    "validate · storage.get destroy-pending",
    "validate · start",
    "meta · storage.get session-meta",
    "meta · storage.put session-meta",
    "meta · db.organization",
    "init · db.open",
    "init · join-disposal",
    "init · stub.request-cap-eviction",
    "build · permit",
    "build · import",
    "build · stack",
    "build · describe",
    "build · server",
    "clock · storage.put last-activity-ms",
    "clock · storage.setAlarm idle",
    "rearm · storage.getAlarm",
    "rearm · storage.setAlarm idle",
    "sched · storage.deleteAlarm",
    "alarm · storage.get last-activity-ms",
    "alarm · storage.list stream-reqs",
    "evict · counts",
    "dispose · teardown",
    "teardown · server.close",
    "teardown · db.end",
    "teardown · db.end dialled",
    "dispose · storage.deleteAlarm",
    "dispose · storage.delete last-activity-ms",
    "connect · storage.put stream-reqs",
    "lease.start · dir.put",
    "lease.finish · dir.delete",
    "lease.expire · engine.resume",
    "lease.expire · dir.delete",
];

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A step fails.
    Fail,
    /// A step takes longer.
    Delay,
    /// A step waits.
    Hold,
    /// A start is interrupted.
    InterruptInit,
    /// A disposal is interrupted.
    InterruptDisposal,
    /// An object is reset.
    Reset,
    /// An object leaves memory.
    Evict,
    /// All objects are reset for a new version of the code.
    Deploy,
    /// Somebody asks a session for its runtime.
    MakeRoom,
}

/// Draws one trouble of the swarm.
pub fn trouble(swarm: &Swarm, draft: &mut Draft, number: u64) {
    let mut rng = draft.rng(&format!("trouble.{number}"));
    let session = format!("s{}", rng.between(1, swarm.client_count));
    let at_ms = rng.below(2 * swarm.span_ms);
    let edge = *rng.pick(&[Edge::Begin, Edge::End]);
    let n = rng.between(1, 3) as u32;
    let inside = operation(rng.pick_name(OPERATIONS), edge, n, &session);
    let when = if rng.chance(2, 3) { inside.clone() } else { at(at_ms, &session) };
    let place = if rng.chance(1, 8) { operation(rng.pick_name(EDGE_OPERATIONS), edge, n, &session) } else { inside };
    match rng.pick_weighted(&swarm.troubles).to_owned() {
        Trouble::Fail => {
            let error = *rng.pick(ERRORS);
            draft.fault_by_chance(place, Effect::Fail { error, text: None, flags: None, lasting: false });
        }
        Trouble::Delay => draft.fault_by_chance(place, Effect::Delay { ms: rng.between(1, 5_000) }),
        Trouble::Hold => {
            let held = Effect::Hold { release: None, for_ms: Some(rng.between(1, 5_000)), fail: None };
            draft.fault_by_chance(place, held);
        }
        Trouble::InterruptInit => {
            draft.fault_by_chance(when, Effect::Interrupt { what: Interruptible::Init });
        }
        Trouble::InterruptDisposal => {
            draft.fault_by_chance(when, Effect::Interrupt { what: Interruptible::Disposal });
        }
        Trouble::Reset => {
            let kind = *rng.pick(&[ResetKind::CodeUpdate, ResetKind::Memory, ResetKind::Cpu, ResetKind::Moved]);
            draft.fault_by_chance(when, Effect::Reset { kind });
        }
        Trouble::Evict => draft.fault_by_chance(at(at_ms, &session), Effect::Evict {}),
        Trouble::Deploy => draft.deploy(at_ms),
        Trouble::MakeRoom => draft.call(&format!("neighbour-{number}"), make_room(at_ms, &session)),
    }
}
