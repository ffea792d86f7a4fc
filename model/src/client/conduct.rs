//! One request of a client with a persona, with all that it makes of an answer that is not the one it wants.

use std::rc::Rc;

use super::bare::Client;
use super::exchange::{Exchange, Posted};
use super::follow::Lost;
use super::listen::ended;
use super::persona::{Fate, Persona, Reaction, Renewal};
use super::reading::{Told, is_success};
use super::wire::Message;
use super::{Answer, Cut, Habit, Op, Outcome, RequestOutcome};
use crate::rt;

/// Statuses with which even a client that hangs on foreign ids tells its caller.
const ALWAYS_HEARD: [u16; 4] = [401, 403, 404, 429];

impl Client {
    /// Sends a request and gives what its caller gets in the end.
    pub(super) async fn conduct(
        self: &Rc<Self>,
        persona: &'static Persona,
        op: Op,
        message: &Message,
        cut: Option<Cut>,
    ) -> RequestOutcome {
        if let Some(why) = self.why_unusable() {
            return self.skip(op, why);
        }
        let (session, deadline_ms) = (self.session(), self.patience_ends_ms());
        let first = self.exchange(Exchange { op, message: Some(message), cut, of: None, deadline_ms }).await;
        let Some(renewal) = renewal_of(persona, &first) else {
            return self.settle(persona, message, first, deadline_ms).await;
        };
        let is_renewed = self.renew(persona, renewal, session.as_deref()).await;
        if !is_renewed || !renewal.resends {
            return first.outcome;
        }
        let deadline_ms = self.patience_ends_ms();
        let again = Exchange { op, message: Some(message), cut: None, of: Some(first.request), deadline_ms };
        let again = self.exchange(again).await;
        // Once: whatever it is now is for the caller.
        if renewal_of(persona, &again).is_some() {
            return again.outcome;
        }
        self.settle(persona, message, again, deadline_ms).await
    }

    async fn settle(
        self: &Rc<Self>,
        persona: &'static Persona,
        message: &Message,
        posted: Posted,
        deadline_ms: u64,
    ) -> RequestOutcome {
        let status = posted.outcome.status;
        if self.is_unusable() && !matches!(posted.outcome.outcome, Outcome::Answered(_)) {
            // It ended beside this request, whose caller is told so.
            return posted.outcome;
        }
        match &posted.outcome.outcome {
            Outcome::Answered(answer) => {
                if persona.call.after_error && matches!(answer, Answer::Error(_)) {
                    self.ask_for_more(persona, message, &posted);
                }
                posted.outcome
            }
            Outcome::GaveUp { .. } => self.give_up(persona, message, &posted),
            Outcome::Refused { .. } => self.refused(persona, message, posted, deadline_ms).await,
            Outcome::Ended | Outcome::Failed(_) | Outcome::Cut if status.is_some_and(is_success) => {
                self.cut_short(persona, message, posted, deadline_ms).await
            }
            Outcome::Ended | Outcome::Failed(_) | Outcome::Cut => {
                let (reaction, outcome) = (Self::reaction(persona, None, false), posted.outcome);
                self.react(persona, reaction, "a POST lost its connection").await;
                outcome
            }
        }
    }

    async fn refused(
        self: &Rc<Self>,
        persona: &'static Persona,
        message: &Message,
        posted: Posted,
        deadline_ms: u64,
    ) -> RequestOutcome {
        let status = posted.outcome.status.unwrap_or(0);
        let is_unheard = posted.told == Told::Foreign && !ALWAYS_HEARD.contains(&status);
        if persona.post.foreign_id_hangs && is_unheard {
            return self.hang(persona, message, &posted, deadline_ms, "an error that does not name it").await;
        }
        let reaction = Self::reaction(persona, Some(status), posted.told != Told::Nothing);
        self.react(persona, reaction, "a POST was refused").await;
        posted.outcome
    }

