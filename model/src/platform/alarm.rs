//! The single alarm of an object: due, late, delivered at least once, retried.

use std::rc::Rc;

use super::cluster::lock;
use super::error::JsError;
use super::isolate::{Isolate, WokenBy};
use super::object::{Instance, ObjectKey};
use crate::js::{Ctx, EventLoop, IoContext, Letter, SectionId};
use crate::rt;

/// Tries after the first (platform fact 76).
const RETRIES_MAX: u32 = 6;
/// Delay before the first retry in milliseconds; doubles each time and is lengthened by up to a quarter.
const RETRY_BASE_MS: u64 = 2_000;

/// What `alarm()` is told (platform fact 72).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmInfo {
    /// The time it was set for, in epoch milliseconds; a retry keeps it.
    pub scheduled_ms: u64,
    /// 0 for the first delivery.
    pub retry_count: u32,
}

impl AlarmInfo {
    /// The first delivery of an alarm set for `scheduled_ms`.
    pub fn first(scheduled_ms: u64) -> Self {
        AlarmInfo { scheduled_ms, retry_count: 0 }
    }

    /// `isRetry`: the platform counts this delivery as one after a failure.
    pub fn is_retry(&self) -> bool {
        self.retry_count > 0
    }
}

/// The wake-up of an alarm, on its way to the object's isolate.
pub(super) struct AlarmLetter {
    pub key: ObjectKey,
    pub info: AlarmInfo,
    pub due_ms: u64,
    /// How late it comes; drawn when it falls due.
    pub late_ms: Option<u64>,
}

impl Letter for AlarmLetter {
    fn context(&self, event_loop: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        Isolate::of(event_loop, |isolate| isolate.context_of(&self.key)).map(|context| (context, 0))
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        Isolate::of(event_loop, |isolate| isolate.open_alarm(event_loop, *self));
    }

    fn bounce(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        Isolate::of(event_loop, |isolate| isolate.cluster.post_alarm(&self.key, self.info, event_loop.now_ms()));
    }
}

impl Isolate {
    fn open_alarm(&self, event_loop: &Rc<EventLoop>, letter: AlarmLetter) {
        let durable = self.cluster.durable(&letter.key);
        let (stored, stale) = {
            let mut durable = lock(&durable);
            let stale = durable.letter_due != Some(letter.due_ms);
            if !stale {
                durable.letter_due = None;
            }
            (durable.alarm, stale)
        };
        // Fact: 82. A deletion during a retry wait cancels the retry. [R:A10]
        // Fact: 91. A delivery that overlaps another is merged, one that the stored time does not match is cancelled.
        // [S:io/worker-entrypoint.c++ runAlarmImpl, S:io/actor-sqlite.c++ armAlarmHandler]
        let Some(stored) = stored.filter(|_| !stale) else { return };
        if self.living_instance(&letter.key).is_some_and(|instance| instance.store.alarm_in_flight()) {
            // The object has changed its alarm, but not durably yet: the commit sends the next wake-up.
            return;
        }
        let retrying = letter.info.retry_count > 0 && stored == letter.info.scheduled_ms;
        if !retrying && stored > letter.due_ms {
            // Moved to a later time since: the wake-up goes on to that time.
            return self.cluster.post_alarm(&letter.key, AlarmInfo::first(stored), stored);
        }
        let info = match letter.info {
            // Locally an alarm that was set during a retry's wait is that retry (platform fact 83).
            retry if retrying || (self.switches.is_local && retry.is_retry()) => {
                AlarmInfo { scheduled_ms: stored, ..retry }
            }
            _ => AlarmInfo::first(stored),
        };
        let Some(late_ms) = letter.late_ms else {
            // Fact: 68. An alarm is never early; mostly on time, rarely up to a minute late. [R:A24, R:A23,
            // D:storage-api alarms]
            // Fact: 210. Alarms are mostly 0 to 10 ms late, sometimes hundreds, rarely up to a minute. [fact 68]
            let late_ms = rt::decide_delay(&letter.key.label(), "alarm.late");
            if late_ms > 0 {
                return self.post_late(&letter.key, info, letter.due_ms + late_ms, late_ms);
            }
            return self.deliver_alarm(event_loop, &letter.key, info, event_loop.now_ms() - letter.due_ms);
        };
        self.deliver_alarm(event_loop, &letter.key, info, late_ms);
    }

