//! Facts: aborts, resets, code updates.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "103" "An abort ends the JavaScript at once: no code of it follows." ["R:E4"] modelled;
    "104" "The aborting, the running and the queued calls get the reason, or the platform's text without one." ["R:E2, R:E3, R:E10"] modelled;
    "105" "Timers, background work and other handlers of an aborted instance never go on." ["R:W4, R:S13"] modelled;
    "106" "After an abort with no caller around, an old stub fails with the reason." ["R:E5"] modelled;
    "107" "An abort loses what had not committed, and keeps what had, and the alarm." ["R:S7, R:S8, R:S8b, R:S9, R:S10b, R:S10, R:S11, R:S12, R:S13, RA:AG16"] modelled;
    "108" "In production an abort shortly after a reply may overtake it: an error for work that was done." ["PUB, RA:AG13"] missed_bug("a caller that is told of a reset although its work was done");
    "109" "On the older build code that was reset from outside goes on as a zombie, and only storage rejects." ["R26:E9, R26:E6, I:cloudflare/agents#1617, I:cloudflare/agents#1730"] modelled;
    "110" "On the newer build it is cut off at once and its callers get the error." ["R11:E9, R11:E6"] modelled;
    "111" "A reset from outside keeps what was committed, breaks old stubs and leaves the isolate's globals." ["R:E6, R:M1"] modelled;
    "112" "A code update speaks in several texts, by who meets it." ["D:troubleshooting, PUB, S:agents retries.js"] missed_bug("a text of a code update that the host does not recognise; plans can give texts to failures");
    "113" "Storage may reject for some seconds after a code update before it is healthy again." ["I:cloudflare/agents#1730"] missed_bug("a second reset while the first is being handled");
    "114" "A process that is asked to end waits for its requests and streams." ["R:RS5, R:RS6"] false_alarm("a request that such an ending would have let finish");
};
