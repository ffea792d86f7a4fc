//! Asking the client itself: what code asks in a session of mode `native` goes to the client as an elicitation, on the
//! stream of the call, while the call runs.

use std::rc::{Rc, Weak};

use serde_json::{Value, json};

use super::SessionObject;
use super::engine::Elicit;
use super::interaction::{Interaction, InteractionKind, Response};
use crate::agents::transport::RequestExtra;
use crate::config::ELICITATION_TIMEOUT_MS;
use crate::platform::JsError;

crate::operations! {
    ELICIT_ANSWER = "elicit · answer", Io, 0, assumed; "the client's answer, or 60 s"
}

/// Asks the client of the session on the stream of the call that `extra` comes with.
pub(super) fn by_client(session: &Weak<SessionObject>, extra: &RequestExtra) -> Elicit {
    let (session, extra) = (Weak::clone(session), extra.clone());
    Rc::new(move |interaction| {
        let (session, extra) = (Weak::clone(&session), extra.clone());
        Box::pin(async move { ask(&session, &extra, &interaction).await })
    })
}

async fn ask(
    session: &Weak<SessionObject>,
    extra: &RequestExtra,
    interaction: &Interaction,
) -> Result<Response, JsError> {
    let server = session.upgrade().and_then(|session| session.server.borrow().clone());
    let server = server.ok_or_else(|| JsError::new("Not connected"))?;
    if !can_be_asked(&server.client_capabilities(), interaction.kind) {
        let kind = interaction.kind.word();
        return Err(JsError::new(format!("Client does not support {kind} elicitation.")));
    }
    let question = ("elicitation/create", params(interaction));
    let answer = server.ask(&ELICIT_ANSWER, question, extra.clone(), ELICITATION_TIMEOUT_MS).await?;
    Response::from_json(&answer).ok_or_else(|| JsError::new("Invalid elicitation result"))
}

/// A client that says it can be asked, and not how, can be asked by form.
fn can_be_asked(capabilities: &Value, kind: InteractionKind) -> bool {
    let Some(elicitation) = capabilities["elicitation"].as_object() else { return false };
    elicitation.contains_key(kind.word()) || (elicitation.is_empty() && kind == InteractionKind::Form)
}

fn params(interaction: &Interaction) -> Value {
    let mut params = json!({"mode": interaction.kind.word(), "message": interaction.message});
    match &interaction.url {
        Some(url) => params["url"] = json!(url),
        None => {
            let anything = || json!({"type": "object", "properties": {}});
            params["requestedSchema"] = interaction.requested_schema.clone().unwrap_or_else(anything);
        }
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_say_how_can_be_asked_by_form_only() {
        let can = |capabilities: Value| {
            [InteractionKind::Form, InteractionKind::Url].map(|kind| can_be_asked(&capabilities, kind))
        };
        assert_eq!(can(json!({})), [false, false]);
        assert_eq!(can(json!({"elicitation": {}})), [true, false]);
        assert_eq!(can(json!({"elicitation": {"url": {}}})), [false, true]);
        assert_eq!(can(json!({"elicitation": {"url": {}, "form": {}}})), [true, true]);
    }
}
