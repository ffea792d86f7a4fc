//! What can be so on the way to a row: facts about a session, a moment, a run or a plan, one line each.

use super::pattern::Is::{AtLeast, Begins, Flag, Number, Word};
use super::pattern::Pattern;
use super::pattern::Place::{self, Field};
use super::since::{Asked as Request, Turn, Whose, at, only};
use crate::invariants::limits::{BACKLOG_BYTES_MAX, RUNNING_CEILING_MS};
use crate::invariants::replay::{Alarm, Session};
use crate::plan::{Action, Elicitation, Plan};
use crate::trace::Event;

/// A moment of a run: an event, and what was so just before it.
pub struct Moment<'a> {
    /// What happens.
    pub event: &'a Event,
    /// The session that it is about, if any event belonged to that before.
    pub session: Option<&'a Session>,
    /// What is run.
    pub plan: &'a Plan,
    /// The request that the event belongs to, if it belongs to one.
    pub request: Option<Request<'a>>,
    /// The client that opened the session in which the execution paused that this is about.
    pub opener: Option<&'a str>,
    /// The facts that are so just before it, a bit each.
    pub before: u128,
}

/// What must be so at a moment.
pub type Test = fn(&Moment<'_>) -> bool;

/// How a fact is seen.
#[derive(Clone, Copy)]
pub enum Seen {
    /// It is so of a session for a while.
    While(fn(&Session) -> bool),
    /// It is so of a session at such an event, if this holds as well.
    At(Pattern, Test),
    /// It is so of one of these after an event of the first kind, until one of the second.
    Since(Whose, &'static [Turn], &'static [Turn]),
    /// It is so of the whole run after such an event. For the way to a row only: what must be so at the moment that shows
    /// a row is never so by what somebody else did.
    Once(Pattern),
    /// The plan says so.
    Planned(fn(&Plan) -> bool),
}

use Seen::{At, Once, Planned, Since, While};

const BEGIN: &str = "request.begin";
const END: &str = "request.end";
const OP: Place = Field("op");

macro_rules! facts {
    ($($name:ident, $words:literal, $seen:expr;)*) => {
        /// What can be so on the way to a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fact {
            $(#[doc = $words] $name),*
        }

        impl Fact {
            /// All of them, in their order.
            pub const ALL: &[Fact] = &[$(Fact::$name),*];
        }

        const FACTS: &[(Fact, &str, Seen)] = &[$((Fact::$name, $words, $seen)),*];
    };
}

facts! {
    // Of a session, for a while.
    Rebuilt, "the object of a session is constructed again", While(|it| it.isolate.is_some() && it.incarnation > 1);
    Starting, "a session starts", While(|it| it.start_count > 0 || it.init_count > 0);
    Building, "an init of a session runs", While(|it| it.init_count > 0);
    Resident, "a session is resident", While(|it| it.runtime.is_some());
    Bare, "the object of a session lives without a runtime", While(|it| it.isolate.is_some() && it.runtime.is_none());
    Nameless, "the object of a session does not know its name", While(|it| it.isolate.is_some() && !it.is_named);
    Away, "a session is in no memory", While(|it| it.isolate.is_none() && it.incarnation > 0);
    Paused, "an execution of it waits for a person", While(|it| !it.paused.is_empty());
    Running, "a request of it has no answer yet", While(|it| !it.requests.is_empty());
    Connected, "a connection to it is open", While(|it| !it.sockets.is_empty());
    Unheard, "no connection to it is open", While(|it| it.sockets.is_empty());
    Listened, "a GET of it is open", While(|it| !it.listeners.is_empty());
    Evicted, "the cap took its runtime", While(|it| it.is_evicted);
    TwiceConnected, "two connections to it are open", While(|it| it.sockets.len() > 1);
    IdleArmed, "its alarm slot holds an idle alarm", While(|it| matches!(&it.alarm, Alarm::Armed { by, .. } if by.contains("storage.setAlarm idle")));
    Quiet, "nothing of it is live", While(|it| !it.is_live());
    AlarmRuns, "its alarm handler runs", While(|it| it.is_alarm_running);
    TearingDown, "a teardown of it runs", While(|it| it.teardown_count > 0);
    Disposing, "a disposal of it runs", While(|it| it.disposal_count > 0);
    Condemned, "it is condemned", While(|it| it.condemned_at_ms.is_some() && it.wiped_at_ms.is_none());
    Destroying, "it is being destroyed", While(|it| it.is_destroying);
    Wiped, "its storage is wiped", While(|it| it.wiped_at_ms.is_some());
    // Of a session, at a moment.
    AlarmFires, "its alarm fires", At(Pattern::platform("alarm.fired", &[]), |_| true);
    FiresEarly, "its alarm fires before its idle deadline", At(Pattern::platform("alarm.fired", &[]), |it| it.idle_ms().is_some_and(|idle| idle < it.timeout_ms()));
    FiresIdle, "its alarm fires once it has been idle for the timeout", At(Pattern::platform("alarm.fired", &[]), |it| it.idle_ms().is_some_and(|idle| idle >= it.timeout_ms()));
    FiresPastPause, "its alarm fires at the ceiling of paused sessions or later", At(Pattern::platform("alarm.fired", &[]), |it| it.idle_ms().is_some_and(|idle| idle >= it.plan.config.max_paused_session_idle_ms));
    FiresPastRunning, "its alarm fires at the ceiling of running sessions or later", At(Pattern::platform("alarm.fired", &[]), |it| it.idle_ms().is_some_and(|idle| idle >= RUNNING_CEILING_MS.max(it.timeout_ms())));
    FiresUnclocked, "its alarm fires and nobody knows its last use", At(Pattern::platform("alarm.fired", &[]), |it| it.session.is_none_or(|session| session.activity_at_ms.is_none()));
    FiresAgain, "its alarm is delivered again", At(Pattern::platform("alarm.fired", &[(Field("retry"), AtLeast(1))]), |_| true);
    Asked, "a client asks it for something", At(Pattern::history("request.begin", &[]), |_| true);
    AskedToCall, "a client calls a tool of it", At(Pattern::history("request.begin", &[(Field("op"), Word("call"))]), |_| true);
    AskedToResume, "a client resumes an execution through it", At(Pattern::history("request.begin", &[(Field("op"), Word("resume"))]), |_| true);
    AskedForStream, "a client asks it for a stream", At(Pattern::history("request.begin", &[(Field("op"), Word("stream"))]), |_| true);
    AskedToEnd, "a client ends it with DELETE", At(Pattern::history("request.begin", &[(Field("op"), Word("close"))]), |_| true);
    Touched, "it is used", At(Pattern::state("activity", &[]), |_| true);
    TouchedShortly, "it is used shortly before its idle deadline", At(Pattern::state("activity", &[]), |it| it.left_ms().is_some_and(|left| (1..=100).contains(&left)));
    TouchedAtDeadline, "it is used at its idle deadline", At(Pattern::state("activity", &[]), |it| it.left_ms() == Some(0));
    TouchedLate, "it is used after its idle deadline", At(Pattern::state("activity", &[]), |it| it.left_ms().is_some_and(|left| left < 0));
    StartBegins, "a start of it begins", At(Pattern::state("start.begin", &[]), |_| true);
    InitFailed, "an init of it fails", At(Pattern::state("init.end", &[(Field("outcome"), Word("failed"))]), |_| true);
    OverCap, "its init finds the isolate at its cap", At(Pattern::state("cap.checked", &[(Field("over"), Flag(true))]), |_| true);
    AskedToGo, "the cap asks it for its runtime", At(Pattern::state("eviction.requested", &[]), |_| true);
    Reset, "its object is reset", At(Pattern::platform("object.reset", &[]), |_| true);
    LeaseTaken, "a lease of a pending approval is taken", At(Pattern::state("lease.taken", &[]), |_| true);
    EndedInCall, "a call to it ends without an answer", At(Pattern::history("request.end", &[(Field("outcome"), Word("ended"))]), |it| it.op().is_some_and(|op| op != "stream" && op != "close"));
    SaidByPerson, "a person decided about it", At(Pattern::state("execution.resumed", &[]), |it| it.is_a_persons());
    RecordedForPerson, "a person decides about it", At(Pattern::state("approval.recorded", &[]), |it| it.is_a_persons());
    BroughtAnew, "a GET without a cursor brings its client an answer that it did not have", At(Pattern::history("request.event", &[(Field("brings"), Word("response"))]), |it| it.is_of_fresh_get() && !it.was(Fact::Had));
    // Of somebody, from one event on, until another.
    Asking, "a request of a client to it has not ended", Since(Whose::Session, &[at(Pattern::history(BEGIN, &[]))], &[at(Pattern::history(END, &[]))]);
    AlarmAlone, "its alarm runs, with no request on its way to it and no disposal", Since(Whose::Session, &[only(Pattern::platform("alarm.fired", &[]), |it| !it.was(Fact::Asking))], &[at(Pattern::platform("alarm.ended", &[])), at(Pattern::platform("object.reset", &[])), at(Pattern::platform("alarm.fired", &[])), at(Pattern::state("disposal.begin", &[])), at(Pattern::history(BEGIN, &[]))]);
    EarlyAlarm, "its alarm runs that came before its idle deadline", Since(Whose::Session, &[only(Pattern::platform("alarm.fired", &[]), |it| it.idle_ms().is_some_and(|idle| idle < it.timeout_ms()))], ALARM_OVER);
    PastRunningAlarm, "its alarm runs that came at the ceiling of running sessions or later", Since(Whose::Session, &[only(Pattern::platform("alarm.fired", &[]), |it| it.idle_ms().is_some_and(|idle| idle >= RUNNING_CEILING_MS.max(it.timeout_ms())))], ALARM_OVER);
    CapTakes, "a disposal of it for the cap runs", Since(Whose::Session, &[at(Pattern::state("disposal.begin", &[(Field("reason"), Word("cap"))]))], &[at(Pattern::state("disposal.end", &[])), at(Pattern::platform("object.reset", &[])), at(Pattern::platform("object.constructed", &[]))]);
    WasDisposed, "it was disposed and has no runtime since", Since(Whose::Session, &[at(Pattern::state("disposal.begin", &[]))], &[at(Pattern::state("runtime.installed", &[]))]);
    StartsDisposed, "a start of it runs that found it disposed", Since(Whose::Session, &[only(Pattern::state("start.begin", &[]), |it| it.was(Fact::WasDisposed))], &[at(Pattern::state("start.end", &[])), at(Pattern::platform("object.reset", &[])), at(Pattern::platform("object.constructed", &[]))]);
    Outlived, "connections to it outlived its object", Since(Whose::Session, &[only(Pattern::platform("object.constructed", &[]), |it| it.session.is_some_and(|session| !session.sockets.is_empty()))], &[at(Pattern::state("runtime.installed", &[])), at(Pattern::platform("object.constructed", &[]))]);
    WasReset, "its object was reset", Since(Whose::Session, &[at(Pattern::platform("object.reset", &[]))], &[]);
    AskedSinceReset, "a client asked it after its object was reset", Since(Whose::Request, &[only(Pattern::history(BEGIN, &[]), |it| it.was(Fact::WasReset))], &[]);
    Listening, "its client believes a stream to be open", Since(Whose::Session, &[at(Pattern::history("stream.open", &[]))], &[at(Pattern::history("stream.end", &[]))]);
    Ending, "a DELETE of it is on its way", Since(Whose::Session, &[at(Pattern::history(BEGIN, &[(OP, Word("close"))]))], &[only(Pattern::history(END, &[]), |it| it.op() == Some("close"))]);
    BrokenOff, "the server ended the client's last stream", Since(Whose::Client, &[at(Pattern::history("stream.end", &[(Field("by"), Word("server"))]))], STREAM_ANEW);
    ListenerRefused, "the client's last GET was refused", Since(Whose::Client, &[only(Pattern::history(END, &[(Field("outcome"), Word("refused"))]), |it| it.op() == Some("stream"))], STREAM_ANEW);
    Deciding, "a person's decision about it is on its way", Since(Whose::Execution, &[at(Pattern::history(BEGIN, &[(OP, Word("decide"))])), only(Pattern::history(BEGIN, &[(OP, Word("resume"))]), |it| it.is_asked_by_model())], &[only(Pattern::history(END, &[]), |it| matches!(it.op(), Some("decide" | "resume")))]);
    Expiring, "an expiry of its lease runs", Since(Whose::Execution, &[at(Pattern::log("mcp_pending_approval_lease_expire", &[]))], &[at(Pattern::state("lease.returned", &[]))]);
    MetExpiry, "a person's decision about it is on its way while an expiry of its lease runs", Since(Whose::Execution, &[only(Pattern::log("mcp_pending_approval_lease_expire", &[]), |it| it.was(Fact::Deciding)), only(Pattern::history(BEGIN, &[(OP, Word("decide"))]), |it| it.was(Fact::Expiring)), only(Pattern::history(BEGIN, &[(OP, Word("resume"))]), |it| it.was(Fact::Expiring) && it.is_asked_by_model())], &[at(Pattern::state("execution.paused", &[]))]);
    Decided, "a person's decision about it is recorded", Since(Whose::Execution, &[only(Pattern::state("approval.recorded", &[]), |it| it.is_a_persons())], &[at(Pattern::state("execution.resumed", &[]))]);
    DecisionTaken, "a waiting call took a person's decision about it", Since(Whose::Execution, &[only(Pattern::state("approval.taken", &[]), |it| it.was(Fact::Decided))], &[]);
    GoesOn, "a resumed execution of it goes on", Since(Whose::Session, &[at(Pattern::state("execution.resumed", &[]))], &[at(Pattern::state("execution.settled", &[])), at(Pattern::state("runtime.released", &[])), at(Pattern::platform("object.reset", &[]))]);
    Had, "its client has it already", Since(Whose::Message, &[at(Pattern::history("request.event", &[(Field("brings"), Word("response"))]))], &[]);
    Backlogged, "half of what may wait for its client waits in the edge", Since(Whose::Socket, &[at(Pattern::state("sse.backlog", &[(Field("bytes"), AtLeast(BACKLOG_BYTES_MAX / 2))]))], &[]);
    // Of the run, from a moment on.
    SomeCapReached, "an init finds its isolate at the cap", Once(Pattern::state("cap.checked", &[(Field("over"), Flag(true))]));
    SomeAskedToGo, "the cap asks a session for its runtime", Once(Pattern::state("eviction.requested", &[]));
    SomePaused, "an execution waits for a person", Once(Pattern::state("execution.paused", &[]));
    SomeLeased, "a lease of a pending approval is taken", Once(Pattern::state("lease.taken", &[]));
    SomeDecided, "a decision about an execution is recorded", Once(Pattern::state("approval.recorded", &[]));
    SomeResuming, "a client resumes an execution", Once(Pattern::history("request.begin", &[(Field("op"), Word("resume"))]));
    SomeReset, "an object is reset", Once(Pattern::platform("object.reset", &[]));
    SomeFault, "a planned fault happens", Once(Pattern::fault("fault.delivered"));
    SomeDisposed, "a runtime is disposed", Once(Pattern::state("disposal.begin", &[]));
    SomeCondemned, "a session is condemned", Once(Pattern::state("condemned", &[]));
    SomeWiped, "the storage of a session is wiped", Once(Pattern::platform("storage.wiped", &[]));
    SomeQueued, "a build waits for a permit", Once(Pattern::state("permit.queued", &[]));
    SomeListening, "a client holds a stream", Once(Pattern::history("stream.open", &[]));
    SomeRefused, "a request is refused", Once(Pattern::history("request.end", &[(Field("outcome"), Word("refused"))]));
    SomeTurnedAway, "a request is refused for what its session or its caller is", Once(Pattern::history("request.end", &[(Field("outcome"), Word("refused")), (Field("status"), AtLeast(401))]));
    SomeFailed, "an init fails", Once(Pattern::state("init.end", &[(Field("outcome"), Word("failed"))]));
    SomeUndelivered, "an answer is stored as undelivered", Once(Pattern::platform("storage.put", &[(Field("key"), Begins("__mcp_undelivered_stream__:"))]));
    SomeBroken, "the server ends a client's stream", Once(Pattern::history("stream.end", &[(Field("by"), Word("server"))]));
    SomeDenied, "a request is refused with 403", Once(Pattern::history("request.end", &[(Field("status"), Number(403))]));
    // Of the plan.
    PlansFaults, "the plan has faults", Planned(|plan| !plan.faults.is_empty());
    PlansResumes, "the plan has somebody who resumes an execution", Planned(|plan| actions(plan).any(|action| matches!(action, Action::Resume { .. })) || calls(plan, "resumeExecutionForModel"));
    PlansEnds, "the plan has somebody who ends a session", Planned(|plan| actions(plan).any(|action| matches!(action, Action::Close {})) || calls(plan, "_cf_scheduleDestroy"));
    PlansStreams, "the plan has a client that holds a stream", Planned(|plan| actions(plan).any(|action| matches!(action, Action::Stream {})) || plan.clients.iter().any(|client| client.persona.is_some()));
    PlansPersonas, "the plan has a client that behaves like a real one", Planned(|plan| plan.clients.iter().any(|client| client.persona.is_some()));
    PlansNameless, "the plan has an object without a name", Planned(|plan| plan.storage.iter().any(|object| !object.named));
    PlansCrowd, "the plan has more sessions than the cap allows runtimes", Planned(|plan| session_count(plan) > plan.config.resident_runtime_soft_cap as usize);
    PlansMany, "the plan has more than one session", Planned(|plan| session_count(plan) > 1);
}

/// What ends a delivery of an alarm.
const ALARM_OVER: &[Turn] = &[
    at(Pattern::platform("alarm.ended", &[])),
    at(Pattern::platform("object.reset", &[])),
    at(Pattern::platform("alarm.fired", &[])),
];
/// A client asks for its stream again, or opens a session whose stream is another one.
const STREAM_ANEW: &[Turn] =
    &[at(Pattern::history(BEGIN, &[(OP, Word("stream"))])), at(Pattern::history(BEGIN, &[(OP, Word("open"))]))];

fn actions(plan: &Plan) -> impl Iterator<Item = &Action> {
    plan.clients.iter().flat_map(|client| client.steps.iter().map(|step| &step.action))
}

fn calls(plan: &Plan, method: &str) -> bool {
    plan.callers.iter().flat_map(|caller| &caller.calls).any(|call| call.method == method)
}

fn session_count(plan: &Plan) -> usize {
    plan.clients.len() + plan.storage.len()
}

impl Moment<'_> {
    /// What the request is for that the event belongs to, if it belongs to one.
    pub fn op(&self) -> Option<&str> {
        self.request?.begin.text("op")
    }

    /// Whether that was so just before.
    pub fn was(&self, fact: Fact) -> bool {
        self.before & fact.bit() != 0
    }

    /// Whether what happens to an execution is a person's doing, and not the end of its window: that declines as well.
    fn is_a_persons(&self) -> bool {
        !self.was(Fact::Expiring) && (self.was(Fact::Deciding) || self.was(Fact::Decided))
    }

    /// Whether who resumes the execution decides about it, as its person is asked by the model: in the browser a resume
    /// only waits for the decision.
    fn is_asked_by_model(&self) -> bool {
        let opener = self.plan.clients.iter().find(|client| Some(&*client.name) == self.opener);
        opener.is_some_and(|client| client.elicitation == Elicitation::Model)
    }

    /// Whether the event belongs to a GET that names no event to go on from.
    fn is_of_fresh_get(&self) -> bool {
        let is_fresh = |it: Request<'_>| it.begin.text("method") == Some("GET") && it.begin.text("cursor").is_none();
        self.request.is_some_and(is_fresh)
    }

    /// How long the session has been idle, if anybody knows.
    pub fn idle_ms(&self) -> Option<u64> {
        Some(self.event.at_ms.saturating_sub(self.session?.activity_at_ms?))
    }

    /// How long it is until the idle deadline of a resident session; negative after it.
    fn left_ms(&self) -> Option<i64> {
        let from_ms = self.session?.idle_from_ms()?;
        Some((from_ms + self.timeout_ms()) as i64 - self.event.at_ms as i64)
    }

    fn timeout_ms(&self) -> u64 {
        self.plan.config.session_timeout_ms
    }
}

