//! Facts: partyserver 0.5.8.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "163" "The name is the id's, else one in memory, else reading it throws; storage is not asked." ["S:partyserver index.js, RA:AG9"] modelled;
    "164" "That throw begins with a text of its own." ["RA:AG9"] modelled;
    "165" "The record of the name is written at a start by name or by setName, and read only by a start without one." ["S:partyserver index.js, RA:AG1, RA:AG9"] modelled;
    "166" "Fetch, socket events, the framework's alarm and setName start an object; a plain call does not." ["RA:AG1b"] modelled;
    "167" "Routing is one setName and a fresh stub, tried three times where the error is retryable and not overloaded." ["S:partyserver index.js"] modelled;
    "168" "A start runs in a section, once for concurrent calls; one that throws resets nothing and is tried by the next call." ["RA:AG11, RA:AG10"] modelled;
    "169" "Another name than the object has is refused." ["RA:AG9b"] modelled;
    "170" "A failing fetch is answered 500 with its stack, or as a socket that says so and closes with 1011." ["S:partyserver index.js, RA:AG9"] modelled;
    "171" "A class whose alarm acts before the framework's acts before any start." ["RA:EV, RA:EV2"] modelled;
    "172" "The connections of a hibernating server are the platform's, so they survive eviction." ["S:partyserver index.js"] modelled;
    "173" "Later versions keep no record of the name and start on plain calls too." ["RN:AG1, RN:AG1b"] missed_bug("a host that is moved to those versions");
};
