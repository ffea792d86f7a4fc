//! What an engine keeps of its executions: the pauses of each run in a queue, and what became of pauses that are over.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use super::{ExecuteResult, Outcome};
use crate::config::{SETTLED_IDS_MAX, SETTLED_OUTCOMES_MAX};
use crate::fx::Fiber;
use crate::js::{Promise, timer};
use crate::operation::Operation;
use crate::platform::{JsError, operate};
use crate::session::interaction::{Interaction, Response};

/// A point at which running code waits for a person.
pub struct Pause {
    /// `exec_<uuid>`, unique for ever.
    pub id: Arc<str>,
    /// What the person is asked.
    pub interaction: Interaction,
    pub(super) response: Promise<Response>,
}

impl Pause {
    /// A pause that waits for its response.
    pub(crate) fn new(id: Arc<str>, interaction: Interaction) -> Rc<Self> {
        Rc::new(Pause { id, interaction, response: Promise::new() })
    }
}

/// One run of code: how it ends, and its pauses that nobody has looked at yet.
#[derive(Default)]
pub(super) struct Run {
    pub completion: Promise<Result<ExecuteResult, JsError>>,
    /// Interrupted by a shutdown only.
    pub fiber: Fiber,
    pub pauses: PauseQueue,
}

impl Run {
    /// Completion against the next pause, started together; the loser is interrupted at once. Completion wins a tie.
    pub async fn race(&self, operation: &'static Operation) -> Result<Outcome, JsError> {
        operate::begin(operation).await?;
        let taken = self.pauses.take();
        let (mut completed, mut paused) = (pin!(self.completion.wait_hops(0)), pin!(taken.wait_hops(0)));
        let outcome = poll_fn(|cx| {
            if let Poll::Ready(completed) = completed.as_mut().poll(cx) {
                return Poll::Ready(completed.map(Outcome::Completed));
            }
            paused.as_mut().poll(cx).map(|pause| Ok(Outcome::Paused(pause)))
        })
        .await;
        self.pauses.leave();
        operate::end(operation).await?;
        outcome
    }
}

/// The queue of a run's pauses. One race at a time takes from it.
#[derive(Default)]
pub(super) struct PauseQueue(Rc<Queue>);

#[derive(Default)]
struct Queue {
    waiting: RefCell<VecDeque<Rc<Pause>>>,
    taker: RefCell<Option<Promise<Rc<Pause>>>>,
}

impl PauseQueue {
    /// Adds a pause. Whoever waits for one is woken through the dispatcher, on a later turn.
    pub fn offer(&self, pause: Rc<Pause>) {
        self.0.waiting.borrow_mut().push_back(pause);
        if self.0.taker.borrow().is_none() {
            return;
        }
        let queue = Rc::clone(&self.0);
        drop(crate::js::call(async move {
            timer(0).wait_hops(0).await;
            queue.wake();
        }));
    }

    /// The next pause: there at once if one waits.
    pub fn take(&self) -> Promise<Rc<Pause>> {
        if let Some(pause) = self.0.waiting.borrow_mut().pop_front() {
            return Promise::settled(pause);
        }
        let taken = Promise::new();
        *self.0.taker.borrow_mut() = Some(taken.clone());
        taken
    }

    /// Nobody waits any more: the race was won by the completion.
    pub fn leave(&self) {
        *self.0.taker.borrow_mut() = None;
    }
}

impl Queue {
    fn wake(&self) {
        let taker = self.taker.borrow_mut().take();
        let Some(taker) = taker else { return };
        let pause = self.waiting.borrow_mut().pop_front();
        match pause {
            Some(pause) => taker.settle(pause),
            None => *self.taker.borrow_mut() = Some(taker),
        }
    }
}

/// What became of a pause.
type Known = Result<Outcome, JsError>;

/// Pauses that are over: the last outcomes for replay, and the last ids, both first-in first-out.
#[derive(Default)]
pub(super) struct Settled {
    outcomes: RefCell<VecDeque<(Arc<str>, Known)>>,
    ids: RefCell<VecDeque<Arc<str>>>,
}

impl Settled {
    /// Records what became of a pause; a later record of the same id replaces the first in its place.
    pub fn record(&self, id: &Arc<str>, outcome: Known) {
        let mut outcomes = self.outcomes.borrow_mut();
        match outcomes.iter_mut().find(|(known, _)| known == id) {
            Some((_, known)) => *known = outcome,
            None => outcomes.push_back((Arc::clone(id), outcome)),
        }
        if outcomes.len() > SETTLED_OUTCOMES_MAX {
            outcomes.pop_front();
        }
        let mut ids = self.ids.borrow_mut();
        if !ids.contains(id) {
            ids.push_back(Arc::clone(id));
        }
        if ids.len() > SETTLED_IDS_MAX {
            ids.pop_front();
        }
    }

    /// The outcome, while it is kept.
    pub fn outcome(&self, id: &str) -> Option<Known> {
        self.outcomes.borrow().iter().find(|(known, _)| **known == *id).map(|(_, outcome)| outcome.clone())
    }

    /// Whether the pause is known to be over.
    pub fn has(&self, id: &str) -> bool {
        self.ids.borrow().iter().any(|known| **known == *id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn completed(value: usize) -> Result<Outcome, JsError> {
        Ok(Outcome::Completed(ExecuteResult { outcome: Ok(json!(value)), emitted: Vec::new() }))
    }

    fn id(number: usize) -> Arc<str> {
        format!("exec_{number}").into()
    }

    #[test]
    fn the_oldest_outcomes_are_dropped_first_and_ids_are_remembered_longer() {
        let settled = Settled::default();
        (0..1_030).for_each(|number| settled.record(&id(number), completed(number)));
        let kept = |number| settled.outcome(&id(number)).is_some();
        assert_eq!((kept(965), kept(966), kept(1_029)), (false, true, true));
        assert_eq!((settled.has("exec_5"), settled.has("exec_6"), settled.has("exec_1029")), (false, true, true));
    }

    #[test]
    fn a_second_record_of_an_id_replaces_the_first() {
        let settled = Settled::default();
        settled.record(&id(1), completed(1));
        settled.record(&id(1), completed(2));
        let Some(Ok(Outcome::Completed(result))) = settled.outcome("exec_1") else { panic!("an outcome is kept") };
        assert_eq!(result.outcome, Ok(json!(2)));
    }
}
