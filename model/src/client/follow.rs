//! How a client with a persona gets what a call's stream did not bring: GETs after its last event id, one after the other.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use tokio::sync::Notify;

use super::bare::Client;
use super::listen::ended;
use super::persona::{Ended, Fate, Knocks, Next, Persona, Reconnect};
use super::reading::{Progress, is_success};
use super::{Answer, Asked, Habit, Op, Outcome, RequestOutcome};
use crate::net::timer::with_deadline;
use crate::rt;

/// A call whose stream has ended.
pub(super) struct Lost {
    /// The session that it was made in.
    pub(super) session: String,
    /// JSON-RPC ids of its requests.
    pub(super) ids: Vec<String>,
    /// The last event id of its stream.
    pub(super) cursor: String,
    /// Its request.
    pub(super) request: u64,
    /// How its stream ended.
    pub(super) ended: Ended,
    /// The server's `retry:` in ms, if it came.
    pub(super) hint_ms: Option<u64>,
}

/// What the GETs came to: the answer, or what becomes of the call without it.
type Found = Result<Answer, Fate>;

/// Where the caller of a call waits for what the GETs come to.
#[derive(Default)]
struct Waiting {
    found: RefCell<Option<Found>>,
    came: Notify,
    /// The caller does not wait any more.
    is_over: Cell<bool>,
}

impl Waiting {
    fn take(&self, found: Found) {
        self.found.borrow_mut().get_or_insert(found);
        self.came.notify_one();
    }
}

impl Client {
    /// Asks until there is an answer, or no more GET follows. Nothing once the caller has waited long enough.
    pub(super) async fn follow(
        self: &Rc<Self>,
        persona: &'static Persona,
        rules: &'static Reconnect,
        lost: Lost,
        deadline_ms: u64,
    ) -> Option<Found> {
        let waiting = Rc::new(Waiting::default());
        rt::spawn("client.resume", Rc::clone(self).pursue(persona, rules, lost, Rc::clone(&waiting)));
        let found = async {
            loop {
                if let Some(found) = waiting.found.take() {
                    return found;
                }
                waiting.came.notified().await;
            }
        };
        let found = with_deadline(deadline_ms, found).await;
        if found.is_none() {
            waiting.is_over.set(true);
            self.habits.settled.notify_waiters();
        }
        found
    }

    /// The same for a call that has its answer, so that nobody waits.
    pub(super) fn follow_alone(self: &Rc<Self>, persona: &'static Persona, rules: &'static Reconnect, lost: Lost) {
        rt::spawn("client.resume", Rc::clone(self).pursue(persona, rules, lost, Rc::default()));
    }

    async fn pursue(
        self: Rc<Self>,
        persona: &'static Persona,
        rules: &'static Reconnect,
        lost: Lost,
        waiting: Rc<Waiting>,
    ) {
        let (mut knocks, mut next) = Knocks::after_call(rules, lost.ended, lost.hint_ms);
        let (cursor, hint_ms) = (RefCell::new(Some(lost.cursor.clone())), Cell::new(None));
        loop {
            match next {
                Next::Wait { ms, jitter_ms } => rt::sleep_ms(ms + self.draw_jitter(jitter_ms)).await,
                Next::GaveUp(why) => {
                    self.observer.habit(&self.config.label, Habit::GaveUp { op: Op::Recover, why });
                    return waiting.take(Err(persona.call.given_up));
                }
                Next::EndsClient(_) => return waiting.take(Err(Fate::EndsClient)),
            }
            if self.is_left(&lost, &waiting) {
                return waiting.take(Err(Fate::Error));
            }
            let got = self.ask_after(persona, &lost, (&cursor, &hint_ms), &waiting).await;
            let is_open = got.status.is_some_and(is_success);
            if is_open {
                knocks.opened();
            }
            let hint = self.shared_hint().map_or_else(|| hint_ms.take(), Cell::get);
            if let Some(ms) = hint {
                knocks.hint(ms);
            }
            next = match &got.outcome {
                Outcome::Answered(Answer::Error(_)) if persona.call.after_error => {
                    knocks.ended(Ended::Clean, cursor.borrow().as_deref())
                }
                Outcome::Answered(_) => return,
                outcome if is_open => knocks.ended(ended(outcome), cursor.borrow().as_deref()),
                _ => knocks.refused(got.status),
            };
        }
    }

    /// One GET; whoever waits gets the answer when it comes, before the body ends.
    async fn ask_after(
        self: &Rc<Self>,
        persona: &'static Persona,
        lost: &Lost,
        (cursor, hint_ms): (&RefCell<Option<String>>, &Cell<Option<u64>>),
        waiting: &Waiting,
    ) -> RequestOutcome {
        let label = &self.config.label;
        let sent = cursor.borrow().clone();
        let asked = Asked {
            op: Op::Recover,
            ids: &lost.ids,
            cursor: sent.as_deref(),
            of: Some(lost.request),
            session: Some(&lost.session),
            patience_ms: self.told_patience_ms(),
        };
        let request = self.observer.request_begin(label, &asked);
        let take = |answer: Answer| waiting.take(Ok(answer));
        let progress = Progress::new(label, &*self.observer, &self.noticed, request, None)
            .silent_after(self.silence_ms())
            .following(cursor, self.shared_hint().unwrap_or(hint_ms))
            .answering(&take);
        let lane = self.take_lane();
        let attached = || {
            if !persona.keeps_cursor {
                cursor.take();
            }
        };
        let talk = self.get_on(&lane.1, Some(&lost.session), (&lost.ids, sent.as_deref()), &progress, attached);
        let left = async {
            while !self.is_left(lost, waiting) {
                self.habits.settled.notified().await;
            }
        };
        let outcome = until(talk, left).await.unwrap_or(Outcome::Cut);
        self.habits.recovering.borrow_mut().remove(&lane.0);
        let outcome = RequestOutcome { status: progress.status.get(), outcome };
        self.observer.request_end(label, request, &outcome);
        outcome
    }

    /// Whether nobody asks any more: the caller waits no longer, or the client was closed or has another session.
    fn is_left(&self, lost: &Lost, waiting: &Waiting) -> bool {
        waiting.is_over.get() || self.session().as_deref() != Some(&*lost.session)
    }

    /// A name for one more connection, which none has that is open.
    fn take_lane(&self) -> (u32, String) {
        let mut taken = self.habits.recovering.borrow_mut();
        let mut number = 1;
        while !taken.insert(number) {
            number += 1;
        }
        (number, if number == 1 { "r".to_owned() } else { format!("r{number}") })
    }
}

/// What `future` gives, or nothing once `end` has come.
async fn until<T>(future: impl Future<Output = T>, end: impl Future<Output = ()>) -> Option<T> {
    let (mut future, mut end) = (std::pin::pin!(future), std::pin::pin!(end));
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => end.as_mut().poll(cx).map(|()| None),
    })
    .await
}
