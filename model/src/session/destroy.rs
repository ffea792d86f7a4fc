//! `destroy()`: the runtime first, then the framework wipes the storage and aborts the object.

use std::rc::Rc;

use super::SessionObject;
use super::teardown::close_runtime;
use crate::agents::mcp_agent;
use crate::js::{call, rooted};
use crate::platform::{JsError, join};

crate::operations! {
    DESTROY_TEARDOWN = "destroy · teardown", Io, 3; "the teardown; it cannot fail"
}

/// `destroy()`. The in-memory meta stays: between the wipe and the abort the object still answers from it, as the
/// described version does.
pub(super) async fn destroy(session: Rc<SessionObject>) -> Result<(), JsError> {
    state_event!("destroy.begin", session.label());
    let done = call(rooted("destroy", close_runtime(&session, true).run()));
    drop(join(&DESTROY_TEARDOWN, &done).await);
    let destroyed = rooted("destroy", mcp_agent::destroy(&session.agent)).await;
    state_event!("destroy.end", session.label());
    destroyed
}
