//! Situations that scenarios are about: two things that meet, a thing that comes at its last moment, a thing that is lost.
//!
//! A scenario names the rows that it is about, and must light them.

use super::Fact::{
    AlarmRuns, Asked, AskedForStream, AskedSinceReset, AskedToCall, AskedToEnd, AskedToGo, AskedToResume, Away,
    Backlogged, Bare, BrokenOff, BroughtAnew, Building, CapTakes, Condemned, Connected, Decided, Destroying, Disposing,
    Ending, Evicted, FiresEarly, GoesOn, IdleArmed, Listened, Listening, MetExpiry, Outlived, OverCap, Paused,
    PlansCrowd, PlansEnds, PlansFaults, PlansMany, PlansResumes, PlansStreams, Rebuilt, RecordedForPerson, Reset,
    Resident, Running, SaidByPerson, SomeAskedToGo, SomeCapReached, SomeCondemned, SomeDenied, SomeDisposed, SomeFault,
    SomeLeased, SomeListening, SomePaused, SomeQueued, SomeRefused, SomeResuming, SomeUndelivered, Starting,
    StartsDisposed, TearingDown, Touched, TouchedAtDeadline, TouchedLate, TouchedShortly, TwiceConnected, Unheard,
    Wiped,
};
use super::pattern::Is::{AtLeast, Begins, Flag, Number, Word};
use super::pattern::Place::{Answer, Field};
use super::{Pattern, Place, Sometimes};

const BEGIN: &str = "request.begin";
const END: &str = "request.end";
const OP: Place = Field("op");
const SERVED: &[(Place, super::Is)] = &[(Field("outcome"), Word("answered")), (Field("status"), Number(200))];