    fn post_late(&self, key: &ObjectKey, info: AlarmInfo, at_ms: u64, late_ms: u64) {
        lock(&self.cluster.durable(key)).letter_due = Some(at_ms);
        let (_, inbox) = self.cluster.route(key);
        let lane = crate::js::Lane::named(&key.label(), "alarm", 0);
        let letter = AlarmLetter { key: key.clone(), info, due_ms: at_ms, late_ms: Some(late_ms) };
        inbox.post(at_ms, lane, Box::new(letter));
    }

    fn deliver_alarm(&self, event_loop: &Rc<EventLoop>, key: &ObjectKey, info: AlarmInfo, late_ms: u64) {
        // Fact: 90. An alarm wakes an object that was evicted; the constructor runs first. [R:EV4]
        let instance = self.instance(event_loop, key, WokenBy::Alarm);
        if event_loop.is_shut(&instance.io, 0) {
            // Its constructor has shut the gate (platform fact 37).
            return self.post_late(key, info, event_loop.now_ms(), late_ms);
        }
        // Fact: 40. One alarm at most runs at a time, and requests come in while it waits. [R:A13, R:A14, R:A28]
        // Fact: 74. An alarm set inside alarm() starts after it has ended, as a first try. [R:A4, R:A14, R:A28]
        if instance.alarm_running.get().is_some() {
            // At most one runs at a time (platform fact 40): the next starts when it has ended (fact 74).
            return;
        }
        {
            let mut durable = lock(&instance.store.durable);
            // Fact: 63. Deleting everything inside an alarm that succeeds leaves no alarm. [R:A20, RF:A20]
            durable.alarm = None;
            durable.running = Some(info);
            durable.touched = false;
        }
        instance.event_begins();
        instance.alarm_running.set(Some(info));
        // Fact: 73. While an alarm runs its slot is empty unless a new one was set since. [R:A4, R:A13, R:A8]
        instance.store.show_alarm(None);
        platform_event!(
            "alarm.fired",
            instance.io.label,
            due_at_ms = info.scheduled_ms,
            late_ms = late_ms,
            retry = info.retry_count
        );
        let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root: "alarm" };
        let object = instance.object();
        // Fact: 72. An alarm is told its try and the time it was set for; a retry keeps that time. [R:A8]
        let handler = event_loop.with_ctx(ctx.clone(), || object.alarm(info));
        let Some(handler) = handler else { return };
        event_loop.start_in(
            ctx,
            Box::pin(async move {
                let ended = handler.await;
                let running = Rc::clone(&instance);
                let report = Box::new(move || Isolate::current(|isolate| isolate.alarm_ended(&running, info, ended)));
                // Not before its writes are durable: what they lose in a reset is done again (platform fact 70).
                Isolate::current(|isolate| isolate.send(&instance.io, report));
            }),
        );
    }

    fn alarm_ended(&self, instance: &Rc<Instance>, info: AlarmInfo, ended: Result<(), JsError>) {
        if instance.is_zombie() {
            // What became of its alarm was settled by the reset.
            return;
        }
        instance.alarm_running.set(None);
        instance.event_ends(&EventLoop::current());
        let touched = {
            let mut durable = lock(&instance.store.durable);
            durable.running = None;
            durable.touched
        };
        let outcome = if ended.is_ok() { "ok" } else { "failed" };
        let error = ended.as_ref().err().map(ToString::to_string);
        platform_event!("alarm.ended", instance.io.label, outcome = outcome, error = error.as_deref());
        match ended {
            // Fact: 80. An alarm set inside one that throws replaces the retry and counts from 0. [R:A7]
            // Fact: 81. An alarm deleted inside one that throws is not tried again. [R:A6, D:alarms]
            Err(_) if !touched => self.retry_alarm(instance, info, true),
            Ok(()) if !touched && self.alarm_comes_again(instance, info) => {}
            _ => self.arm_next(instance, info),
        }
    }

    /// Whether nobody was told that it has succeeded, so that it is delivered once more.
    fn alarm_comes_again(&self, instance: &Rc<Instance>, info: AlarmInfo) -> bool {
        // Fact: 211. An alarm may be delivered again, with its count at 0 or higher. [facts 70, 79, 86]
        let after_ms = rt::stray(&instance.io.label, "alarm.again");
        if after_ms == 0 {
            return false;
        }
        lock(&instance.store.durable).alarm = Some(info.scheduled_ms);
        let again = AlarmInfo::first(info.scheduled_ms);
        self.cluster.post_alarm(&instance.key, again, EventLoop::current().now_ms() + after_ms);
        true
    }

    /// An abort inside `alarm()` counts as a failure (platform fact 84); an alarm whose wake-up was given up for a change
    /// that is lost now is armed again.
    pub(super) fn alarm_after_reset(&self, instance: &Instance, is_failure: bool) {
        let (running, touched, armed) = {
            let mut durable = lock(&instance.store.durable);
            durable.running = None;
            (instance.alarm_running.take(), durable.touched, durable.letter_due.is_some())
        };
        match running {
            // Fact: 84. An abort or a failing section inside alarm() counts as a failure. [R:A17, R:A18]
            Some(info) if !touched => self.retry_alarm(instance, info, is_failure),
            Some(info) if !armed => self.arm_next(instance, info),
            None if !armed => self.arm(instance),
            _ => {}
        }
    }

    /// An alarm that was set while this one ran, and is durable already, starts after it (platform fact 74), unless it was
    /// set to the very time of this one.
    fn arm_next(&self, instance: &Instance, ran: AlarmInfo) {
        let stored = lock(&instance.store.durable).alarm;
        if stored != Some(ran.scheduled_ms) {
            return self.arm(instance);
        }
        // Fact: 87. An alarm set, inside alarm(), to the very time that runs is lost locally, and late by tens of seconds in
        // production. [R:A26, I:cloudflare/workerd#6866, I:cloudflare/cloudflare-docs#18324]
        // Fact: 213. An alarm re-armed for the running millisecond is lost, or late by tens of seconds. [fact 87]
        let late_ms = rt::stray(&instance.io.label, "alarm.stuck");
        platform_event!("alarm.stuck", instance.io.label, due_at_ms = ran.scheduled_ms, late_ms = late_ms);
        if late_ms > 0 {
            let again = AlarmInfo::first(ran.scheduled_ms);
            self.cluster.post_alarm(&instance.key, again, EventLoop::current().now_ms() + late_ms);
        }
    }

    /// The alarm that is stored is armed.
    fn arm(&self, instance: &Instance) {
        let stored = lock(&instance.store.durable).alarm;
        if let Some(at) = stored {
            self.cluster.post_alarm(&instance.key, AlarmInfo::first(at), at);
        }
    }

    /// Locally what runs while its object is reset under it comes to its end as a zombie and is never repeated, although
    /// its past time is shown.
    pub(super) fn forget_running_alarm(&self, instance: &Instance) {
        let mut durable = lock(&instance.store.durable);
        durable.running = None;
        if let Some(info) = instance.alarm_running.take().filter(|_| !durable.touched) {
            durable.alarm = Some(info.scheduled_ms);
        }
    }

    /// A failed delivery is tried again unless the alarm was set or deleted since (platform facts 76, 80, 81); one that did
    /// not fail by itself counts as none.
    fn retry_alarm(&self, instance: &Instance, info: AlarmInfo, is_failure: bool) {
        if is_failure && info.retry_count >= RETRIES_MAX {
            return;
        }
        // Fact: 76. A failed alarm is tried again after 2, 4, … 64 s, each up to a quarter longer. [R:AL1, R:A8,
        // S:server/alarm-scheduler.h]
        let base = RETRY_BASE_MS << info.retry_count;
        let label = &instance.io.label;
        let delay = base + rt::decide(label, "alarm.retry-jitter", base / 4 + 1);
        // Fact: 86. After a reset from outside the newer build repeats the alarm as a first try; locally the older one never
        // does. [R11:A27, R26:A27]
        // Fact: 212. A retry is up to a quarter late, and may lose its count. [facts 76, 79]
        let is_forgotten = rt::stray(label, "alarm.count-lost") > 0;
        let (retry_count, delay) =
            if is_forgotten { (0, 0) } else { (info.retry_count + u32::from(is_failure), delay) };
        let retry = AlarmInfo { retry_count, ..info };
        // Fact: 77. While a retry waits the past time is shown; after the last failure nothing. [R:A8, R:AL1]
        lock(&instance.store.durable).alarm = Some(info.scheduled_ms);
        if !instance.store.alarm_in_flight() {
            instance.store.show_alarm(Some(info.scheduled_ms));
        }
        // Fact: 78. A retry outlives its instance. [R:AL1]
        self.cluster.post_alarm(&instance.key, retry, EventLoop::current().now_ms() + delay);
    }
}
