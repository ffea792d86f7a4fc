//! What varies between sessions put into words, as the recorded probes did: session ids, connections, instances.

use super::caller::put_for;
use serde_json::Value;

/// Replaces what follows `before` in a text for as long as `is_part` says, by `stands`.
fn replace_after(text: &str, before: &str, is_part: impl Fn(char) -> bool, stands: &str) -> String {
    let mut pieces = text.split(before);
    let mut tidy = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(&is_part);
        tidy += before;
        tidy += if rest.len() < piece.len() { stands } else { "" };
        tidy += rest;
    }
    tidy
}

/// An answer about that session.
pub fn tidy(answer: &Value, session: &str) -> Value {
    let mut text = put_for(answer, session, "<sid>").to_string();
    for before in ["from ", "done "] {
        text = replace_after(&text, before, |each| each.is_ascii_digit(), "N");
    }
    for before in ["__mcp_stream_reqs__:c", "__mcp_undelivered_stream__:c", "__mcp_event__:c", "id: c"] {
        let (kind, _) = before.split_at(before.len() - 1);
        text = replace_after(&text, before, |each| each.is_ascii_digit(), "<streamId>");
        text = text.replace(&format!("{before}<streamId>"), &format!("{kind}<streamId>"));
    }
    serde_json::from_str(&text).expect("what is put in is plain text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_and_instances_are_put_into_words_and_nothing_else() {
        let event = "id: c3:02\ndata: from 4, done 5";
        let answer = json!(["__mcp_event__:c12:01", "__mcp_event__:_GET_stream:01", event, "name:0f"]);
        let told = json!([
            "__mcp_event__:<streamId>:01",
            "__mcp_event__:_GET_stream:01",
            "id: <streamId>:02\ndata: from N, done N",
            "name:<sid>"
        ]);
        assert_eq!(tidy(&answer, "0f"), told);
    }
}
