//! What becomes of a connection whose handler fails although nobody waits for it.

use super::script::Rule;
use super::world::{Setup, play};
use crate::defect::Defect;
use crate::platform::JsError;

/// What a listener hears whose GET cannot list what is undelivered.
fn heard(defects: Vec<Defect>) -> Vec<String> {
    let rules = vec![Rule::fail("get · storage.list undelivered", JsError::code_updated())];
    let played = play(Setup { rules, defects, ..Setup::default() }, |world| async move {
        world.open(100).await;
        world.listen("listener", 1_000).await;
    });
    played.log.into_iter().filter(|line| line.starts_with("listener")).collect()
}

#[test]
fn a_listener_whose_handler_fails_is_closed_and_as_described_left_in_silence() {
    assert_eq!(heard(Vec::new()), ["listener Close(1011, \"Uncaught exception during session setup\")"]);
    assert_eq!(heard(vec![Defect::FailedHandlerUnanswered]), Vec::<String>::new());
}
