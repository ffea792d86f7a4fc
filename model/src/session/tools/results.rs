//! What the tools of a session answer: results of code, pauses, and why there is no result.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::session::engine::{ExecuteResult, Pause};
use crate::session::interaction::{Interaction, InteractionKind};
use crate::session::leases::Deadline;
use crate::session::model_resume::Refusal;

/// Strings raw, everything else as compact JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// A run that ended: its value, or its failure as a result that is an error.
pub(crate) fn completed(result: ExecuteResult) -> Value {
    let mut structured = Map::new();
    if !result.emitted.is_empty() {
        structured.insert("emitted".to_owned(), Value::Array(result.emitted));
    }
    structured.insert("logs".to_owned(), json!([]));
    match result.outcome {
        Ok(value) => {
            let content = content(&text_of(&value));
            structured.insert("status".to_owned(), json!("completed"));
            structured.insert("result".to_owned(), value);
            json!({"content": content, "structuredContent": structured})
        }
        Err(error) => {
            let content = content(&format!("Error: {error}"));
            structured.insert("status".to_owned(), json!("error"));
            structured.insert("error".to_owned(), json!(error));
            json!({"content": content, "structuredContent": structured, "isError": true})
        }
    }
}

/// A run that waits for a person whom the model asks.
pub(crate) fn paused(pause: &Pause, deadline: Option<&Deadline>) -> Value {
    let question = &pause.interaction;
    let instructions = instructions(question);
    let mut interaction = json!({
        "kind": question.kind.word(),
        "message": question.message,
        "instructions": instructions,
        "address": question.address,
        "args": question.args,
    });
    if let Some(url) = &question.url {
        interaction["url"] = json!(url);
    }
    if let Some(schema) = &question.requested_schema {
        interaction["requestedSchema"] = schema.clone();
    }
    let mut structured = json!({
        "status": "waiting_for_interaction",
        "executionId": &*pause.id,
        "interaction": interaction,
    });
    add_deadline(&mut structured, deadline);
    let text = format!("Execution paused: {}\n{instructions}\nexecutionId: {}", question.message, pause.id);
    json!({"content": content(&text), "structuredContent": structured})
}

fn instructions(question: &Interaction) -> &'static str {
    match question.kind {
        InteractionKind::Url => "Give the person the url, then call resume with what they decided.",
        InteractionKind::Form => "Ask the person, then call resume with what they decided and filled in.",
    }
}

/// A run that waits for a person who decides in the browser.
pub(super) fn approval_required(id: &Arc<str>, url: &str, deadline: Option<&Deadline>) -> Value {
    let mut structured = json!({"status": "user_approval_required", "executionId": &**id, "approvalUrl": url});
    add_deadline(&mut structured, deadline);
    let text = format!("The user must approve this execution: {url}\nThen call resume.\nexecutionId: {id}");
    json!({"content": content(&text), "structuredContent": structured})
}

fn add_deadline(structured: &mut Value, deadline: Option<&Deadline>) {
    if let Some(deadline) = deadline {
        structured["expiresAt"] = json!(deadline.expires_at);
        structured["ttlMs"] = json!(deadline.ttl_ms);
    }
}

const RECOVERY: &str = "To recover, run the execute tool again with the original code; if it pauses, a fresh \
                        executionId will be issued.";

/// Why a resume has no result.
pub(super) fn refused(id: &str, refusal: Refusal) -> Value {
    let (status, text) = match refusal {
        Refusal::NotFound => (
            "execution_not_found",
            format!(
                "Paused execution is unknown: {id}. Paused executions are only resumable for a limited window; this id \
                 may have expired or never existed. {RECOVERY}"
            ),
        ),
        Refusal::Expired(ttl_ms) => (
            "execution_expired",
            format!(
                "Paused execution expired: {id}. Approval windows last {}; the owning session no longer has a live \
                 pause for this executionId. {RECOVERY}",
                window(ttl_ms)
            ),
        ),
        Refusal::Forbidden => (
            "execution_forbidden",
            format!(
                "Paused execution cannot be resumed by this authenticated identity: {id}. Resume must be called by the \
                 same account and organization that owns the paused session."
            ),
        ),
        Refusal::AlreadySettled => (
            "execution_already_settled",
            format!(
                "Paused execution has already settled: {id}. The resume result is no longer available for replay. Run \
                 execute again only if the result is still needed. {RECOVERY}"
            ),
        ),
    };
    let mut structured = json!({"status": status, "executionId": id});
    if let Refusal::Expired(ttl_ms) = refusal {
        structured["ttlMs"] = json!(ttl_ms);
    }
    if refusal != Refusal::Forbidden {
        structured["recovery"] = json!("re_execute");
    }
    json!({"content": content(&text), "structuredContent": structured, "isError": true})
}

/// A length of time in words.
fn window(ms: u64) -> String {
    let (count, unit) = if ms.is_multiple_of(60_000) { (ms / 60_000, "minute") } else { (ms / 1_000, "second") };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(value: Value, emitted: Vec<Value>) -> Value {
        completed(ExecuteResult { outcome: Ok(value), emitted })
    }

    #[test]
    fn a_completed_run_shows_strings_raw_and_everything_else_as_compact_json() {
        assert_eq!(
            ended(json!("a b"), Vec::new()),
            json!({
                "content": [{"type": "text", "text": "a b"}],
                "structuredContent": {"status": "completed", "result": "a b", "logs": []},
            })
        );
        assert_eq!(
            ended(json!({"a": [1]}), vec![json!(2)]),
            json!({
                "content": [{"type": "text", "text": "{\"a\":[1]}"}],
                "structuredContent": {"status": "completed", "result": {"a": [1]}, "emitted": [2], "logs": []},
            })
        );
    }

    #[test]
    fn a_failed_run_is_a_result_with_is_error() {
        let failed = completed(ExecuteResult { outcome: Err("boom".to_owned()), emitted: Vec::new() });
        assert_eq!(
            failed,
            json!({
                "content": [{"type": "text", "text": "Error: boom"}],
                "structuredContent": {"status": "error", "error": "boom", "logs": []},
                "isError": true,
            })
        );
    }

    #[test]
    fn a_refusal_says_why_and_how_to_recover_unless_it_is_somebody_else_s() {
        let expired = refused("exec_1", Refusal::Expired(240_000));
        assert_eq!(
            expired["structuredContent"],
            json!({"status": "execution_expired", "executionId": "exec_1", "ttlMs": 240_000, "recovery": "re_execute"})
        );
        let text = expired["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with("Paused execution expired: exec_1. Approval windows last 4 minutes; the"), "{text}");
        let forbidden = refused("exec_1", Refusal::Forbidden);
        assert_eq!(forbidden["structuredContent"], json!({"status": "execution_forbidden", "executionId": "exec_1"}));
        assert_eq!((window(60_000), window(1_500)), ("1 minute".to_owned(), "1 second".to_owned()));
    }
}
