//! Which event comes next: among those that are due and whose gate is open.

use std::cmp::Reverse;
use std::rc::Rc;

use super::{Event, EventLoop, Lane, What};
use crate::js::context::{IoContext, SectionId};
use crate::rt;

impl EventLoop {
    /// The next event, or none while nothing is due.
    ///
    /// Earlier due times go first. Where several lanes meet in one millisecond, each draws a priority from its own
    /// name and the highest goes first; without a draw the order is that of their names.
    pub(super) fn pick(&self) -> Option<Event> {
        if let Some(event) = self.urgent.borrow_mut().pop_front() {
            return Some(event);
        }
        if let Some(event) = self.next_section() {
            return Some(event);
        }
        self.collect_due();
        self.park_gated();
        let mut ready = self.ready.borrow_mut();
        let earliest = ready.iter().map(|event| event.due_ms).min()?;
        let mut heads: Vec<(usize, u64)> = Vec::new();
        for (index, event) in ready.iter().enumerate() {
            if event.due_ms != earliest {
                continue;
            }
            match heads.iter_mut().find(|(head, _)| ready[*head].lane == event.lane) {
                Some(head) if ready[head.0].seq > event.seq => *head = (index, event.seq),
                Some(_) => {}
                None => heads.push((index, event.seq)),
            }
        }
        let chosen = if heads.len() == 1 { heads[0].0 } else { self.contest(&ready, &heads) };
        Some(ready.swap_remove(chosen))
    }

    fn contest(&self, ready: &[Event], heads: &[(usize, u64)]) -> usize {
        const PRIORITIES: u64 = 1 << 32;
        let mut best: Option<(u64, Reverse<&Lane>, usize)> = None;
        for &(index, _) in heads {
            let event = &ready[index];
            let priority = match (&event.lane, self.place(event)) {
                (Lane::Named { who, what, .. }, _) => rt::decide(who, &format!("order.{what}"), PRIORITIES),
                (Lane::Local(_), Some((context, _))) => rt::decide(&context.label, "order.own", PRIORITIES),
                (Lane::Local(_), None) => 0,
            };
            let candidate = (priority, Reverse(&event.lane), index);
            if best.is_none_or(|best| candidate > best) {
                best = Some(candidate);
            }
        }
        best.map_or(0, |(_, _, index)| index)
    }

    fn collect_due(&self) {
        let now_ms = rt::now_ms().max(self.now_ms());
        let mut events = self.events.borrow_mut();
        let mut ready = self.ready.borrow_mut();
        while events.peek().is_some_and(|event| event.due_ms <= now_ms) {
            let Some(event) = events.pop() else { break };
            if !matches!(&event.what, What::Timer(_, cleared, _) if cleared.get()) {
                ready.push(event);
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
                    if self.jams_timers && by_section && matches!(event.what, What::Timer(..)) {
                        context.timers_jammed.set(true);
                    }
                    context.blocked.borrow_mut().push_back(event);
                }
                _ => index += 1,
            }
        }
    }

    fn lets_in(&self, context: &IoContext, section: SectionId, index: usize) -> bool {
        let jammed = context.timers_jammed.get() && matches!(self.ready.borrow()[index].what, What::Timer(..));
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
        self.ready.borrow_mut().extend(waiting);
    }
}

fn passes(event: &Event) -> bool {
    event.bypass || matches!(&event.what, What::Letter(letter) if letter.passes_gates())
}