impl Fact {
    /// It as a bit of a set.
    pub fn bit(self) -> u128 {
        1 << (self as u32)
    }

    /// It in words: what is missing where it is not so.
    pub fn words(self) -> &'static str {
        FACTS[self as usize].1
    }

    /// The event that it is seen by at once, if it is seen by one.
    pub fn event(self) -> Option<Pattern> {
        match self.seen() {
            At(event, _) | Once(event) => Some(event),
            Since(..) | While(_) | Planned(_) => None,
        }
    }

    /// How it is seen.
    pub fn seen(self) -> Seen {
        FACTS[self as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_fact_has_its_bit_and_words() {
        assert!(FACTS.len() <= 128, "{} facts do not fit into one set", FACTS.len());
        let bits = Fact::ALL.iter().fold(0, |bits, fact| bits | fact.bit());
        assert_eq!(bits.count_ones() as usize, FACTS.len());
        for (at, (fact, words, _)) in FACTS.iter().enumerate() {
            assert_eq!((*fact as usize, fact.words()), (at, *words));
            assert!(!words.ends_with('.'), "{words}");
        }
    }

    #[test]
    fn every_fact_is_on_the_way_to_some_row() {
        let used: BTreeSet<Fact> = crate::reach::rows().iter().flat_map(|row| row.conditions()).collect();
        let idle: Vec<Fact> = Fact::ALL.iter().copied().filter(|fact| !used.contains(fact)).collect();
        // Those that lead to others only.
        assert_eq!(idle, [Fact::Asking, Fact::WasDisposed, Fact::WasReset, Fact::Deciding, Fact::Expiring, Fact::Had]);
    }

    #[test]
    fn what_must_be_so_at_a_moment_is_nothing_that_happened_to_anybody_in_the_run() {
        for row in crate::reach::rows() {
            let of_run = row.when.iter().find(|fact| matches!(fact.seen(), Once(_) | Planned(_)));
            assert_eq!(of_run, None, "{}", row.name);
        }
    }
}