const fn row(name: &'static str, source: &'static str, claim: &'static str, shown_by: &'static [Pattern]) -> Sometimes {
    Sometimes::events(name, source, claim, shown_by)
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    // Idleness.
    row("situation/touch-before-deadline", "§2.16", "a session is used in the last 100 ms before its idle deadline", &[Pattern::state("activity", &[])]).via(&[Resident]).when(&[TouchedShortly]),
    row("situation/touch-at-deadline", "§2.16", "a session is used in the millisecond of its idle deadline", &[Pattern::state("activity", &[])]).via(&[Resident]).when(&[TouchedAtDeadline]),
    row("situation/touch-after-deadline", "§2.16", "a resident session is used after its idle deadline and before its alarm comes", &[Pattern::state("activity", &[])]).via(&[Resident]).when(&[TouchedLate]),
    row("situation/touch-during-alarm", "§2.14", "a resident session is used while its alarm handler runs", &[Pattern::state("activity", &[])]).via(&[Touched]).when(&[Resident, AlarmRuns]),
    row("situation/stream-held-while-idle", "§2.14", "a session is disposed while its client believes its stream to be open", &[Pattern::state("disposal.begin", &[(Field("reason"), Word("idle"))])]).via(&[PlansStreams, SomeListening]).when(&[Resident, Listening]),
    row("situation/stream-seen-by-alarm", "§2.14", "an alarm sees an open stream", &[Pattern::platform("alarm.fired", &[])]).via(&[PlansStreams]).when(&[Resident, Listened]),
    row("situation/heartbeat-over-idle-alarm", "§2.16", "the framework's heartbeat takes the slot of the idle alarm", &[Pattern::platform("alarm.set", &[(Field("by"), Begins("sched · storage.setAlarm heartbeat"))])]).via(&[Touched]).when(&[Resident, IdleArmed]),
    row("situation/idle-alarm-rearmed", "§2.16", "the idle alarm is armed again behind the framework", &[Pattern::platform("alarm.set", &[(Field("by"), Begins("rearm ·"))])]).when(&[Resident]),
    row("situation/call-outlasts-timeout", "§2.14", "an alarm meets a call that runs longer than the timeout", &[Pattern::log("mcp_session_running_lease_extension", &[(Field("runningExecutionCount"), AtLeast(1))])]).via(&[Resident, Running]),
    // Residency.
    row("situation/cap-reached", "§2.10", "an init finds its isolate at the cap", &[Pattern::state("cap.checked", &[(Field("over"), Flag(true))])]).via(&[PlansCrowd, Building]),
    row("situation/cap-eviction", "§2.11", "the cap takes a runtime", &[Pattern::state("disposal.begin", &[(Field("reason"), Word("cap"))])]).via(&[PlansCrowd, SomeCapReached, AskedToGo]),
    row("situation/evicted-served-again", "§2.11", "a session that the cap took the runtime of starts again", &[Pattern::state("start.begin", &[])]).via(&[PlansCrowd, SomeAskedToGo]).when(&[Bare, Evicted]),
    row("situation/cap-overflow", "§2.10", "an init over the cap finds nothing to evict", &[Pattern::state("cap.overflow", &[])]).via(&[PlansCrowd, OverCap]),
    row("situation/eviction-passes-stream", "§2.11", "the cap passes over a session with a stream", &[Pattern::state("eviction.passed-over", &[(Field("reason"), Word("stream"))])]).via(&[PlansCrowd, PlansStreams, SomeCapReached]),
    row("situation/eviction-passes-paused", "§2.11", "the cap passes over a paused session", &[Pattern::state("eviction.passed-over", &[(Field("reason"), Word("paused"))])]).via(&[PlansCrowd, SomePaused, SomeCapReached]),
    row("situation/eviction-meets-busy", "§2.11", "the cap asks a session that answers a request", &[Pattern::state("eviction.requested", &[])]).via(&[PlansCrowd, SomeCapReached]).when(&[Running]),
    row("situation/eviction-meets-request", "§2.11", "a client asks something of a session that the cap takes the runtime of", &[Pattern::history(BEGIN, &[])]).via(&[PlansCrowd, SomeAskedToGo]).when(&[CapTakes]),
    row("situation/eviction-request-lost", "§2.10", "a request of the cap is lost", &[Pattern::log("mcp_session_cap_eviction_request_failed", &[])]).via(&[PlansCrowd, PlansFaults, SomeAskedToGo, SomeFault]),
    row("situation/two-builds-at-once", "§1.4", "two builds of an isolate are in flight", &[Pattern::state("reservation.taken", &[(Field("in_flight"), AtLeast(2))])]).via(&[PlansMany, Building]),
    row("situation/build-queued", "§2.27", "a build waits for a permit", &[Pattern::state("permit.queued", &[])]).via(&[PlansMany, Building]),
    row("situation/build-queue-timeout", "§2.27", "a build waits for a permit in vain and goes on without", &[Pattern::state("permit.waited", &[(Field("timed_out"), Flag(true))])]).via(&[PlansMany, SomeQueued]),
    row("situation/build-queue-left", "§2.27", "a build leaves the queue", &[Pattern::state("permit.queue-left", &[])]).via(&[PlansMany, PlansFaults, SomeQueued]),
    // Restore.
    row("situation/start-joined", "§2.6", "a start joins one in flight", &[Pattern::state("start.joined", &[])]).via(&[Starting, Asked]),
    row("situation/start-joined-after-disposal", "§2.6", "a start of a disposed session is joined", &[Pattern::state("start.joined", &[])]).via(&[Resident, SomeDisposed]).when(&[StartsDisposed]),
    row("situation/call-meets-cold", "§2.17", "a call comes to a session without a runtime", &[Pattern::history(BEGIN, &[(OP, Word("call"))])]).via(&[AskedToCall]).when(&[Bare]),
    row("situation/resume-meets-cold", "§2.23", "a resume comes to a session without a runtime", &[Pattern::history(BEGIN, &[(OP, Word("resume"))])]).via(&[PlansResumes, AskedToResume]).when(&[Bare]),
    row("situation/request-meets-lost-object", "§2.17", "a request comes to a session whose object is in no memory", &[Pattern::history(BEGIN, &[])]).via(&[PlansFaults, SomeFault]).when(&[Away]),
    row("situation/cold-start-keeps-streams", "§2.6", "a cold start finds connections that outlived its object", &[Pattern::state("start.begin", &[])]).via(&[Rebuilt, Connected]).when(&[Bare, Connected, Outlived]),
    row("situation/warm-restart-closes-streams", "§2.6", "a warm restart finds connections", &[Pattern::state("start.begin", &[])]).via(&[Resident]).when(&[Resident, Connected]),
    row("situation/start-fails", "§2.6", "a start fails", &[Pattern::state("start.end", &[(Field("outcome"), Word("failed"))])]).via(&[Starting, SomeFault]),
    row("situation/init-interrupted", "§2.28", "an init is interrupted", &[Pattern::state("init.end", &[(Field("outcome"), Word("interrupted"))])]).via(&[PlansFaults, Building, SomeFault]),
    row("situation/init-fails", "§2.8", "an init fails", &[Pattern::state("init.end", &[(Field("outcome"), Word("failed"))])]).via(&[Building, SomeFault]),
    row("situation/foreign-token-meets-record", "§2.9", "a token of one organisation meets the record of another", &[Pattern::state("meta.foreign", &[])]).via(&[PlansMany]),
    // Disposal.
    row("situation/request-during-disposal", "§2.13", "a request comes while its session is disposed", &[Pattern::history(BEGIN, &[])]).via(&[Resident, Disposing]).when(&[Disposing]),
    row("situation/start-during-disposal", "§2.12", "a start begins while its session is disposed", &[Pattern::state("start.begin", &[])]).via(&[Resident, Disposing]).when(&[Disposing]),
    row("situation/start-during-teardown", "§2.12", "a start begins while a teardown runs", &[Pattern::state("start.begin", &[])]).via(&[Resident, TearingDown]).when(&[TearingDown]),
    row("situation/two-disposals-at-once", "§2.12", "a disposal begins while one runs", &[Pattern::state("disposal.begin", &[])]).via(&[Resident, Disposing]).when(&[Disposing]),
    row("situation/disposal-interrupted", "§2.28", "a disposal is interrupted", &[Pattern::state("disposal.end", &[(Field("outcome"), Word("interrupted"))])]).via(&[PlansFaults, Disposing, SomeFault]),
    row("situation/disposal-meets-running", "§2.13", "a session is disposed while a request of it has no answer", &[Pattern::state("disposal.begin", &[])]).via(&[Resident]).when(&[Running]),
    row("situation/execution-outlives-runtime", "§2.26", "a session is disposed while an execution of it waits", &[Pattern::state("disposal.begin", &[])]).via(&[Resident, SomePaused]).when(&[Paused]),
    // Deploys and resets.
    row("situation/reset-meets-request", "§2.28", "an object is reset while a request of it has no answer", &[Pattern::platform("object.reset", &[])]).via(&[PlansFaults, Running]).when(&[Running]),
    row("situation/reset-meets-paused", "§2.28", "an object is reset while an execution of it waits", &[Pattern::platform("object.reset", &[])]).via(&[PlansFaults, SomePaused]).when(&[Paused]),
    row("situation/reset-meets-stream", "§2.28", "an object is reset under an open connection", &[Pattern::platform("object.reset", &[])]).via(&[PlansFaults, Connected]).when(&[Connected]),
    row("situation/reset-meets-alarm", "§2.14", "an object is reset while its alarm handler runs", &[Pattern::platform("object.reset", &[])]).via(&[PlansFaults, FiresEarly]).when(&[AlarmRuns]),
    row("situation/reset-meets-teardown", "§2.28", "an object is reset while a teardown of it runs", &[Pattern::platform("object.reset", &[])]).via(&[PlansFaults, TearingDown]).when(&[TearingDown]),
    row("situation/served-after-reset", "§2.17", "a session whose object was reset serves again", &[Pattern::history(END, SERVED)]).via(&[PlansFaults, Reset]).when(&[AskedSinceReset]),
    // Approvals.
    row("situation/approval-accepted", "§2.22", "a person accepts", &[Pattern::state("execution.resumed", &[(Field("action"), Word("accept"))])]).via(&[SomePaused, SomeResuming]).when(&[SaidByPerson]),
    row("situation/approval-declined", "§2.22", "a person declines", &[Pattern::state("execution.resumed", &[(Field("action"), Word("decline"))])]).via(&[SomePaused, SomeResuming]).when(&[SaidByPerson]),
    row("situation/approval-cancelled", "§2.22", "a person cancels", &[Pattern::state("execution.resumed", &[(Field("action"), Word("cancel"))])]).via(&[SomePaused, SomeResuming]).when(&[SaidByPerson]),
    row("situation/decision-recorded", "§2.22", "a person's decision is recorded", &[Pattern::state("approval.recorded", &[])]).via(&[SomePaused]).when(&[RecordedForPerson]),
    row("situation/decision-taken", "§2.22", "a waiting call takes a decision", &[Pattern::state("approval.taken", &[])]).via(&[SomePaused]).when(&[Decided]),
    row("situation/lease-expires", "§2.21", "a lease of a pending approval expires", &[Pattern::state("lease.returned", &[(Field("by"), Word("expiry"))])]).via(&[SomePaused, SomeLeased]),
    row("situation/decision-meets-expiry", "§2.21", "a lease expires while a person's decision is on its way", &[Pattern::state("lease.returned", &[(Field("by"), Word("expiry"))])]).via(&[SomePaused, SomeLeased]).when(&[MetExpiry]),
    row("situation/lease-ends-with-runtime", "§2.21", "a lease goes with its runtime", &[Pattern::state("lease.returned", &[(Field("by"), Word("teardown"))])]).via(&[SomePaused, SomeLeased]).when(&[TearingDown]),
    row("situation/lease-ends-by-resume", "§2.21", "a resume gives a lease back", &[Pattern::state("lease.returned", &[(Field("by"), Word("resume"))])]).via(&[SomeLeased, SomeResuming]),
    row("situation/resumed-elsewhere", "§2.23", "an execution is resumed through another session", &[Pattern::span("McpSessionDO.resumeExecutionForModel", &[])]).via(&[PlansResumes, PlansMany, SomePaused, SomeResuming]),
    row("situation/resumed-twice", "§2.23", "an execution is resumed twice", &[Pattern::span("mcp.execute.resume", &[(Place::Attribute("mcp.execute.resume.replayed"), Flag(true))]), Pattern::span("mcp.execute.resume", &[(Place::Attribute("mcp.execute.resume.joined_inflight"), Flag(true))]), Pattern::history(END, &[(Answer("/structuredContent/status"), Word("execution_already_settled"))])]).via(&[PlansResumes, SomePaused, SomeResuming]),
    row("situation/pauses-again", "§2.26", "a resumed execution pauses again", &[Pattern::state("execution.paused", &[])]).via(&[SomePaused]).when(&[GoesOn]),
    // Streams.
    row("situation/answer-undelivered", "§2.19", "an answer is stored and nobody takes it", &[Pattern::platform("storage.put", &[(Field("key"), Begins("__mcp_undelivered_stream__:"))])]).via(&[Running]).when(&[Unheard]),
    row("situation/undelivered-fetched", "§2.19", "a fresh GET brings an answer that its client did not have", &[Pattern::history("request.event", &[(Field("brings"), Word("response"))])]).via(&[PlansStreams, SomeUndelivered, AskedForStream]).when(&[BroughtAnew]),
    row("situation/replay-bounded", "§2.19", "a fresh GET is sent a part of what was not delivered", &[Pattern::state("replay.bounded", &[])]).via(&[SomeUndelivered]),
    row("situation/stream-superseded", "§2.19", "a stream that is resumed takes the place of another connection", &[Pattern::platform("socket.closed", &[(Field("reason"), Word("Superseded by resumed stream"))])]).via(&[PlansStreams, TwiceConnected]),
    row("situation/two-listeners", "§2.19", "a client opens a stream beside another", &[Pattern::platform("socket.opened", &[(Field("method"), Word("GET"))])]).via(&[PlansStreams]).when(&[Listened]),
    row("situation/stream-resumed", "§2.19", "a client asks for what follows an event that it had", &[Pattern::history(BEGIN, &[(Field("cursor"), Begins(""))])]).via(&[PlansStreams]),
    row("situation/client-not-draining", "§2.2", "a client that does not read is cut off", &[Pattern::platform("socket.closed", &[(Field("code"), Number(1013))])]).via(&[PlansStreams, Connected]).when(&[Backlogged]),
    row("situation/stream-rotated", "§2.3", "a stream that is too old is rotated", &[Pattern::log("sse_max_age_close", &[])]).via(&[PlansStreams, SomeListening]),
    row("situation/stream-reopened", "§2.3", "a client opens its stream again when the server ended it", &[Pattern::history(BEGIN, &[(OP, Word("stream"))])]).via(&[PlansStreams, SomeListening]).when(&[BrokenOff]),
    // The end of sessions.
    row("situation/delete-accepted", "§2.4", "a client ends its session", &[Pattern::state("condemned", &[])]).via(&[PlansEnds, AskedToEnd]).when(&[Ending]),
    row("situation/request-meets-condemned", "§2.25", "a request comes to a condemned session", &[Pattern::history(BEGIN, &[])]).via(&[PlansEnds, Condemned]).when(&[Condemned]),
    row("situation/delete-repeated", "§2.25", "a client ends a condemned session once more", &[Pattern::history(BEGIN, &[(OP, Word("close"))])]).via(&[PlansEnds, Condemned]).when(&[Condemned]),
    row("situation/request-during-destroy", "§2.25", "a request comes while its session is destroyed", &[Pattern::history(BEGIN, &[])]).via(&[PlansEnds, Condemned, Destroying]).when(&[Destroying]),
    row("situation/request-meets-wiped", "§2.25", "a request comes to a session whose storage is gone", &[Pattern::history(BEGIN, &[])]).via(&[PlansEnds, Wiped]).when(&[Wiped]),
    row("situation/condemned-while-running", "§2.25", "a session is condemned while a request of it has no answer", &[Pattern::state("condemned", &[])]).via(&[PlansEnds, Running]).when(&[Running]),
    row("situation/condemned-while-paused", "§2.25", "a session is condemned while an execution of it waits", &[Pattern::state("condemned", &[])]).via(&[PlansEnds, SomePaused]).when(&[Paused]),
    row("situation/condemned-while-cold", "§2.25", "a session without a runtime is condemned", &[Pattern::state("condemned", &[])]).via(&[PlansEnds, Bare]).when(&[Bare]),
    // Identity.
    row("situation/foreign-caller", "§2.17", "somebody else asks something of a session and is refused", &[Pattern::history(END, &[(Answer("/code"), Number(-32003))])]).via(&[PlansMany, SomeRefused, SomeDenied]),
    row("situation/access-revoked", "§2.1", "a revoked bearer condemns its session", &[Pattern::history(END, &[(Field("status"), Number(403)), (Answer("/code"), Number(-32001))])]).via(&[SomeCondemned]).when(&[Condemned]),
];
