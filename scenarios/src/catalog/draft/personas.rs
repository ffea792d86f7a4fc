//! The personas that scenarios draw for their clients, by name; the tables of what they do are the model client's.

use super::{ClientDraft, REQUEST_TIMEOUT_MS};
use crate::rng::Rng;

/// How long a person waits for the answer of a client with a persona, in ms: longer than any persona does.
const PERSON_PATIENCE_MS: u64 = 180_000;

/// All personas, each with its weight: what was measured is drawn more often than what was only read.
pub const PERSONAS: &[(u64, &str)] = &[
    (3, "ts-sdk-1.32.2"),
    (3, "ts-client-2.4.0"),
    (2, "mcp-remote-0.15.1"),
    (1, "inspector-2.12.0-cli"),
    (3, "py-mcp-1.30.0"),
    (3, "py-mcp-2.3.0"),
    (2, "fastmcp-4.2.3"),
    (3, "rmcp-3.11.0"),
    (1, "go-sdk-2026-08"),
    (1, "csharp-sdk-2026"),
    (1, "vscode-2026"),
];

/// One of them.
pub fn any(rng: &mut Rng) -> &'static str {
    rng.pick_weighted::<&str>(PERSONAS)
}

impl ClientDraft {
    /// It behaves like that real client between its steps; its person is patient, so that the persona's own time-outs, or
    /// that it has none, can show.
    pub fn behaving_like(mut self, persona: &str) -> ClientDraft {
        self.plan.persona = Some(persona.to_owned());
        if self.plan.request_timeout_ms == REQUEST_TIMEOUT_MS {
            self.plan.request_timeout_ms = PERSON_PATIENCE_MS;
        }
        self
    }
}
