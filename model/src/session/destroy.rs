//! Condemning a session, and `destroy()`: the runtime first, then the framework wipes the storage and aborts the object.

use std::rc::Rc;

use super::SessionObject;
use super::teardown::tear_down;
use crate::agents::mcp_agent;
use crate::js::rooted;
use crate::platform::JsError;

crate::operations! {
    DESTROY_TEARDOWN = "destroy · teardown", Io, 3; "the teardown; it cannot fail"
}

/// `_cf_scheduleDestroy()`, the framework's, remembered for a disposal that is under way: its alarm is not the one that
/// the disposal has to delete.
///
/// # Errors
/// Those of the framework; the session is not condemned then.
pub(super) async fn condemn(session: Rc<SessionObject>) -> Result<(), JsError> {
    let before = session.condemned.replace(true);
    let condemned = mcp_agent::condemn(Rc::clone(&session)).await;
    if condemned.is_err() {
        session.condemned.set(before);
    }
    condemned
}

/// `destroy()`. The in-memory meta stays: between the wipe and the abort the object of the described version still
/// answers from it.
///
/// # Errors
/// Those of the framework's `destroy`; no abort is scheduled then.
pub(super) async fn destroy(session: Rc<SessionObject>) -> Result<(), JsError> {
    session.destroying.set(true);
    state_event!("destroy.begin", session.label());
    rooted("destroy", tear_down(Rc::clone(&session), &DESTROY_TEARDOWN, true)).await;
    let destroyed = rooted("destroy", session.base.destroy(Rc::clone(&session))).await;
    state_event!("destroy.end", session.label());
    destroyed
}
