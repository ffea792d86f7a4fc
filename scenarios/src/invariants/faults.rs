//! Which planned faults reached the run, and what they excuse.

mod jams;
mod reach;
#[cfg(test)]
mod tests;

use self::jams::Jams;
use self::reach::Reach;
use crate::plan::{Effect, ErrorKind, FaultPlan, Plan, ResetKind, When};
use crate::trace::{Event, Stream, Trace};

/// A step that was held goes on within this time of its release, in ms.
const HELD_ENDS_MS: u64 = 100;

/// The faults of a trace that were delivered.
#[derive(Default)]
pub struct FaultLog<'a> {
    delivered: Vec<Delivered<'a>>,
    losses: Vec<&'a Event>,
    reach: Reach<'a>,
    jams: Jams<'a>,
}

struct Delivered<'a> {
    at_ms: u64,
    /// When a hold ended; nothing while it lasts.
    released_at_ms: Option<u64>,
    plan: Option<&'a FaultPlan>,
    /// Whom it hit: alias of a session, name of a client at the edge, or another object.
    who: Option<&'a str>,
}

impl<'a> FaultLog<'a> {
    /// Reads the fault stream of a trace, and the losses of objects and isolates that the platform reports.
    pub fn of(plan: &'a Plan, trace: &'a Trace) -> Self {
        let number = |event: &Event| event.number("fault").and_then(|n| usize::try_from(n).ok());
        let mut delivered: Vec<(Option<usize>, Delivered)> = Vec::new();
        for event in trace.of(Stream::Fault) {
            let fault = number(event);
            match &*event.name {
                "fault.delivered" => delivered.push((
                    fault,
                    Delivered {
                        at_ms: event.at_ms,
                        released_at_ms: None,
                        plan: fault.and_then(|index| plan.faults.get(index)),
                        who: event.who(),
                    },
                )),
                "fault.released" => {
                    for (index, each) in &mut delivered {
                        if *index == fault && each.released_at_ms.is_none() {
                            each.released_at_ms = Some(event.at_ms);
                        }
                    }
                }
                _ => {}
            }
        }
        // An object that destroyed itself lost nothing to the platform.
        let by_itself = |event: &&Event| event.text("kind") == Some("destroyed");
        let lost = |event: &&Event| matches!(&*event.name, "object.reset" | "isolate.ended") && !by_itself(event);
        let delivered: Vec<_> = delivered.into_iter().map(|(_, each)| each).collect();
        let losses: Vec<_> = trace.of(Stream::Platform).filter(lost).collect();
        let is_calm = delivered.is_empty() && losses.is_empty();
        let reach = if is_calm { Reach::default() } else { Reach::of(plan, trace) };
        Self { delivered, losses, reach, jams: Jams::of(trace) }
    }

    /// Whether something that concerns the session was made to fail, was interrupted or lost its memory in that time, or
    /// fails lastingly since before; holds and delays do not count, since what waits is served later.
    pub fn is_disturbed(&self, session: &str, from_ms: u64, to_ms: u64) -> bool {
        let by_plan = self.delivered.iter().filter(|each| self.concerns(each, session)).any(|each| {
            let is_within = (from_ms..=to_ms).contains(&each.at_ms);
            each.at_ms <= to_ms
                && match each.plan.map(|plan| &plan.effect) {
                    Some(Effect::Hold { fail: Some(_), .. }) => (from_ms..=to_ms).contains(&self.ends_ms(each)),
                    Some(Effect::Hold { .. } | Effect::Delay { .. }) => false,
                    Some(Effect::Fail { lasting: true, .. }) => true,
                    Some(_) | None => is_within,
                }
        });
        by_plan || self.is_lost(session, from_ms, to_ms)
    }

    /// Whether the session's object lost its memory to the platform in that time.
    fn is_lost(&self, session: &str, from_ms: u64, to_ms: u64) -> bool {
        self.losses.iter().filter(|event| (from_ms..=to_ms).contains(&event.at_ms)).any(|event| match &*event.name {
            "isolate.ended" => self.reach.is_in(session, event.text("isolate"), event.at_ms),
            _ => event.who() == Some(session),
        })
    }

