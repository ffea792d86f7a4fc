//! Facts: life and death of an instance.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "12" "A stub sends nothing; the first event constructs the object." ["D:durable-object-lifecycle"] modelled;
    "13" "An idle object leaves memory after 10 s where it can hibernate, after 70 to 140 s where it cannot." ["D:durable-object-lifecycle"] modelled;
    "14" "A timer, an awaited fetch, an accepted ordinary socket or an event in progress keeps an object from hibernating." ["D:durable-object-lifecycle"] partly_false_alarm("no object here takes an ordinary socket, and an open database connection does not count (fact 17)");
    "15" "Locally an idle object goes 10 s after its last activity; nothing of it is called." ["R:EV1, S:server/server.c++ handleShutdown"] modelled;
    "16" "Locally pending timers and background work keep an object; in production only since autumn 2026, for 15 minutes each." ["R:EV2, D:changelog 2026-10-01, I:cloudflare/cloudflare-docs#33454"] modelled;
    "17" "Outbound TCP and sockets hold an object up to 15 minutes in production; a plain fetch does not." ["I:cloudflare/cloudflare-docs#31324"] false_alarm("an object with an open database connection that the model evicts");
    "18" "A request in progress keeps the instance, however long it takes." ["R:EV3"] modelled;
    "19" "A client that goes away does not stop the handler of its request." ["R:CL1"] modelled;
    "20" "No code of an object runs when it goes, whatever the reason." ["D:durable-object-lifecycle"] modelled;
    "21" "An object may be restarted at any time." ["D:durable-object-lifecycle, D:agents/durable-execution"] modelled;
    "22" "In production a request in flight may go on for 30 s after a shutdown, until it touches storage; sockets close at once." ["D:durable-object-lifecycle"] modelled;
    "23" "An old instance that touches no storage can go on beside the new one and never learn of it." ["D:known-issues"] modelled;
    "24" "A deployment resets at once, or the old code goes on until it hibernates or a delay is over." ["D:durable-objects-code-updates"] partly_missed_bug("every update waits 300 s at most, none 30 s as in drafts of the documentation, and comes as soon as its object is idle, not ten seconds later");
    "25" "Worker and object may run different versions for seconds to minutes after a deployment." ["D:known-issues"] missed_bug("a worker that calls what the object's version does not have");
    "26" "A constructor that throws, also in its section, fails the call as a reset; a new stub gets a fresh instance." ["R:G9"] modelled;
};
