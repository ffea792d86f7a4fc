//! Rows of reach that may stay dark, by name, each with the reason why. Whoever brings what lights a row takes its line out.

/// One line a row: its name, and why it may be dark.
#[rustfmt::skip]
pub const EXCUSED: &[(&str, &str)] = &[
    ("life-cycle/resident-to-cold-by-isolate", "no effect of a plan ends an isolate: objects are lost one by one"),
    ("span/execute/inline", "no client of a plan is asked natively, by its own protocol"),
    ("log/post-response-wait-parse-failed/base64", "the bridge writes this header well; unit tests see it"),
    ("log/post-response-wait-parse-failed/json", "the bridge writes this header well; unit tests see it"),
    ("answer/bad-method", "clients send POST, GET and DELETE only"),
    ("answer/meta-unavailable", "the edge always names the organisation, so nothing is looked up"),
    ("answer/not-acceptable", "clients accept both forms, as the protocol wants it"),
    ("answer/unsupported-media-type", "clients send JSON, and say so"),
    ("answer/body-too-large", "a plan's batch of long code is answered so, before anybody looks for its session; no scenario draws one, as each would carry 4 MiB"),
    ("answer/invalid-json", "clients send JSON"),
    ("answer/invalid-message", "clients send JSON-RPC"),
    ("answer/initialize-with-session", "clients forget their session before they open another"),
    ("answer/initialize-in-batch", "clients send their handshake alone"),
    ("answer/no-socket", "the session's object always gives a connection"),
    ("answer/execution-already-settled", "an engine forgets an outcome after 64 further ones, and no step resumes a pause before its client's last"),
    ("situation/stream-superseded", "rare: a cut that is noticed only after its client's next GET, which asks the session twice on its way; seed 700381 of the catalog has one"),
    ("client/gives-up-in-silence", "the edge writes a comment every 25 s, and no scenario stalls a client or holds a write for five minutes; unit tests see it"),
];

/// Why the row of that name may stay dark, if it may.
pub fn excuse(name: &str) -> Option<&'static str> {
    EXCUSED.iter().find(|(excused, _)| *excused == name).map(|(_, reason)| *reason)
}