    /// Whether a fault can have touched a session: its own object or client, one that it shares executions with, or, as a
    /// reset leaves the module scope of an isolate as it is (platform fact 132), one beside it there.
    fn concerns(&self, each: &Delivered, session: &str) -> bool {
        let aimed_at = match each.plan.map(|plan| &plan.when) {
            Some(When::At { session, .. } | When::Operation { session, .. }) => session.as_deref(),
            None => None,
        };
        let Some(hit) = each.who.or(aimed_at) else { return true };
        let is_reset = matches!(each.plan.map(|plan| &plan.effect), Some(Effect::Reset { .. }) | None);
        self.reach.belongs_together(hit, session) || is_reset && self.reach.is_beside(hit, session, each.at_ms)
    }

    /// Whether a call of a session's method may have failed in that time for its own part: its object was lost, or
    /// something was made to fail that is not the storage of its record.
    pub fn fails_call(&self, session: &str, from_ms: u64, to_ms: u64) -> bool {
        let is_other = |each: &Delivered| match each.plan.map(|plan| &plan.when) {
            Some(When::Operation { operation, .. }) => !operation.starts_with("meta ·"),
            Some(When::At { .. }) | None => true,
        };
        let in_time = self.delivered.iter().filter(|each| (from_ms..=to_ms).contains(&each.at_ms));
        in_time.filter(|each| self.concerns(each, session)).any(is_other) || self.is_lost(session, from_ms, to_ms)
    }

    /// Whether a step of the edge worker's own was made to fail in that time, one that asks no session: with whatever text,
    /// that is no reset of an object.
    pub fn fails_at_edge(&self, from_ms: u64, to_ms: u64) -> bool {
        self.delivered.iter().any(|each| {
            let Some(FaultPlan { when: When::Operation { operation, .. }, effect, .. }) = each.plan else {
                return false;
            };
            let is_of_edge = operation.starts_with("edge") || operation.starts_with("bridge");
            let (fails_at_ms, is_lasting) = match effect {
                Effect::Fail { lasting, .. } => (each.at_ms, *lasting),
                Effect::Hold { fail: Some(_), .. } => (self.ends_ms(each), false),
                _ => return false,
            };
            is_of_edge && !operation.contains("stub.") && fails_at_ms <= to_ms && (is_lasting || fails_at_ms >= from_ms)
        })
    }

    /// Whether something failed in that time, wherever, in a way that no host recognises: with an error that is not the
    /// platform's, by an interrupt, or for want of memory.
    pub fn fails_unrecognised(&self, from_ms: u64, to_ms: u64) -> bool {
        if self.fails_at_edge(from_ms, to_ms) {
            return true;
        }
        let is_unknown = |error: ErrorKind| matches!(error, ErrorKind::Unknown | ErrorKind::MemoryLimit);
        self.delivered.iter().any(|each| {
            let is_within = |at_ms: u64| (from_ms..=to_ms).contains(&at_ms);
            match each.plan.map(|plan| &plan.effect) {
                Some(Effect::Fail { error, text, lasting, .. }) => {
                    let is_met = is_within(each.at_ms) || *lasting && each.at_ms <= to_ms;
                    is_met && (is_unknown(*error) || text.is_some())
                }
                Some(Effect::Hold { fail: Some(error), .. }) => is_within(self.ends_ms(each)) && is_unknown(*error),
                Some(Effect::Interrupt { .. } | Effect::Reset { kind: ResetKind::Memory | ResetKind::Moved }) => {
                    is_within(each.at_ms)
                }
                _ => false,
            }
        })
    }

    /// Whether a hold that the session can have waited for left a client less than half of its patience before that time.
    pub fn is_held_until(&self, session: &str, at_ms: u64, patience_ms: u64) -> bool {
        self.delivered.iter().any(|each| {
            let is_hold =
                matches!(each.plan.map(|plan| &plan.effect), Some(Effect::Hold { .. } | Effect::Delay { .. }));
            is_hold
                && self.holds_up(each, session)
                && each.at_ms <= at_ms
                && self.ends_ms(each).saturating_add(patience_ms / 2) > at_ms
        })
    }

    /// Whether a session can have waited for what a hold holds: its own, or a build of another, which may have the last
    /// permit of an isolate (session-core §2.27).
    fn holds_up(&self, each: &Delivered, session: &str) -> bool {
        let is_of_build = match each.plan.map(|plan| &plan.when) {
            Some(When::Operation { operation, .. }) => operation.starts_with("build ·"),
            Some(When::At { .. }) | None => true,
        };
        is_of_build || self.concerns(each, session)
    }

