//! Facts: writes, output gate, what survives.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "41" "The writes of a turn are one transaction, changes of the alarm included." ["R:S7, S:io/actor-sqlite.c++ ImplicitTxn"] modelled;
    "42" "Awaiting a put does not commit it: the commit comes on a later turn." ["R:S8, R:S8b"] modelled;
    "43" "A write survives an abort after a sync, a timer or a committed transaction." ["R:S9, R:S10b, R:S10, R:S11"] modelled;
    "44" "Deleting everything acts at once, outside the open transaction." ["R:S12"] modelled;
    "45" "A handler that throws rolls nothing back." ["R:S5, R:S6, R:A19"] modelled;
    "46" "Nothing leaves an object before the writes that precede it are durable; a failed commit resets it." ["S:io/io-gate.h, D:storage-api"] modelled;
    "47" "What was answered after a put or a setAlarm survives the end of the process." ["R:RS2"] modelled;
    "48" "A write can opt out of the output gate." ["S:io/actor-sqlite.c++"] missed_bug("an answer that leaves before such a write is durable");
    "49" "A commit over 30 s resets the object with a text of its own." ["S:io/worker.c++ makeTimeoutPromise, D:troubleshooting"] modelled;
    "50" "A write that its handler got past survives a reset by another call; the rest of the handler never runs." ["R:S13"] modelled;
};
