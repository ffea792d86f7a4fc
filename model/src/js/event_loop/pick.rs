//! Which event comes next: among those that are due and whose gate is open.

use std::rc::Rc;

use super::{Event, EventLoop, Lane, What};
use crate::js::context::{IoContext, SectionId};
use crate::rt;

impl EventLoop {
    /// The next event, or none while nothing is due.
    ///
    /// Earlier due times go first. Where several lanes meet in one millisecond, each event at the head of its lane draws
    /// a priority from the lane's name, once, and the highest goes first; without a draw the order is that of the names.
    pub(super) fn pick(&self) -> Option<Box<Event>> {
        if let Some(event) = self.urgent.borrow_mut().pop_front() {
            return Some(event);
        }
        if let Some(event) = self.next_section() {
            return Some(event);
        }
        self.collect_due();
        self.park_gated();
        let mut ready = self.ready.borrow_mut();
        let earliest = ready.first()?.due_ms;
        let due = &ready[..ready.partition_point(|event| event.due_ms == earliest)];
        let chosen = if due.first()?.lane == due.last()?.lane { 0 } else { self.contest(due) };
        Some(ready.remove(chosen))
    }

    /// Index of the winner among the heads of the lanes; `due` is ordered by lane and number.
    fn contest(&self, due: &[Box<Event>]) -> usize {
        // Fact: 39. Across stubs no order is promised. [R:G10, I:cloudflare/cloudflare-docs#14261]
        // Fact: 208. Order of what no gate orders: calls of several stubs, RPC and fetch, alarms, timers, requests.
        // [facts 29, 38, 39]
        let mut best: Option<(u64, usize)> = None;
        for (index, event) in due.iter().enumerate() {
            let is_head = index == 0 || due[index - 1].lane != event.lane;
            if is_head && best.is_none_or(|(most, _)| self.priority(event) > most) {
                best = Some((self.priority(event), index));
            }
        }
        best.map_or(0, |(_, index)| index)
    }

    fn priority(&self, event: &Event) -> u64 {
        const PRIORITIES: u64 = 1 << 32;
        if let Some(drawn) = event.priority.get() {
            return drawn;
        }
        let drawn = match (&event.lane, self.place(event)) {
            (Lane::Named { who, what, .. }, _) => rt::decide(who, &format!("order.{what}"), PRIORITIES),
            (Lane::Local(_), Some((context, _))) => rt::decide(&context.label, "order.own", PRIORITIES),
            (Lane::Local(_), None) => 0,
        };
        event.priority.set(Some(drawn));
        drawn
    }

    fn collect_due(&self) {
        let now_ms = self.polled_ms.get().max(self.now_ms());
        let mut events = self.events.borrow_mut();
        while events.peek().is_some_and(|event| event.due_ms <= now_ms) {
            let Some(event) = events.pop() else { break };
            if !matches!(&event.what, What::Timer(_, cleared, _) if cleared.get()) {
                self.make_ready(event);
            }
        }
    }

    /// Moves events whose gate is shut to their context; they come back when it opens.
    fn park_gated(&self) {
        let mut index = 0;
        loop {
            let place = match self.ready.borrow().get(index) {
                None => return,
                Some(event) if passes(event) => None,
                Some(event) => self.place(event),
            };
            match place {
                Some((context, section)) if !self.lets_in(&context, section, index) => {
                    let event = self.ready.borrow_mut().remove(index);
                    let by_section = context.section.get() != self.running_section(section);
                    // Fact: 33. On the older build a timer from before a section, due inside it, blocks the timers of
                    // the section. [R26:G6, R11:G6]
                    let is_jam = self.jams_timers && by_section && matches!(event.what, What::Timer(..));
                    if is_jam && !context.timers_jammed.replace(true) {
                        platform_event!("timers.jammed", context.label);
                    }
                    context.blocked.borrow_mut().push_back(event);
                }
                _ => index += 1,
            }
        }
    }

    fn lets_in(&self, context: &IoContext, section: SectionId, index: usize) -> bool {
        let jammed = context.timers_jammed.get() && matches!(self.ready.borrow()[index].what, What::Timer(..));
        // Fact: 27. Handlers of one object interleave only where one awaits something other than storage. [R:G1,
        // R:G2]
        // Fact: 209. At every await of other I/O any event may come in, at one of storage none. [facts 27, 28, 29]
        context.storage_waits.get() == 0 && context.section.get() == self.running_section(section) && !jammed
    }

    /// True when an event from outside may not come in, a section that was called but has not started included.
    pub fn is_shut(&self, context: &IoContext, section: SectionId) -> bool {
        context.storage_waits.get() > 0
            || context.section.get() != self.running_section(section)
            || !context.sections_waiting.borrow().is_empty()
    }

    fn place(&self, event: &Event) -> Option<(Rc<IoContext>, SectionId)> {
        match &event.what {
            What::Letter(letter) => letter.context(self),
            _ => event.place.clone(),
        }
    }

    /// The gate of a context may have opened: what waited there is looked at again, in the order in which it came.
    pub(in crate::js) fn unblock(&self, context: &IoContext) {
        let waiting = std::mem::take(&mut *context.blocked.borrow_mut());
        waiting.into_iter().for_each(|event| self.make_ready(event));
    }

    fn make_ready(&self, event: Box<Event>) {
        let mut ready = self.ready.borrow_mut();
        let before = |other: &Event| (other.due_ms, &other.lane, other.seq) < (event.due_ms, &event.lane, event.seq);
        let at = ready.partition_point(|other| before(other));
        ready.insert(at, event);
    }
}

fn passes(event: &Event) -> bool {
    event.bypass || matches!(&event.what, What::Letter(letter) if letter.passes_gates())
}
