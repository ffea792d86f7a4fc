//! Facts: storage API.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "51" "Missing keys read as nothing; a delete tells whether, or how many, existed." ["R:S1"] modelled;
    "52" "Values are copied on the way in and out, and what cannot be copied is refused." ["R:S1"] missed_bug("code that stores a function or undefined");
    "53" "Reads see earlier writes of the turn that nobody awaited; the last write wins." ["R:S1"] modelled;
    "54" "Locally no limit on keys a call or on the length of a key; production documents some." ["R:S1, D:limits, D:storage-api"] missed_bug("more than 128 keys in one call");
    "55" "A value over 2 MB is refused on the older build; the newer one takes 3 MiB." ["R26:S1, R11:S1"] modelled;
    "56" "A list is ordered by UTF-8 bytes; its bounds, direction and limit are as named." ["R:S2"] modelled;
    "57" "A list with a limit below one, or with two lower bounds, is refused." ["R:S2"] modelled;
    "58" "A transaction that throws rolls back everything written meanwhile and resets nothing." ["R:S3"] modelled;
    "59" "A transaction that was rolled back or is over refuses further use with a text of its own." ["R:S3"] modelled;
    "60" "A nested transaction rolls back by itself, its alarm included." ["R:S3"] modelled;
    "61" "Deleting everything inside a transaction is refused." ["R:S3"] modelled;
    "62" "Deleting everything keeps the alarm, unless a newer compatibility date says otherwise." ["R:S4, RF:S4, S:io/compatibility-date.capnp"] modelled;
    "63" "Deleting everything inside an alarm that succeeds leaves no alarm." ["R:A20, RF:A20"] modelled;
    "64" "SQL cannot read the table behind the key-value calls." ["R:S1, RA:AG1"] missed_bug("code that reads stored keys by SQL");
};
