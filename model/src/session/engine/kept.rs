//! Pauses that an engine's own store kept beyond the runtime they began in.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::pauses::Run;
use super::{Engine, Pause, code, pause_here};
use crate::config::KeptPause;
use crate::js::call;
use crate::platform::{JsError, LocalFuture};
use crate::session::interaction::{Interaction, Response};

/// How code begins that waits for the response to a question which was put in another runtime.
const QUESTION: &str = r#"ask {"kind":"form","message":"kept"}"#;

/// A pause that began in another runtime; of its question only that it was one is known here.
fn paused(id: Arc<str>) -> Rc<Pause> {
    let question = QUESTION.strip_prefix("ask ").and_then(|text| serde_json::from_str(text).ok());
    let interaction = question.as_ref().and_then(Interaction::from_json);
    Pause::new(id, interaction.expect("the question is one"))
}

impl Engine {
    /// Lets what its store has kept wait here again.
    pub(super) fn take_up_kept_pauses(self: &Rc<Self>) {
        let waits = |kept: &&KeptPause| kept.session == self.who && !kept.is_over.load(Ordering::Relaxed);
        for kept in self.config.kept_pauses.iter().filter(waits) {
            let (pause, run) = (paused(Arc::clone(&kept.execution)), Rc::new(Run::default()));
            self.paused.borrow_mut().insert(Arc::clone(&pause.id), (Rc::clone(&pause), Rc::clone(&run)));
            state_event!("execution.kept", self.who, execution = &*pause.id, engine = self.number);
            let (engine, code) = (Rc::clone(self), format!("{}; {}", QUESTION, kept.code));
            let is_over = Arc::clone(&kept.is_over);
            drop(call(async move {
                let asked = Cell::new(false);
                let ended = code::run(&code, |interaction| -> LocalFuture<Result<Option<Response>, JsError>> {
                    if asked.replace(true) {
                        let (engine, run) = (Rc::clone(&engine), Rc::clone(&run));
                        return Box::pin(async move { pause_here(&engine, &run, interaction).await });
                    }
                    let (response, is_over) = (pause.response.clone(), Arc::clone(&is_over));
                    Box::pin(async move {
                        let response = response.wait_hops(0).await;
                        is_over.store(true, Ordering::Relaxed);
                        Ok(Some(response))
                    })
                });
                run.completion.settle(ended.await);
            }));
        }
    }
}
