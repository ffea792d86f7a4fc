//! When a client opens a stream again, and when it stops trying: what became of each GET in, the next thing to do out.

use super::{Forgets, Growth, Persona, Reconnect, Retry, Verdict};

/// How an open stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The server ended the body.
    Clean,
    /// The connection was lost, or nothing came for too long.
    Aborted,
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another GET after this time.
    Wait {
        /// Milliseconds.
        ms: u64,
        /// Up to so many more are drawn.
        jitter_ms: u64,
    },
    /// None; why.
    GaveUp(&'static str),
    /// None, and the client ends; why.
    EndsClient(&'static str),
}

/// The GETs for one stream, one after the other.
#[derive(Debug)]
pub struct Knocks {
    rules: &'static Reconnect,
    failures: u32,
    was_opened: bool,
    has_id: bool,
    /// `retry:` in ms.
    hint_ms: Option<u64>,
    /// It has not been used since it came.
    is_hint_fresh: bool,
    /// The last event id at the end of the stream before, and how many streams in a row ended at it.
    last_id: Option<String>,
    stuck: u32,
}

impl Knocks {
    /// Those of a client's listener, before the first of them.
    pub fn of_listener(persona: &'static Persona) -> Knocks {
        Knocks::new(&persona.listener, false)
    }

    /// Those for what a call lost, whose own stream ended first, with the `retry:` that had come by then.
    pub fn after_call(rules: &'static Reconnect, ended: Ended, hint_ms: Option<u64>) -> (Knocks, Next) {
        let mut knocks = Knocks::new(rules, true);
        knocks.has_id = true;
        if let Some(ms) = hint_ms {
            knocks.hint(ms);
        }
        let next = knocks.wait(Some(ended));
        (knocks, next)
    }

    fn new(rules: &'static Reconnect, was_opened: bool) -> Knocks {
        Knocks {
            rules,
            failures: 0,
            was_opened,
            has_id: false,
            hint_ms: None,
            is_hint_fresh: false,
            last_id: None,
            stuck: 0,
        }
    }

    /// The server said `retry:`.
    pub fn hint(&mut self, ms: u64) {
        self.hint_ms = Some(ms);
        self.is_hint_fresh = true;
    }

    /// A GET became a stream.
    pub fn opened(&mut self) {
        self.was_opened = true;
        if self.rules.forgets == Forgets::AtHead {
            self.failures = 0;
        }
    }

    /// A stream ended, and this was the last event id that the client then had.
    pub fn ended(&mut self, ended: Ended, last_id: Option<&str>) -> Next {
        let is_stuck = self.last_id.as_deref() == last_id;
        self.stuck = if is_stuck { self.stuck + 1 } else { 0 };
        self.last_id = last_id.map(str::to_owned);
        self.has_id |= last_id.is_some();
        if self.rules.no_progress_max.is_some_and(|most| self.stuck > most) {
            return Next::EndsClient("no progress");
        }
        let rules = self.rules;
        let is_new_id = last_id.is_some() && !is_stuck;
        if rules.forgets == Forgets::AtId && is_new_id || rules.forgets == Forgets::AtCleanEnd && ended == Ended::Clean
        {
            self.failures = 0;
        }
        let counts = match ended {
            Ended::Clean => rules.counts_ends_without_id && !self.has_id,
            Ended::Aborted => rules.counts_aborts,
        };
        if counts { self.failed(Some(ended), "the stream kept ending") } else { self.wait(Some(ended)) }
    }

    /// A GET was refused with that status, or nobody answered.
    pub fn refused(&mut self, status: Option<u16>) -> Next {
        let verdicts = if self.was_opened { &self.rules.later } else { &self.rules.first };
        match verdicts.of(status) {
            Verdict::Counts => self.failed(None, "it was refused too often"),
            Verdict::GivesUp if self.was_opened => Next::GaveUp("it was refused"),
            Verdict::GivesUp => Next::GaveUp("the first was refused"),
            Verdict::EndsClient => Next::EndsClient("a stream was refused"),
        }
    }

    fn failed(&mut self, ended: Option<Ended>, why: &'static str) -> Next {
        self.failures += 1;
        if self.rules.failures_max.is_some_and(|most| self.failures >= most) {
            return match self.rules.after_last {
                Verdict::EndsClient => Next::EndsClient(why),
                _ => Next::GaveUp(why),
            };
        }
        self.wait(ended)
    }

    /// The wait after an end, or after a refusal.
    fn wait(&mut self, ended: Option<Ended>) -> Next {
        let rules = self.rules;
        if ended == Some(Ended::Aborted) && rules.abort_at_once {
            return Next::Wait { ms: 0, jitter_ms: 0 };
        }
        let grown_ms = rules.grown_ms(self.failures);
        let told_ms = match rules.retry {
            Retry::Everywhere | Retry::Stream => self.hint_ms,
            Retry::Ends => self.hint_ms.filter(|_| ended.is_some()),
            Retry::CleanEnds => self.hint_ms.filter(|_| ended == Some(Ended::Clean)),
            Retry::Once if ended == Some(Ended::Clean) && std::mem::take(&mut self.is_hint_fresh) => self.hint_ms,
            Retry::Once => self.hint_ms.map(|ms| ms.max(grown_ms)),
        };
        match told_ms {
            Some(ms) => Next::Wait { ms, jitter_ms: 0 },
            None => Next::Wait { ms: grown_ms, jitter_ms: if rules.jitter { grown_ms } else { 0 } },
        }
    }
}

impl Reconnect {
    /// The wait after so many failures in a row, in ms.
    fn grown_ms(&self, failures: u32) -> u64 {
        let grown = match self.growth {
            Growth::Not => self.base_ms,
            Growth::Linear => self.base_ms.saturating_mul(u64::from(failures.max(1))),
            Growth::By(by, of) => {
                let is_small = |ms: &u64| *ms < self.cap_ms;
                let mut ms = self.base_ms;
                for _ in 0..failures {
                    ms = Some(ms).filter(is_small).map_or(self.cap_ms, |ms| ms.saturating_mul(by) / of);
                }
                ms
            }
        };
        grown.min(self.cap_ms)
    }
}
