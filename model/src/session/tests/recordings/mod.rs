//! The recorded tests of the real session class, replayed: what the class did in each of its own unit tests, after each
//! step, must be what the port does.
//!
//! A replay does to the port what the test did to the class: it calls the object's methods directly, in the object's
//! context, with storage filled by hand and writes, gates and interrupts through the scripted director. The described
//! defects are on, as the recorded class has them. [`readings`] says how the recordings are read, [`known`] which
//! differences remain and why; both are written into `model/RECORDINGS.md`.

use std::rc::Rc;

use serde_json::Value;

use super::world::{Setup, World, play};
use crate::platform::LocalFuture;

mod alarms;
mod cap;
mod compare;
mod init;
mod known;
mod meta;
mod readings;
mod registry;
mod restore;
mod seen;
mod stage;
pub(crate) mod start_body;
mod summary;

/// A recorded test, and how it is replayed.
struct Replay {
    test: &'static str,
    setup: Setup,
    story: Box<dyn FnOnce(Rc<World>) -> LocalFuture<()> + Send>,
}

fn replay<Fut: Future<Output = ()> + 'static>(
    test: &'static str,
    setup: Setup,
    story: impl FnOnce(Rc<World>) -> Fut + Send + 'static,
) -> Replay {
    Replay { test, setup, story: Box::new(move |world| Box::pin(story(world))) }
}

/// All of them, in the order of the recordings.
fn replays() -> Vec<Replay> {
    let groups = [meta::replays(), restore::replays(), init::replays(), alarms::replays(), cap::replays()];
    groups.into_iter().flatten().collect()
}

/// One row of the recordings.
#[derive(serde::Deserialize)]
struct Recording {
    test: String,
    events: Vec<Value>,
}

fn recordings() -> Vec<Recording> {
    serde_json::from_str(include_str!("../../../../tests/data/core-recordings.json")).expect("the fixture is JSON")
}

/// What the port does in a test.
fn run(replay: Replay) -> Vec<Value> {
    let Replay { setup, story, .. } = replay;
    let played = play(setup, move |world| async move {
        story(world).await;
        stage::clear_all();
    });
    assert_eq!(played.log.iter().filter(|line| !line.starts_with("stream ")).count(), 0, "{:?}", played.log);
    seen::events(&played.recorded)
}
