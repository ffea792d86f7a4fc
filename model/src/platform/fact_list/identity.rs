//! Facts: identity and names.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "1" "Equal names of a namespace give equal ids, 64 hex digits." ["R:I1"] missed_bug("code that compares or prints the ids of named objects");
    "2" "An instance that a call by name constructed knows its name; one of a unique id does not." ["R:I1"] modelled;
    "3" "Who constructs an instance decides whether it knows its name; later calls change nothing." ["R:I1"] modelled;
    "4" "A stub tells the name it was made from, whatever its object knows." ["R:I1"] missed_bug("code that reads the name of a stub");
    "5" "A text that is no id of the namespace is refused with one of two TypeErrors." ["R:I1"] missed_bug("code that makes ids from what clients send");
    "6" "The alarm of a living instance, or of one evicted within the last 70 s, has the name it had." ["R:A25, R:EV4"] modelled;
    "7" "On the older build an alarm that constructs its instance after longer idleness, a restart or a reset finds no name." ["R26:EV5, R26:RS1, R26:RS3, R26:A17"] modelled;
    "8" "On the newer build that alarm finds the name." ["R11:EV5, R11:RS1, R11:RS3, R11:A17, S:server/alarm-scheduler.c++"] modelled;
    "9" "Alarms of unique ids and of rows older than the name column never have a name." ["R:EV4, R:RS1, S:server/alarm-scheduler.c++"] modelled;
    "10" "An instance that a nameless alarm constructed stays nameless for life, also for calls by name." ["R26:RS7, I:cloudflare/partykit#391"] modelled;
    "11" "Production names alarms that were created since spring 2026 only, and never names over 1024 bytes." ["RN:AG9, I:cloudflare/partykit#390, I:cloudflare/partykit#378"] modelled;
};
