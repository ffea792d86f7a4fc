//! Facts: I/O objects across contexts.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "115" "Events of one object share a context; each stateless request has its own." ["S:io/io-context.h, R:X1, R:X10"] modelled;
    "116" "An I/O object of another object throws a text of its own." ["R:X1, R:X2, R:X3, R:X4, R:X5, R:X11"] modelled;
    "117" "An I/O object of another request throws a text of its own." ["R:X10"] modelled;
    "118" "The text ends in the type of the I/O object, which differs between builds." ["R:X1, R:X2, R:X3, R:X4, R:X5, R:X6, R:X7, R:X8, R:X9"] modelled;
    "119" "A successor of the same object may not use its predecessor's storage either." ["R:E7"] modelled;
    "120" "What does no I/O is allowed across objects; another object's waitUntil and section act on the caller's." ["R:X1, R:X2, R:X5"] modelled;
    "121" "Aborting through another object's context throws and aborts nobody." ["R:X6"] modelled;
    "122" "Not every misuse throws: a foreign close seems to work, a foreign write hangs or throws, a foreign timer goes on." ["R:X4, R:X9"] modelled;
    "123" "Awaiting a promise of another object works and resumes in the waiter's own context." ["R:X7, R:X8"] modelled;
    "123a" "Inside a section no other object wakes a waiter before the section ends." ["probed on both builds 2026-11-30"] modelled;
    "124" "Who waits for a promise whose maker is gone may never go on." ["S:io/io-own.c++"] modelled;
};