    /// Whether something that concerns the session fails from some time before that one on, and every time that it is tried.
    pub fn fails_lastingly(&self, session: &str, at_ms: u64) -> bool {
        self.delivered.iter().any(|each| {
            let is_lasting = matches!(each.plan.map(|plan| &plan.effect), Some(Effect::Fail { lasting: true, .. }));
            is_lasting && each.at_ms <= at_ms && self.concerns(each, session)
        })
    }

    /// The ms of that time in which planned holds and delays lasted, added up.
    pub fn held_ms(&self, from_ms: u64, to_ms: u64) -> u64 {
        let overlap = |each: &Delivered| {
            let end = self.ends_ms(each).min(to_ms);
            end.saturating_sub(each.at_ms.max(from_ms))
        };
        self.delivered.iter().map(overlap).sum()
    }

    /// The same of a session, and the ms in which the platform let none of its timers fire.
    pub fn held_ms_of(&self, session: &str, from_ms: u64, to_ms: u64) -> u64 {
        self.held_ms(from_ms, to_ms) + self.jammed_ms(session, from_ms, to_ms)
    }

    /// The ms of that time in which the platform let none of the session's timers fire.
    pub fn jammed_ms(&self, session: &str, from_ms: u64, to_ms: u64) -> u64 {
        self.jams.lasted_ms(session, from_ms, to_ms)
    }

    /// Whether a planned fault kept an export from coming out in that time.
    pub fn lost_export(&self, from_ms: u64, to_ms: u64) -> bool {
        self.delivered.iter().any(|each| {
            let Some(FaultPlan { when: When::Operation { operation, .. }, effect, .. }) = each.plan else {
                return false;
            };
            let is_lasting = matches!(effect, Effect::Fail { lasting: true, .. });
            let is_in_time = each.at_ms <= to_ms && (is_lasting || each.at_ms >= from_ms);
            is_in_time && operation == "telemetry · export"
        })
    }

    /// Whether a planned failure hit a write of the session's alarm in that time, or a step without which the re-arm never comes,
    /// its own read or the framework's deletion: only the next use of the session heals it.
    pub fn lost_alarm_write(&self, session: &str, from_ms: u64, to_ms: u64) -> bool {
        self.delivered.iter().filter(|each| self.concerns(each, session)).any(|each| {
            let Some(FaultPlan { when: When::Operation { operation, .. }, effect, .. }) = each.plan else {
                return false;
            };
            let (fails_at_ms, is_lasting) = match effect {
                Effect::Fail { lasting, .. } => (each.at_ms, *lasting),
                Effect::Hold { fail: Some(_), .. } => (self.ends_ms(each), false),
                _ => return false,
            };
            let is_in_time = fails_at_ms <= to_ms && (is_lasting || fails_at_ms >= from_ms);
            let is_of_alarm = operation.contains("setAlarm") || operation.starts_with("rearm · ");
            is_in_time && (is_of_alarm || operation == "sched · storage.deleteAlarm")
        })
    }

    /// Whether a planned hold or delay kept a step of an eviction waiting up to shortly before that time: what it had
    /// found is old news then, which the platform alone never lets happen.
    pub fn holds_eviction(&self, at_ms: u64) -> bool {
        self.holds(at_ms, |operation| operation.starts_with("evict ·"))
    }

    /// Whether a planned hold or delay kept a request waiting at that time in the last steps of the start that it asked
    /// for, between its runtime and its accept, where the platform alone lets nothing come in. The start runs on beside a
    /// step that waits for it, so either end of that step will do.
    pub fn holds_connect(&self, at_ms: u64) -> bool {
        self.holds(at_ms, |operation| matches!(operation, "connect · start" | "start · join" | "init · flush"))
    }

    fn holds(&self, at_ms: u64, is_step: impl Fn(&str) -> bool) -> bool {
        self.delivered.iter().any(|each| {
            let Some(FaultPlan { when: When::Operation { operation, .. }, effect, .. }) = each.plan else {
                return false;
            };
            matches!(effect, Effect::Hold { .. } | Effect::Delay { .. })
                && is_step(operation)
                && each.at_ms <= at_ms
                && at_ms <= self.ends_ms(each).saturating_add(HELD_ENDS_MS)
        })
    }

    fn ends_ms(&self, each: &Delivered) -> u64 {
        match each.plan.map(|plan| &plan.effect) {
            Some(Effect::Delay { ms }) => each.at_ms + ms,
            Some(Effect::Hold { for_ms, .. }) => {
                each.released_at_ms.or(for_ms.map(|ms| each.at_ms + ms)).unwrap_or(u64::MAX)
            }
            _ => each.at_ms,
        }
    }
}
