//! A client while its steps are drawn, one after the other.

use super::REQUEST_TIMEOUT_MS;
use crate::plan::{Action, ClientPlan, Elicitation, Step};
use crate::rng::Rng;

/// A client while its steps are drawn, with the time at which the next one begins.
pub struct ClientDraft {
    pub(super) plan: ClientPlan,
    at_ms: u64,
    busy_ms: u64,
}

impl ClientDraft {
    /// The client of that number, whose sessions are `s<number>`, with an account of its own; it begins at `at_ms`.
    pub fn new(number: u64, at_ms: u64) -> ClientDraft {
        let plan = ClientPlan {
            name: format!("s{number}"),
            account: format!("account-{number}"),
            organization: format!("organization-{number}"),
            elicitation: Elicitation::Model,
            reopen_stream: false,
            persona: None,
            request_timeout_ms: REQUEST_TIMEOUT_MS,
            steps: Vec::new(),
        };
        ClientDraft { plan, at_ms, busy_ms: 0 }
    }

    /// It authenticates as the account of the client of that number.
    pub fn as_account_of(mut self, number: u64) -> ClientDraft {
        self.plan.account = format!("account-{number}");
        self.plan.organization = format!("organization-{number}");
        self
    }

    /// It opens its stream again whenever the server ends it.
    pub fn reopening(mut self, reopen: bool) -> ClientDraft {
        self.plan.reopen_stream = reopen;
        self
    }

    /// It waits that long for an answer, in ms.
    pub fn patient(mut self, ms: u64) -> ClientDraft {
        self.plan.request_timeout_ms = ms;
        self
    }

    /// Its name, and the alias of its first session.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// When its next step begins, in ms since the start.
    pub fn now_ms(&self) -> u64 {
        self.at_ms
    }

    /// The longest that code of its calls waits, in ms.
    pub fn busy_ms(&self) -> u64 {
        self.busy_ms
    }

    /// Nothing for so long, in ms.
    pub fn rest(&mut self, ms: u64) {
        self.at_ms += ms;
    }

    /// The next step begins at this time, or at once if it has passed.
    pub fn until(&mut self, at_ms: u64) {
        self.at_ms = self.at_ms.max(at_ms);
    }

    /// Does this.
    pub fn act(&mut self, action: Action) {
        self.plan.steps.push(Step { at_ms: self.at_ms, action });
    }

    /// Opens its session.
    pub fn open(&mut self) {
        self.act(Action::Open {});
    }

    /// Opens its standalone stream.
    pub fn stream(&mut self) {
        self.act(Action::Stream {});
    }

    /// Ends its session.
    pub fn close(&mut self) {
        self.act(Action::Close {});
    }

    /// Pings.
    pub fn ping(&mut self) {
        self.act(Action::Ping {});
    }

    /// A text that names this client and its next step, so that a foreign answer cannot pass for it.
    pub fn mark(&self, rng: &mut Rng) -> String {
        format!("{}-{}-{:08x}", self.plan.name, self.plan.steps.len(), rng.below(1 << 32))
    }

    /// Calls code that waits so long, in ms, and returns a mark.
    pub fn call(&mut self, rng: &mut Rng, wait_ms: u64) {
        let mark = self.mark(rng);
        self.call_marked(&mark, rng, wait_ms, false);
    }

    /// The same, and the next step does not wait for the answer.
    pub fn call_beside(&mut self, rng: &mut Rng, wait_ms: u64) {
        let mark = self.mark(rng);
        self.call_marked(&mark, rng, wait_ms, true);
    }

    /// A call whose code returns, shows or fails with that mark; with `overlap` the next step does not wait for it.
    pub fn call_marked(&mut self, mark: &str, rng: &mut Rng, wait_ms: u64, overlap: bool) {
        let wait = if wait_ms > 0 { format!("wait {wait_ms}; ") } else { String::new() };
        self.busy_ms = self.busy_ms.max(wait_ms);
        let code = match rng.below(8) {
            0..=4 => format!("{wait}return \"{mark}\""),
            5 => format!("{wait}return {{\"mark\":\"{mark}\",\"n\":{}}}", rng.below(100)),
            6 => format!("emit \"{mark}\"; {wait}return \"{mark}\""),
            _ => format!("{wait}fail \"{mark}\""),
        };
        self.act(Action::Call { code, overlap });
    }

    /// Calls code that asks a person, and returns a mark once it is answered.
    pub fn ask(&mut self, rng: &mut Rng) {
        let mark = self.mark(rng);
        let code = format!("ask {{\"kind\":\"form\",\"message\":\"{mark}\"}}; return \"{mark}\"");
        self.act(Action::Call { code, overlap: false });
    }
}
