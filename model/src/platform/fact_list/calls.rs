//! Facts: calls between objects, errors at the caller.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "92" "What a handler throws reaches its caller with message and built-in type, marked remote." ["R:E1"] modelled;
    "93" "A custom error becomes a plain one whose message begins with its name." ["R:E1, RF:E1"] modelled;
    "94" "Throwing resets nothing." ["R:E1"] modelled;
    "95" "Calling a method that is not there is a TypeError with a text of its own." ["R:E1"] modelled;
    "96" "Flags say what failed: retryable, overloaded, durableObjectReset, remote; several may stand together." ["S:jsg/util.c++, R:E2, R:GL1, R11:E8"] modelled;
    "97" "A disconnection without a text of its own is 'Network connection lost.', retryable." ["S:jsg/util.c++"] modelled;
    "98" "Any other internal failure is 'internal error' with a reference." ["S:jsg/util.c++"] missed_bug("an internal failure that no fault of the plan makes");
    "99" "Over two hops only the remote flag is left." ["R:E8, RF:E8"] modelled;
    "100" "After a failure that broke the object its stubs fail for ever; a new one does not." ["R:E2, R:G7, R:G9, R:E6, D:error-handling"] modelled;
    "101" "A newer runtime repeats by itself a call that never arrived." ["D:automatic-retries"] false_alarm("a lost call that such a runtime would have repeated");
    "102" "Overload is not to be retried." ["D:error-handling"] modelled;
};
