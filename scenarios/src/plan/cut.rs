//! When a client drops a connection.

use serde::{Deserialize, Serialize};

/// So many events of the body have come, and then so much time has gone by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Events; 0, or none, counts the time from the request's begin.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after_events: u32,
    /// Whole ms.
    pub ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
