//! Facts: background work.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "125" "Work goes on after the response, also after a throw, with waitUntil or without." ["R:W1, R:W2"] modelled;
    "126" "Background work that fails resets nothing." ["R:W3"] modelled;
    "127" "Background work ends without a word when its object is aborted." ["R:W4"] modelled;
    "128" "In an object waitUntil adds nothing." ["I:cloudflare/workerd#877, D:state"] modelled;
    "129" "In a stateless worker it reaches 30 s past the response." ["I:cloudflare/workerd#877"] missed_bug("telemetry of the edge that is cut off after 30 s");
};
