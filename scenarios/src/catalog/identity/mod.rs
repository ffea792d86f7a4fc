//! Who a client says it is: strangers with a session's id, tokens that were revoked or are too old, and an identity
//! provider that is away for a while.

pub mod foreign_caller;
pub mod provider_blip;
pub mod revoked;

use super::Scenario;
use super::draft::ClientDraft;
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[foreign_caller::SCENARIO, revoked::SCENARIO, provider_blip::SCENARIO];

/// Any request on a session.
fn any(client: &mut ClientDraft, rng: &mut Rng) {
    match rng.below(6) {
        0 => client.ping(),
        1 => client.stream(),
        _ => client.call(rng, 0),
    }
}