    async fn react(self: &Rc<Self>, persona: &'static Persona, reaction: Reaction, why: &'static str) {
        match reaction {
            Reaction::EndsClient => self.end_client(persona, why).await,
            Reaction::Breaks => self.break_client(why),
            Reaction::Error | Reaction::Renews(_) => {}
        }
    }

    /// The stream of a call ended before its answer.
    async fn cut_short(
        self: &Rc<Self>,
        persona: &'static Persona,
        message: &Message,
        posted: Posted,
        deadline_ms: u64,
    ) -> RequestOutcome {
        let fate = match (&persona.call.reconnect, self.lost(message, &posted)) {
            (Some(rules), Some(lost)) => match self.follow(persona, rules, lost, deadline_ms).await {
                Some(Ok(answer)) => return RequestOutcome { status: Some(200), outcome: Outcome::Answered(answer) },
                Some(Err(fate)) => fate,
                None => return self.give_up(persona, message, &posted),
            },
            (Some(_), None) => persona.call.without_id,
            (None, _) => persona.call.given_up,
        };
        match fate {
            Fate::Hangs => self.hang(persona, message, &posted, deadline_ms, "nothing can bring its answer").await,
            Fate::Error => posted.outcome,
            Fate::EndsClient => {
                self.end_client(persona, "a call could not be resumed").await;
                posted.outcome
            }
        }
    }

    /// What can be asked for of a call whose stream ended, in the session that it was sent in.
    fn lost(&self, message: &Message, posted: &Posted) -> Option<Lost> {
        let cursor = posted.cursor.clone()?;
        let ended = ended(&posted.outcome.outcome);
        let (session, ids) = (posted.session.clone()?, message.ids.clone());
        Some(Lost { session, ids, cursor, request: posted.request, ended, hint_ms: posted.hint_ms })
    }

    /// An error answer leaves a client that looks for results only asking for its stream.
    fn ask_for_more(self: &Rc<Self>, persona: &'static Persona, message: &Message, posted: &Posted) {
        if let (Some(rules), Some(lost)) = (&persona.call.reconnect, self.lost(message, posted)) {
            self.follow_alone(persona, rules, lost);
        }
    }

    /// No answer can come any more, and the caller is not told: it waits until its time-out, or its person's patience, ends.
    async fn hang(
        self: &Rc<Self>,
        persona: &'static Persona,
        message: &Message,
        posted: &Posted,
        deadline_ms: u64,
        why: &'static str,
    ) -> RequestOutcome {
        let ends = persona.request_timeout_ms.is_some();
        self.observer.habit(&self.config.label, Habit::Hung { request: posted.request, ends, why });
        rt::sleep_until_ms(deadline_ms).await;
        self.give_up(persona, message, posted)
    }

    /// The request is given up; most clients tell the server so, and wait for nothing.
    fn give_up(self: &Rc<Self>, persona: &'static Persona, message: &Message, posted: &Posted) -> RequestOutcome {
        if let Some(id) = message.ids.first().filter(|_| persona.cancels && self.why_unusable().is_none()) {
            let (client, message, of) = (Rc::clone(self), Message::cancelled(id), Some(posted.request));
            rt::spawn("client.cancel", async move {
                let deadline_ms = client.patience_ends_ms();
                let cancel = Exchange { op: Op::Cancel, message: Some(&message), cut: None, of, deadline_ms };
                client.exchange(cancel).await;
            });
        }
        let status = posted.outcome.status;
        RequestOutcome { status, outcome: Outcome::GaveUp { waiting_for: "answer" } }
    }
}

/// The session that a refusal makes its client open, if it does.
fn renewal_of(persona: &Persona, posted: &Posted) -> Option<Renewal> {
    let is_refused = matches!(posted.outcome.outcome, Outcome::Refused { .. });
    let status = posted.outcome.status.filter(|_| is_refused)?;
    match Client::reaction(persona, Some(status), posted.told != Told::Nothing) {
        Reaction::Renews(renewal) => Some(renewal),
        _ => None,
    }
}
