//! Facts: texts.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "147" "'Network connection lost.', retryable." ["S:jsg/util.c++"] modelled;
    "148" "'internal error; reference = …' with 24 letters and digits." ["S:jsg/util.c++"] missed_bug("an internal failure that no fault of the plan makes");
    "149" "'Durable Object reset because its code was updated.'" ["D:troubleshooting"] modelled;
    "150" "The old version's storage says that its code has been updated, as a TypeError." ["PUB"] missed_bug("a caller that meets this text; plans can give it to a failure");
    "151" "A connection to the old script says that it has been upgraded." ["S:agents retries.js"] missed_bug("a caller that meets this text; plans can give it to a failure");
    "152" "A connection is closed because its instance is no longer active." ["D:troubleshooting, I:kentcdodds/kody#1629"] missed_bug("a caller that matches on this text");
    "153" "A storage operation exceeded its timeout, overloaded." ["S:io/worker.c++"] modelled;
    "154" "An internal error in storage, or in a storage write, reset the object." ["S:io/actor-cache.c++, PUB"] missed_bug("an internal failure that no fault of the plan makes");
    "155" "Storage is no longer accessible." ["S:io/actor-cache.h"] missed_bug("a caller that matches on this text");
    "156" "The isolate exceeded its memory limit." ["S:agents retries.js, PUB"] modelled;
    "157" "The object exceeded its CPU time." ["PUB"] modelled;
    "158" "Four texts of an overloaded object." ["D:troubleshooting"] missed_bug("a queue that overflows");
    "159" "An object that cannot be resolved for now, or has moved to another machine." ["PUB"] modelled;
    "160" "The text of an abort without a reason." ["R:E3"] modelled;
    "161" "The text of a section that took too long." ["R:GL1"] modelled;
    "162" "A request that can never answer is cancelled with a text of its own; objects have no such detection." ["S:io/io-context.c++"] false_alarm("a request of the edge that hangs for good");
};
