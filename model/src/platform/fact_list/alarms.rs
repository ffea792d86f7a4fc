//! Facts: alarms.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "65" "One alarm an object: setting replaces it, deleting is idempotent, times are whole milliseconds." ["R:A1, R:A2"] modelled;
    "66" "A time of zero or less, what is no date, and a class without alarm() are refused." ["R:A1, R:A21"] modelled;
    "67" "A past time becomes now and fires soon, also while its setter still waits." ["R:A1, R:A3"] modelled;
    "68" "An alarm is never early; mostly on time, rarely up to a minute late." ["R:A24, R:A23, D:storage-api alarms"] modelled;
    "69" "Alarms of several objects due together fire in no fixed order." ["R:A23"] modelled;
    "70" "Delivery is at least once: an alarm whose process ended inside it runs again as a first try." ["D:alarms, R:RS3"] modelled;
    "71" "An alarm that fell due while its process was down fires at the start." ["R:RS1"] modelled;
    "72" "An alarm is told its try and the time it was set for; a retry keeps that time." ["R:A8"] modelled;
    "73" "While an alarm runs its slot is empty unless a new one was set since." ["R:A4, R:A13, R:A8"] modelled;
    "74" "An alarm set inside alarm() starts after it has ended, as a first try." ["R:A4, R:A14, R:A28"] modelled;
    "75" "What a request sets during alarm() survives its success; a deletion does not stop it." ["R:A15, R:A16"] modelled;
    "76" "A failed alarm is tried again after 2, 4, … 64 s, each up to a quarter longer." ["R:AL1, R:A8, S:server/alarm-scheduler.h"] modelled;
    "77" "While a retry waits the past time is shown; after the last failure nothing." ["R:A8, R:AL1"] modelled;
    "78" "A retry outlives its instance." ["R:AL1"] modelled;
    "79" "The count of tries is lost with the scheduler: a retry that waits fires at once as a first try." ["R:RS4"] modelled;
    "80" "An alarm set inside one that throws replaces the retry and counts from 0." ["R:A7"] modelled;
    "81" "An alarm deleted inside one that throws is not tried again." ["R:A6, D:alarms"] modelled;
    "82" "A deletion during a retry wait cancels the retry." ["R:A10"] modelled;
    "83" "Locally an alarm set during a retry wait is run by that retry and counted as one." ["R:A9"] modelled;
    "84" "An abort or a failing section inside alarm() counts as a failure." ["R:A17, R:A18"] modelled;
    "85" "Failures that are not the code's are retried without end, up to 2^10 s apart." ["S:api/global-scope.h alarmRetryCountsAgainstLimit, S:server/alarm-scheduler.c++"] false_alarm("an alarm that is given up after six resets by the platform");
    "86" "After a reset from outside the newer build repeats the alarm as a first try; locally the older one never does." ["R11:A27, R26:A27"] modelled;
    "87" "An alarm set, inside alarm(), to the very time that runs is lost locally, and late by tens of seconds in production." ["R:A26, I:cloudflare/workerd#6866, I:cloudflare/cloudflare-docs#18324"] modelled;
    "88" "An alarm that runs for 15 minutes is cut off, which counts as a failure." ["S:api/global-scope.c++, S:io/worker-entrypoint.c++"] missed_bug("an alarm() that takes longer");
    "89" "A constructor can set the alarm." ["R:A22"] modelled;
    "90" "An alarm wakes an object that was evicted; the constructor runs first." ["R:EV4"] modelled;
    "91" "A delivery that overlaps another is merged, one that the stored time does not match is cancelled." ["S:io/worker-entrypoint.c++ runAlarmImpl, S:io/actor-sqlite.c++ armAlarmHandler"] modelled;
};
