//! Branches of the alarm policy.

use super::Fact::{
    self, AlarmAlone, AlarmFires, AlarmRuns, Away, Bare, Condemned, Connected, EarlyAlarm, FiresAgain, FiresEarly,
    FiresIdle, FiresPastPause, FiresPastRunning, FiresUnclocked, LeaseTaken, Nameless, PastRunningAlarm, Paused,
    PlansEnds, PlansNameless, Quiet, Resident, Running, SomeFault,
};
use super::pattern::Is::{AtLeast, Below, Number, Word};
use super::pattern::Place::Field;
use super::{Pattern, Sometimes};

const LOG_DISPOSE: &str = "mcp_session_idle_runtime_dispose";
const LOG_PAUSED: &str = "mcp_session_paused_lease_extension";
const LOG_RUNNING: &str = "mcp_session_running_lease_extension";

const fn row(name: &'static str, claim: &'static str, shown_by: &'static [Pattern], via: &'static [Fact]) -> Sometimes {
    Sometimes::events(name, "§2.14", claim, shown_by).via(via)
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    Sometimes::events("alarm/unaddressable", "§2.15", "an alarm of an object that no name leads to cleans up and ends", &[Pattern::log("mcp_session_unaddressable_alarm_cleanup", &[])]).via(&[PlansNameless, Nameless, AlarmFires]),
    row("alarm/name-from-storage", "an alarm finds the name of its object in storage and goes on", &[Pattern::state("disposal.begin", &[]), Pattern::log(LOG_PAUSED, &[]), Pattern::log(LOG_RUNNING, &[]), Pattern::state("start.begin", &[])], &[Nameless]).when(&[AlarmRuns, Nameless]),
    row("alarm/activity-unknown", "an alarm of a session whose last use nobody knows counts as within the timeout", &[Pattern::platform("alarm.fired", &[])], &[]).when(&[FiresUnclocked]),
    row("alarm/within-timeout", "an alarm within the timeout is the framework's", &[Pattern::platform("alarm.fired", &[])], &[Resident]).when(&[FiresEarly]),
    row("alarm/within-timeout-cold", "an alarm within the timeout builds a whole runtime for a cold session", &[Pattern::state("start.begin", &[])], &[Away]).when(&[AlarmAlone]),
    row("alarm/within-timeout-condemned", "the alarm of a condemned session destroys it", &[Pattern::state("destroy.begin", &[])], &[PlansEnds, Condemned, FiresEarly]).when(&[Condemned, EarlyAlarm]),
    row("alarm/condemned-idle", "the alarm of a condemned session that counts as idle destroys it", &[Pattern::platform("alarm.fired", &[])], &[PlansEnds]).when(&[Condemned, FiresIdle]),
    row("alarm/extend-paused", "a paused session is kept for a whole lease", &[Pattern::log(LOG_PAUSED, &[(Field("leaseMs"), Number(240_000))])], &[Resident, Paused, FiresIdle]),
    row("alarm/extend-paused-remainder", "a paused session is kept for what is left up to its ceiling", &[Pattern::log(LOG_PAUSED, &[(Field("leaseMs"), Below(240_000))])], &[Resident, Paused, FiresIdle]),
    row("alarm/extend-running", "running work keeps a session for a lease", &[Pattern::log(LOG_RUNNING, &[(Field("runningExecutionCount"), AtLeast(1)), (Field("leaseMs"), Number(240_000))])], &[Resident, Running, FiresIdle]),
    row("alarm/extend-stream", "an open stream alone keeps a session for a lease", &[Pattern::log(LOG_RUNNING, &[(Field("runningExecutionCount"), Number(0)), (Field("activeStreamCount"), AtLeast(1)), (Field("leaseMs"), Number(240_000))])], &[Resident, Connected, FiresIdle]),
    row("alarm/extend-running-and-stream", "running work and a stream keep a session", &[Pattern::log(LOG_RUNNING, &[(Field("runningExecutionCount"), AtLeast(1)), (Field("activeStreamCount"), AtLeast(1))])], &[Resident, Connected, Running, FiresIdle]),
    row("alarm/extend-running-remainder", "running work or a stream keeps a session for what is left up to the ceiling", &[Pattern::log(LOG_RUNNING, &[(Field("leaseMs"), Below(240_000))])], &[Resident, Connected, FiresIdle]),
    row("alarm/dispose-quiet", "a session with nothing live is disposed", &[Pattern::log(LOG_DISPOSE, &[(Field("reason"), Word("idle")), (Field("pausedExecutionCount"), Number(0)), (Field("activeStreamCount"), Number(0))])], &[Resident, Quiet, FiresIdle]),
    row("alarm/dispose-paused", "a session that is paused beyond its ceiling is disposed", &[Pattern::log(LOG_DISPOSE, &[(Field("reason"), Word("idle")), (Field("pausedExecutionCount"), AtLeast(1))])], &[Resident, Paused, FiresPastPause]),
    row("alarm/dispose-paused-with-stream", "a stream does not keep a session that is paused beyond its ceiling", &[Pattern::log(LOG_DISPOSE, &[(Field("reason"), Word("idle")), (Field("pausedExecutionCount"), AtLeast(1)), (Field("activeStreamCount"), AtLeast(1))])], &[Resident, Paused, Connected, FiresPastPause]),
    row("alarm/dispose-running", "running work beyond the ceiling does not keep a session", &[Pattern::state("disposal.begin", &[(Field("reason"), Word("idle"))])], &[Resident]).when(&[Running, PastRunningAlarm]),
    row("alarm/dispose-stream", "a stream beyond the ceiling does not keep a session", &[Pattern::log(LOG_DISPOSE, &[(Field("reason"), Word("idle")), (Field("pausedExecutionCount"), Number(0)), (Field("activeStreamCount"), AtLeast(1))])], &[Resident, Connected, FiresPastRunning]),
    row("alarm/dispose-cold", "an idle alarm disposes where nothing is resident", &[Pattern::state("disposal.begin", &[(Field("reason"), Word("idle"))])], &[]).when(&[AlarmRuns, Bare]),
    row("alarm/fails", "an alarm handler fails and is delivered again", &[Pattern::platform("alarm.fired", &[])], &[AlarmRuns, SomeFault]).when(&[FiresAgain]),
    row("alarm/unaddressable-with-lease", "an alarm of an object that no name leads to meets a paused lease", &[Pattern::log("mcp_session_unaddressable_alarm_cleanup", &[])], &[PlansNameless, Nameless, LeaseTaken]).when(&[Paused]),
];
