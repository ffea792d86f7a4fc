//! Facts: what is not settled.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "230" "The key-value backend's gate on cache misses and its write buffer." ["not reached locally"] missed_bug("a namespace that is not on SQLite");
    "231" "What production's alarm manager does with counts over host moves and with uncounted retries." ["not reached locally"] false_alarm("a count that production would have kept");
    "232" "Limits, overload, failing gates and real code updates have no local trigger." ["not reached locally"] false_alarm("an error with flags that production does not set");
    "233" "Whether the error of a code update is flagged retryable." ["reported both ways"] missed_bug("a caller that relies on the flag");
    "234" "The default mode and delay of deployments, and the runtime's own retries." ["not reached locally"] partly_false_alarm("the mode is the switch `code_update`, its delay 300 s; the runtime repeats nothing, so a call fails that such a runtime would have repeated (fact 101)");
    "235" "How many objects share an isolate, and for how long." ["not reached locally"] modelled;
    "236" "The later package's McpAgent." ["not probed"] missed_bug("a host that is moved to that version");
};
