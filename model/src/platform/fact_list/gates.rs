//! Facts: input gate, order, concurrency.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "27" "Handlers of one object interleave only where one awaits something other than storage." ["R:G1, R:G2"] modelled;
    "28" "Awaiting storage lets no event in, syncs included." ["R:G1, R:G1b, S:io/actor-sqlite.c++"] modelled;
    "29" "Awaiting a fetch, a timer or another object lets requests, timers and alarms in." ["R:G2, R:G3, R:G4, R:A11"] modelled;
    "30" "A section lets in nothing but what was started inside it." ["R:G5, R:G5b, R:A12, R:G6b, R:G6d"] modelled;
    "31" "A transaction is a section, across timers too." ["R:G11, S:api/actor-state.c++"] modelled;
    "32" "After a section its own caller goes on before the events that waited." ["R:G5"] modelled;
    "33" "On the older build a timer from before a section, due inside it, blocks the timers of the section." ["R26:G6, R11:G6"] modelled;
    "34" "A throw out of a section resets the object, and everybody who waits gets the error itself." ["R:G7"] modelled;
    "35" "Writes before and inside a section that fails are kept where they had committed." ["R:G7"] modelled;
    "36" "A section over 30 s resets the object with a text of its own, for those who waited too." ["R:GL1, R:GL2"] modelled;
    "37" "A section of the constructor delays every event, the one that woke the object included." ["R:G8"] modelled;
    "38" "Calls of one kind on one stub arrive in order; RPC and fetch may overtake each other." ["R:G10"] modelled;
    "39" "Across stubs no order is promised." ["R:G10, I:cloudflare/cloudflare-docs#14261"] modelled;
    "40" "One alarm at most runs at a time, and requests come in while it waits." ["R:A13, R:A14, R:A28"] modelled;
};
