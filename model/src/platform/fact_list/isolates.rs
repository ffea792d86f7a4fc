//! Facts: isolates and memory.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "130" "Objects in one isolate share module scope and no instance fields." ["R:M1, D:in-memory-state"] modelled;
    "131" "Which objects share an isolate is the platform's choice." ["R:M1, D:in-memory-state"] modelled;
    "132" "Module scope outlives a reset of its objects." ["R:M1"] modelled;
    "133" "A synchronous loop stops every object of its isolate." ["R:M2"] missed_bug("an object that starves its neighbours");
    "134" "An isolate has 128 MB for all its objects." ["I:cloudflare/cloudflare-docs#19049, D:storage-api"] missed_bug("a heap that grows");
    "135" "Beyond that all objects of the isolate are reset, with one of several texts." ["S:io/actor-cache.c++, S:agents retries.js, I:kentcdodds/kody#1792, I:UsefulSoftwareCo/executor#1800"] missed_bug("neighbours that lose their memory together; a plan resets them one by one");
    "136" "A reset for memory repeats when the retried alarm does the same work." ["I:cloudflare/agents#1826"] missed_bug("a session that runs into the limit again and again");
    "137" "At module scope the clock reads the wall time on the older build and 0 on the newer." ["R26:M3, R11:M3"] missed_bug("code that takes the time while its module loads");
    "138" "30 s of CPU an event, with a text of its own." ["D:limits, PUB"] missed_bug("an event that computes too long");
    "139" "Six outgoing connections a request; some thousand requests a second an object." ["D:limits"] missed_bug("a seventh connection that waits");
};
