//! Steps of a client around code that asks a person, and the tokens that it presents.

use super::ClientDraft;
use crate::plan::{Action, Elicitation, Response, Token};
use crate::rng::Rng;

impl ClientDraft {
    /// Its people are asked in the browser, and not by the model.
    pub fn in_browser(mut self, browser: bool) -> ClientDraft {
        self.plan.elicitation = if browser { Elicitation::Browser } else { Elicitation::Model };
        self
    }

    /// Whether its people are asked in the browser.
    pub fn asks_in_browser(&self) -> bool {
        self.plan.elicitation == Elicitation::Browser
    }

    /// Calls code that asks so many questions, waits up to 300 ms here and there, and returns a mark or the last answer.
    pub fn ask_often(&mut self, rng: &mut Rng, questions: u64) {
        let mark = self.mark(rng);
        let mut code = String::new();
        for number in 1..=questions {
            if rng.chance(1, 3) {
                code += &format!("wait {}; ", rng.below(300));
            }
            code += &format!("ask {{\"kind\":\"form\",\"message\":\"{mark}-{number}\"}}; ");
        }
        let last = if rng.chance(1, 3) { "answer".to_owned() } else { format!("\"{mark}\"") };
        self.act(Action::Call { code: format!("{code}return {last}"), overlap: false });
    }

    /// Takes up what itself, or the client of that name, was told waits for a person.
    pub fn resume(&mut self, response: Response, of: Option<&str>) {
        self.act(Action::Resume { response, of: of.map(str::to_owned), overlap: false });
    }

    /// The same, and the next step does not wait for the answer.
    pub fn resume_beside(&mut self, response: Response, of: Option<&str>) {
        self.act(Action::Resume { response, of: of.map(str::to_owned), overlap: true });
    }

    /// A person decides in the console about what itself, or the client of that name, was told.
    pub fn decide(&mut self, response: Response, of: Option<&str>) {
        self.act(Action::Decide { response, of: of.map(str::to_owned) });
    }

    /// It presents this token from now on.
    pub fn present(&mut self, token: Token) {
        self.act(Action::Present { token });
    }
}

/// What a person may say: mostly yes.
pub fn response(rng: &mut Rng) -> Response {
    *rng.pick_weighted(&[(4, Response::Accept), (2, Response::Decline), (1, Response::Cancel)])
}
