//! Facts: what varies.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "208" "Order of what no gate orders: calls of several stubs, RPC and fetch, alarms, timers, requests." ["facts 29, 38, 39"] modelled;
    "209" "At every await of other I/O any event may come in, at one of storage none." ["facts 27, 28, 29"] modelled;
    "210" "Alarms are mostly 0 to 10 ms late, sometimes hundreds, rarely up to a minute." ["fact 68"] modelled;
    "211" "An alarm may be delivered again, with its count at 0 or higher." ["facts 70, 79, 86"] partly_missed_bug("it comes again with its count at 0, never counted up");
    "212" "A retry is up to a quarter late, and may lose its count." ["facts 76, 79"] modelled;
    "213" "An alarm re-armed for the running millisecond is lost, or late by tens of seconds." ["fact 87"] modelled;
    "214" "The alarm that constructs an instance has the name or not, which then holds for its life." ["facts 7-11"] modelled;
    "215" "An idle object is evicted at any time from 10 s on, with or without pending work." ["facts 13-17"] partly_false_alarm("an `evict` of a plan acts when the plan says, on whatever is idle, also before its ten seconds are over");
    "216" "A reset at any await, of one object or of all in an isolate." ["facts 21, 135"] partly_missed_bug("it is drawn for one object, at its named operations, as a code update, a CPU limit or slow storage; a move, a memory limit and the end of a whole isolate are ordered by plans only");
    "217" "After a reset: cut off, a zombie up to its first storage call, or up to 30 s beyond; storage then speaks in several texts." ["facts 22, 109, 110, 112"] partly_missed_bug("storage of a zombie rejects with the text of its own reset, never with the others of fact 112 and never as a lost connection");
    "218" "Whether the last writes were durable at a reset, and whether the caller's answer tells." ["facts 41-43, 108"] partly_missed_bug("a reset never overtakes an answer that has left, so no caller is told of one although it was answered (fact 108)");
    "219" "Two instances of one object for a while, the old one without storage." ["fact 23"] modelled;
    "220" "Flags of a caller's error in the combinations that occur, lost over hops." ["facts 96, 99"] partly_missed_bug("a code update is never flagged retryable (fact 233), and no error names its object as newer builds do");
    "221" "Stubs stay broken after a reset; the runtime may repeat calls or not." ["facts 100, 101"] partly_false_alarm("stubs stay broken; the runtime repeats nothing, so a call that never arrived fails where such a runtime would have repeated it (fact 101)");
    "222" "Any grouping of objects into isolates, anew at every construction." ["facts 130-132"] modelled;
    "223" "Synchronous work of one object delays all of its isolate." ["fact 133"] missed_bug("an alarm that is late because a neighbour computes");
    "224" "A stream ends cleanly, breaks, or stays silent when its object or worker dies." ["facts 145, 202"] modelled;
    "225" "A departed client is noticed at once, at the next write, or never." ["facts 146, 199"] modelled;
    "226" "A waitUntil tail runs before, after or among what the next request does." ["fact 176"] modelled;
    "227" "Old objects under a new worker, and the reverse, for a while." ["fact 25"] missed_bug("a call between two versions of the host");
    "228" "The clock stands still between I/O, and reads 0 at module scope." ["fact 137, S:io/worker.c++ scheduleAlarm"] modelled;
    "229" "Misuse across contexts throws, hangs or does nothing, by kind of object." ["facts 116-124"] modelled;
};
