//! Facts: sockets and streams.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "140" "An accepted hibernatable socket survives eviction and wakes the object by name." ["R:WS1"] modelled;
    "141" "An ordinary accepted socket keeps the instance in memory." ["R:WS2"] missed_bug("code that accepts sockets the ordinary way");
    "142" "A client's close reaches the object, which must close in turn." ["R:WS1"] modelled;
    "143" "A reset drops every socket with 1006, and no close handler runs." ["R:WS3, R:WS4, D:troubleshooting"] modelled;
    "144" "An open response stream holds its instance." ["R:SSE1, R:SSE2"] missed_bug("an object that answers with streams of its own");
    "145" "When an object dies its response stream ends cleanly, breaks, or stays silent, by build and reason." ["R26:SSE3, R11:SSE3"] missed_bug("an object that answers with streams of its own");
    "146" "A client that left a stream is noticed at a later write, if at all." ["R11:SSE2, R26:SSE2"] modelled;
};
