//! Decisions about paused executions that were made in a browser: recorded by an RPC or an expiry, taken by the tool call
//! that waits for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::SessionObject;
use super::interaction::Response;
use crate::fx::{Exit, Fiber};
use crate::js::{Promise, call, hops};
use crate::platform::{JsError, join};

/// Prefix of the storage keys of decisions; the execution id follows.
pub const RESPONSE_PREFIX: &str = "approval-response:";

crate::operations! {
    APPROVAL_PUT = "approval · storage.put approval-response", Storage, 3; "storage; memory is set before, and the waiter runs nested after"
    APPROVAL_GET = "approval · storage.get approval-response", Storage, 3; "storage; one trip more when there is none"
    APPROVAL_DELETE = "approval · storage.delete approval-response", Storage, 4; "storage; memory is cleared before"
    APPROVAL_WAIT = "approval · wait", Io, 0; "the decision, shared by all waiters of the execution"
}

/// What a session knows of decisions.
#[derive(Default)]
pub(crate) struct Approvals {
    responses: RefCell<BTreeMap<Arc<str>, Response>>,
    waiters: RefCell<BTreeMap<Arc<str>, Promise<()>>>,
}

impl Approvals {
    /// A decision is recorded in memory.
    pub(super) fn is_decided(&self, id: &str) -> bool {
        self.responses.borrow().contains_key(id)
    }

    /// A tool call waits for the decision.
    pub(super) fn has_waiter(&self, id: &str) -> bool {
        self.waiters.borrow().contains_key(id)
    }

    /// Executions with a decision in memory.
    pub(super) fn decided(&self) -> Vec<Arc<str>> {
        self.responses.borrow().keys().cloned().collect()
    }

    /// Executions whose decision somebody waits for.
    pub(super) fn waited_for(&self) -> Vec<Arc<str>> {
        self.waiters.borrow().keys().cloned().collect()
    }

    fn waiter(&self, id: &Arc<str>) -> Promise<()> {
        self.waiters.borrow_mut().entry(Arc::clone(id)).or_default().clone()
    }

    /// Removes a waiter if it is still this one.
    fn remove(&self, id: &str, waiter: &Promise<()>) {
        let mut waiters = self.waiters.borrow_mut();
        if waiters.get(id).is_some_and(|held| held.same(waiter)) {
            waiters.remove(id);
        }
    }
}

fn key(id: &str) -> String {
    format!("{RESPONSE_PREFIX}{id}")
}

/// Records a decision: memory, then storage, then whoever waits goes on, nested, before this does.
///
/// # Errors
/// A storage failure: memory says decided, and nobody was woken.
pub(super) async fn record(session: &SessionObject, id: &Arc<str>, response: Response) -> Result<(), JsError> {
    let record = response.to_json();
    state_event!("approval.recorded", session.label(), execution = &**id, action = response.action.word());
    session.approvals.responses.borrow_mut().insert(Arc::clone(id), response);
    session.ctx().storage().put(&APPROVAL_PUT, key(id), record).await?;
    let waiter = session.approvals.waiters.borrow().get(id).cloned();
    if let Some(waiter) = waiter {
        waiter.settle(());
    }
    Ok(())
}

/// Takes a decision out of memory or storage; it is there once.
///
/// # Errors
/// A storage failure; the decision may be gone from memory then.
pub(super) async fn take(session: Rc<SessionObject>, id: Arc<str>) -> Result<Option<Response>, JsError> {
    let storage = session.ctx().storage();
    let known = session.approvals.responses.borrow_mut().remove(&id);
    let taken = match known {
        Some(response) => response,
        None => {
            let stored = storage.get(&APPROVAL_GET, key(&id)).await?;
            let Some(response) = stored.as_deref().and_then(Response::from_json) else {
                hops(1).await;
                return Ok(None);
            };
            response
        }
    };
    storage.delete(&APPROVAL_DELETE, key(&id)).await?;
    state_event!("approval.taken", session.label(), execution = &*id, action = taken.action.word());
    Ok(Some(taken))
}

/// Waits for a decision and takes it. None when another waiter was quicker, and when there is none about a pause that is
/// not open.
///
/// # Errors
/// A storage failure; an interrupt, which takes the waiter away.
pub(super) async fn wait(
    session: &Rc<SessionObject>,
    id: &Arc<str>,
    is_open: bool,
    fiber: &Fiber,
) -> Exit<Option<Response>> {
    // Each runs on if the fiber is interrupted: a delete that was issued still lands.
    let taken = call(take(Rc::clone(session), Arc::clone(id)));
    if let Some(response) = fiber.or_die(taken.wait_hops(0)).await? {
        return Ok(Some(response));
    }
    if !is_open {
        return Ok(None);
    }
    let waiter = session.approvals.waiter(id);
    let woken = fiber.or_die(join(&APPROVAL_WAIT, &waiter)).await;
    session.approvals.remove(id, &waiter);
    woken?;
    let taken = call(take(Rc::clone(session), Arc::clone(id)));
    fiber.or_die(taken.wait_hops(0)).await
}
