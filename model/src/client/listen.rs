//! The listener of a client with a persona: opened by itself, and opened again as the persona does.

use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use super::bare::Client;
use super::persona::{Ended, Knocks, Next};
use super::stream::Listener;
use super::{Habit, Op, Outcome};
use crate::rt;

impl Client {
    /// Opens the GET of the session that the client has now, in the background. It has begun when this returns.
    pub(super) async fn start_listening(self: &Rc<Self>) {
        let listener = Listener::new(self.listeners.borrow().len(), self.session());
        self.listeners.borrow_mut().push(Rc::clone(&listener));
        let mut listening = Box::pin(Rc::clone(self).listen(listener));
        let is_over = std::future::poll_fn(|cx| Poll::Ready(listening.as_mut().poll(cx).is_ready())).await;
        if !is_over {
            rt::spawn("client.listen", listening);
        }
    }

    async fn listen(self: Rc<Self>, listener: Rc<Listener>) {
        let Some(persona) = self.config.persona else { return };
        let mut knocks = Knocks::of_listener(persona);
        loop {
            let opened = self.open_stream(&listener).await;
            let next = match opened {
                Ok(None) => return,
                Ok(Some(held)) => {
                    knocks.opened();
                    if !persona.keeps_cursor {
                        listener.cursor.take();
                    }
                    let Some(outcome) = self.drain(&listener, held).await else { return };
                    self.hint(&mut knocks, &listener);
                    knocks.ended(ended(&outcome), listener.cursor.borrow().as_deref())
                }
                Err(refused) => {
                    self.hint(&mut knocks, &listener);
                    knocks.refused(refused.status)
                }
            };
            if listener.is_over() {
                return;
            }
            match next {
                Next::Wait { ms, jitter_ms } => rt::sleep_ms(ms + self.draw_jitter(jitter_ms)).await,
                Next::GaveUp(why) => {
                    return self.observer.habit(&self.config.label, Habit::GaveUp { op: Op::Stream, why });
                }
                Next::EndsClient(why) => return self.end_client(persona, why).await,
            }
            if listener.is_over() {
                return;
            }
        }
    }

    fn hint(&self, knocks: &mut Knocks, listener: &Listener) {
        let hint_ms = self.shared_hint().map_or_else(|| listener.retry_ms.take(), std::cell::Cell::get);
        if let Some(ms) = hint_ms {
            knocks.hint(ms);
        }
    }

    /// A random time of up to so many ms, drawn by name.
    pub(super) fn draw_jitter(&self, most_ms: u64) -> u64 {
        if most_ms == 0 { 0 } else { rt::decide(&self.config.label, "client.jitter", most_ms + 1) }
    }
}

/// How a body ended that is no answer.
pub(super) fn ended(outcome: &Outcome) -> Ended {
    if *outcome == Outcome::Ended { Ended::Clean } else { Ended::Aborted }
}
