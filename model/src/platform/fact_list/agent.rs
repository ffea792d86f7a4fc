//! Facts: agents 0.17.3, class Agent.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "174" "The scheduler recomputes the one alarm from its own needs, deletes it without any, and never looks at it." ["S:agents index.js"] modelled;
    "175" "It runs at the first reference and after the last, at the end of the framework's alarm, and not at a start." ["S:agents index.js, RA:AG2, RA:AG4, RA:AG16"] modelled;
    "176" "During a keep-alive the alarm is the 30 s heartbeat, and gone right after: an own alarm does not survive." ["RA:AG3"] modelled;
    "177" "An own alarm set under a reference outlives a second reference and dies with the last." ["RA:AG4"] modelled;
    "177a" "An own alarm set within two microtasks of a keep-alive's end is deleted by its tail; after a timer it survives." ["RA:AG17, RN:AG17"] modelled;
    "178" "Schedule rows overwrite, delete and hide an own alarm." ["RA:AG2, RA:AG8"] modelled;
    "179" "An own alarm set before the framework's alarm() is erased by it." ["RA:AG6, RA:AG7, RA:AG7b"] modelled;
    "180" "References are a count in memory; a disposer is idempotent; a lost object leaves its heartbeat armed." ["RA:AG5, RA:AG16, RA:EV3"] modelled;
    "181" "A 30 s heartbeat does not keep an object from the local 10 s eviction." ["RA:EV3, RA:AG15"] modelled;
    "182" "After the last reference no further heartbeat is armed." ["RA:AG15"] modelled;
    "183" "A failing schedule callback is tried three times and swallowed." ["RA:AG12, S:agents index.js, S:agents retries.js"] modelled;
    "184" "Destroying writes a marker, drops tables, alarm and everything, and aborts from a 0 ms timer." ["RA:AG13"] modelled;
    "185" "Condemning writes the marker and an alarm a second ahead; until then the object answers normally." ["RA:AG14, RA:MC7"] modelled;
    "186" "An own alarm in that second postpones the destruction until the scheduler, seeing the marker, sets it to now." ["RA:AG14b"] modelled;
    "187" "The framework's alarm looks for the marker first, before any start." ["S:agents index.js"] modelled;
    "188" "The constructor makes the framework's tables." ["RA:AG1"] modelled;
    "189" "Later versions recompute the alarm at a start too." ["RN:AG1, RN:AG16, RN:EV3, RN:AG3, RN:AG4"] missed_bug("a host that is moved to those versions");
};
