//! Historical defects as switches, off by default: they prove that the checks can fail, and replay history.

/// A defect that can be switched on. One variant, one site in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// The idle alarm is not re-armed after the framework's scheduler deleted it.
    IdleAlarmNotRearmed,
    /// The idle alarm destroys the session instead of disposing its runtime.
    IdleAlarmDestroys,
    /// The idle alarm deletes `session-meta`.
    IdleAlarmDeletesMeta,
    /// Concurrent starts are not joined: each builds a runtime.
    StartWithoutSingleFlight,
    /// A connect without a usable transport returns silently and leaves its stream open.
    SilentConnectWithoutTransport,
    /// Teardown clears `initialized` only after its closes.
    InitializedClearedLate,
    /// A lease takes its keep-alive reference after it marked activity. As long as the idle alarm is re-armed, no client
    /// can tell: only the alarm slot shows it.
    KeepAliveAfterClock,
    /// A pause that is past its ceiling counts as running work.
    PauseRunsOn,
    /// The log line of a paused lease takes the session id from the getter that throws. It takes a session that pauses
    /// and then has its name in storage only, which no plan brings about.
    LeaseLogThrows,
    /// The negotiated capability is not carried over when the identity is resolved again. The model client has none.
    AppsCapabilityForgotten,
    /// An expiry resumes the engine although a tool call waits to do so. Harmless since a resume can be repeated, and
    /// since a waiter is gone by then, unless it is held where it begins to wait.
    ExpiryIgnoresWaiter,
    /// Finishing a resume without a lease deletes the directory entry all the same.
    ForeignEntryDeleted,
    /// The directory's class cannot be called by RPC.
    DirectoryWithoutRpc,
    /// Execution ids are counted from 1 in each engine.
    CountedExecutionIds,
    /// An engine that is asked to resume the same pause again knows nothing of it.
    ResumeNotIdempotent,
    /// An alarm that finds a condemned session idle extends or disposes it, and the wipe never comes. Found here.
    CondemnedSessionKept,
    /// A restore in an incarnation that a cold alarm constructed throws for want of its name. Found here.
    NamelessRestoreFails,
    /// A failure in the handler of a POST or GET, for which nobody waits, leaves its client waiting. Found here.
    FailedHandlerUnanswered,
    /// The cap check counts resident runtimes only.
    CapOnResidentsOnly,
    /// Time passes between the cap check and the reservation.
    AdmissionSuspends,
    /// The cold-build reservation is given back around the build only.
    ReservationReturnedAtBuild,
    /// The cold-build reservation is given back on failure only.
    ReservationReturnedOnFailure,
    /// A cap victim is torn down in the context of the session that wants its place.
    EvictedInForeignContext,
    /// An init awaits the eviction that it asked for.
    EvictionAwaited,
    /// An eviction request leaves no mark on its candidate.
    EvictionNotMarked,
    /// A candidate that was asked once is passed over for ever.
    GraceWithoutEnd,
    /// A failed eviction request removes the candidate's registry entry.
    EntryRemovedOnFailure,
    /// Live streams do not count when a cap victim is picked and looked at again.
    StreamsIgnoredByEviction,
    /// The most recently used session is the cap victim.
    MostRecentEvicted,
    /// A teardown leaves the registry entry behind.
    EntryLeftBehind,
    /// A disposal span reads the gauge before the release.
    GaugeReadBeforeRelease,
    /// Teardowns are not shared: each caller runs one.
    DisposalNotShared,
    /// A teardown can be interrupted.
    TeardownInterruptible,
    /// A rejected close of the server ends the teardown.
    CloseRejectionFatal,
    /// Teardown drops the engine before the server is closed.
    EngineDroppedEarly,
    /// A condemned session that is evicted for the cap loses the alarm that was to wipe it. Found here.
    CondemnedSessionEvicted,
    /// A build permit that is granted to a start inside a section never reaches it. Found here.
    PermitGrantLost,
    /// The registry entry and the place of an object that was reset stay for the life of the isolate. Found here.
    DeadSessionRegistered,
    /// A connect that finds no runtime is refused, although its session lives. Found here.
    ConnectWithoutRuntime,
    /// What a build held when its object was reset stays taken for the life of the isolate. Found here.
    LostHoldingsKept,
    /// A request that meets a server in its close is handed to the transport of that server. Found here.
    TransportOutlivesServer,
    /// A disposal deletes the alarm of a session that is condemned meanwhile. Found here.
    CondemnedWhileDisposed,
    /// A condemned session passes its owner check until it is wiped.
    DestroyUngated,
    /// The bridge of a POST acknowledges a delivery when its writer is closed.
    PostAcknowledges,
    /// A delivery is acknowledged when its last frame is queued.
    AcknowledgedOnEnqueue,
    /// A GET with a cursor replays other undelivered streams too.
    CursorReplaysOthers,
    /// A new standalone listener closes those that are there.
    ListenerSupersedes,
    /// The stream of a call begins without an event id.
    NoPrimingEvent,
    /// An event that is too large to be stored fails before it is written.
    OversizePutFatal,
    /// A stream over its limits loses its newest event.
    NewestTrimmed,
    /// The backlog of a bridge has no limit.
    BacklogUnbounded,
    /// The answer to a POST is rotated at the age of a listener.
    MaxAgeCutsPosts,
    /// A connect comes back when the answer is out.
    ConnectWaitsForAnswer,
    /// An answer is written to the standalone listeners too.
    AnswerOnEveryListener,
    /// An undelivered stream is replayed on every listener that asks.
    ReplayUnguarded,
    /// A request that passed its owner check before its session was wiped starts a new one under the dead id. Found here.
    WipedSessionRevived,
    /// Between its wipe and its abort an object restores the session from memory. Found here.
    WipedSessionRestored,
    /// A resume in the browser waits for a decision about what is over or unknown. Found here.
    BrowserResumeWaitsForNothing,
    /// What an RPC of the console fails with is not looked at. Found here.
    ConsoleUnclassified,
    /// A build permit goes to a waiter whose object was reset in the queue. Found here.
    DeadWaiterGranted,
    /// A fresh GET is sent everything that was never acknowledged at once, however much that is. Found here.
    ReplayUnbounded,
    /// An alarm that comes to a wiped object starts it. Found here.
    WipedSessionWoken,
    /// A lease that cannot be started inline is captured by itself and by whoever guards the entry point. Found here.
    LeaseFailureCapturedTwice,
    /// A lease is taken for an execution that was resumed meanwhile. Found here.
    LeaseOfWhatIsOver,
    /// The registry knows a session by the name that it has at the moment. Found here.
    RegisteredByPassingName,
    /// A disposal fails where its span cannot have the id of the session. Found here.
    DisposalNeedsAName,
    /// Answers that nobody acknowledged count as running work.
    UndeliveredCountsAsRunning,
    /// An alarm takes the name of its session from memory only.
    DurableNameIgnored,
    /// An alarm of an object without a name throws once it has cleaned up.
    UnaddressableAlarmThrows,
    /// A teardown leaves the server object behind, and the next runtime takes it.
    ServerOutlivesTeardown,
    /// A start in a cold isolate closes the streams that its sockets were kept for.
    ColdStartClosesStreams,
    /// A clock that cannot be written ends an init, whatever the reason.
    ActivityFatalInInit,
    /// An init captures recognised resets.
    ResetsCaptured,
    /// What an owner check fails with is not looked at.
    OwnerCheckUnclassified,
    /// The organisation is looked up in the database each time.
    MetaAlwaysFromDatabase,
    /// A stored record is offered to the resolver whatever organisation it is of.
    ForeignMetaOffered,
    /// A record without a resource is taken as it is.
    ResourceNotDefaulted,
    /// Every refusal by the identity provider condemns, not only a positive one.
    OutageCondemns,
    /// Whoever finds the owner of a pause may have it resumed. Not of the list.
    ResumeByAnybody,
    /// The owner check compares accounts only. Not of the list.
    OrganizationNotCompared,
    /// A decision leaves its pause open for the next one. Not of the list.
    DecisionDeliveredTwice,
    /// What is best effort absorbs failures that nobody knows. Not of the list.
    EveryFailureAbsorbed,
    /// A failure that an init has captured is not claimed. Not of the list.
    InitFailureUnclaimed,
    /// A capability that cannot be kept fails its caller. Not of the list.
    CapabilityWriteFatal,
    /// A start that was rejected stays the start in flight. Not of the list.
    RejectedStartKept,
    /// A session that is asked for its runtime does nothing. Not of the list.
    EvictionRequestUnheeded,
    /// A disposal deletes the stored events of its session's streams. Not of the list.
    DisposalForgetsStreams,
    /// An init that overflows the cap does not say so on its span. Not of the list.
    OverflowNotTold,
    /// Who waits for a teardown is not woken at its end. Not of the list.
    TeardownWakesNobody,
    /// A teardown lets go of the database handle without ending it. Not of the list.
    HandleLeftOpen,
    /// What code shows on its way is not in its answer. Not of the list.
    EmittedTextLost,
    /// The span of a disposal for the cap tells of idleness. Not of the list.
    DisposalToldAsIdle,
    /// A lease that is returned does not give its keep-alive reference back. Not of the list.
    LeaseKeepsAwake,
}

/// What is known about a defect.
#[derive(Clone, Copy, Debug)]
pub struct DefectInfo {
    /// The switch.
    pub defect: Defect,
    /// Its name on the command line and in plans.
    pub name: &'static str,
    /// Number in the list of historical defects; `own` for one that was never real and trips a check that they leave alone.
    pub source: &'static str,
    /// The described core has it: found here, fixed by default, switched on by `--core described`.
    pub described: bool,
    /// What a person sees, in one sentence.
    pub story: &'static str,
}

/// Every defect, in the order of the list.
pub const DEFECTS: &[DefectInfo] = &[
    DefectInfo {
        defect: Defect::IdleAlarmNotRearmed,
        name: "idle-alarm-not-rearmed",
        source: "DEF-001",
        described: false,
        story: "after any tool call the alarm slot is empty and no runtime is ever given back",
    },
    DefectInfo {
        defect: Defect::IdleAlarmDestroys,
        name: "idle-alarm-destroys",
        source: "DEF-006",
        described: false,
        story: "the next request after idling gets 404",
    },
    DefectInfo {
        defect: Defect::IdleAlarmDeletesMeta,
        name: "idle-alarm-deletes-meta",
        source: "DEF-007",
        described: false,
        story: "the next request after idling gets 404 `Session not found`",
    },
    DefectInfo {
        defect: Defect::StartWithoutSingleFlight,
        name: "start-without-single-flight",
        source: "DEF-019",
        described: false,
        story: "two concurrent restores build two runtimes and the gauge is off by one",
    },
    DefectInfo {
        defect: Defect::SilentConnectWithoutTransport,
        name: "silent-connect-without-transport",
        source: "DEF-025",
        described: false,
        story: "a stream stays open with keepalives only until the client gives up",
    },
    DefectInfo {
        defect: Defect::InitializedClearedLate,
        name: "initialized-cleared-late",
        source: "DEF-060",
        described: false,
        story: "a request that meets a teardown is sent into the dying runtime",
    },
    DefectInfo {
        defect: Defect::KeepAliveAfterClock,
        name: "keep-alive-after-clock",
        source: "DEF-008",
        described: false,
        story: "the heartbeat overwrites the idle alarm of a session that pauses",
    },
    DefectInfo {
        defect: Defect::PauseRunsOn,
        name: "pause-runs-on",
        source: "DEF-010",
        described: false,
        story: "a paused session outlives its ceiling, and a stale approval resumes it",
    },
    DefectInfo {
        defect: Defect::LeaseLogThrows,
        name: "lease-log-throws",
        source: "DEF-015",
        described: false,
        story: "the alarm of a paused session dies before it extends, and the platform tries it again",
    },
    DefectInfo {
        defect: Defect::AppsCapabilityForgotten,
        name: "apps-capability-forgotten",
        source: "DEF-038",
        described: false,
        story: "a client that can render apps is taken for one that cannot after a restore",
    },
    DefectInfo {
        defect: Defect::ExpiryIgnoresWaiter,
        name: "expiry-ignores-waiter",
        source: "DEF-068",
        described: false,
        story: "a call that waits for a decision finds its execution resumed by the expiry",
    },
    DefectInfo {
        defect: Defect::ForeignEntryDeleted,
        name: "foreign-entry-deleted",
        source: "DEF-069",
        described: false,
        story: "a failed resume in one session unroutes another session's pause",
    },
    DefectInfo {
        defect: Defect::DirectoryWithoutRpc,
        name: "directory-without-rpc",
        source: "DEF-070",
        described: false,
        story: "an execution that another session owns is always `execution_not_found`",
    },
    DefectInfo {
        defect: Defect::CountedExecutionIds,
        name: "counted-execution-ids",
        source: "DEF-072",
        described: false,
        story: "after a restart an old id resumes a different pause",
    },
    DefectInfo {
        defect: Defect::ResumeNotIdempotent,
        name: "resume-not-idempotent",
        source: "DEF-073",
        described: false,
        story: "a resume that is tried again answers `execution_not_found` after its success",
    },
    DefectInfo {
        defect: Defect::CondemnedSessionKept,
        name: "condemned-session-kept",
        source: "found here, FINDINGS.md 1",
        described: true,
        story: "a condemned session that counts as idle when its alarm fires loses the alarm and is never wiped",
    },
    DefectInfo {
        defect: Defect::NamelessRestoreFails,
        name: "nameless-restore-fails",
        source: "found here, FINDINGS.md 2",
        described: true,
        story: "after a deploy the idle alarm wakes the session nameless, and every request is a bare 500",
    },
    DefectInfo {
        defect: Defect::FailedHandlerUnanswered,
        name: "failed-handler-unanswered",
        source: "found here, FINDINGS.md 3",
        described: true,
        story: "a call whose handler fails before its tool is reached has no answer, and its client waits until it gives up",
    },
    DefectInfo {
        defect: Defect::CapOnResidentsOnly,
        name: "cap-on-residents-only",
        source: "DEF-040",
        described: false,
        story: "concurrent cold builds all pass at the cap and overshoot it by their number",
    },
    DefectInfo {
        defect: Defect::AdmissionSuspends,
        name: "admission-suspends",
        source: "DEF-041",
        described: false,
        story: "two inits that meet at the cap both find room for one",
    },
    DefectInfo {
        defect: Defect::ReservationReturnedAtBuild,
        name: "reservation-returned-at-build",
        source: "DEF-042",
        described: false,
        story: "an init that ends before its build keeps its reservation, and the cap shrinks by one",
    },
    DefectInfo {
        defect: Defect::ReservationReturnedOnFailure,
        name: "reservation-returned-on-failure",
        source: "DEF-043",
        described: false,
        story: "every successful init keeps its reservation, and the cap shrinks to zero",
    },
    DefectInfo {
        defect: Defect::EvictedInForeignContext,
        name: "evicted-in-foreign-context",
        source: "DEF-045",
        described: false,
        story: "the victim is torn down with I/O errors of another request, and its runtime stays",
    },
    DefectInfo {
        defect: Defect::EvictionAwaited,
        name: "eviction-awaited",
        source: "DEF-046",
        described: false,
        story: "a slow victim delays every new session, and a dead one fails it",
    },
    DefectInfo {
        defect: Defect::EvictionNotMarked,
        name: "eviction-not-marked",
        source: "DEF-048",
        described: false,
        story: "a victim that cannot answer is asked by every init for ever",
    },
    DefectInfo {
        defect: Defect::GraceWithoutEnd,
        name: "grace-without-end",
        source: "DEF-050",
        described: false,
        story: "a session that was busy once is never evicted again",
    },
    DefectInfo {
        defect: Defect::EntryRemovedOnFailure,
        name: "entry-removed-on-failure",
        source: "DEF-051",
        described: false,
        story: "a victim whose request failed stays resident and can never be asked again",
    },
    DefectInfo {
        defect: Defect::StreamsIgnoredByEviction,
        name: "streams-ignored-by-eviction",
        source: "DEF-052",
        described: false,
        story: "a live stream of a client is cut to make room",
    },
    DefectInfo {
        defect: Defect::MostRecentEvicted,
        name: "most-recent-evicted",
        source: "DEF-054",
        described: false,
        story: "the sessions in use are evicted, and the forgotten ones stay",
    },
    DefectInfo {
        defect: Defect::EntryLeftBehind,
        name: "entry-left-behind",
        source: "DEF-057",
        described: false,
        story: "a cold session is asked again and again, and the isolate overflows",
    },
    DefectInfo {
        defect: Defect::GaugeReadBeforeRelease,
        name: "gauge-read-before-release",
        source: "DEF-058",
        described: false,
        story: "every disposal span reports one resident runtime too many",
    },
    DefectInfo {
        defect: Defect::DisposalNotShared,
        name: "disposal-not-shared",
        source: "DEF-061",
        described: false,
        story: "two disposals at once tear down each other's successor",
    },
    DefectInfo {
        defect: Defect::TeardownInterruptible,
        name: "teardown-interruptible",
        source: "DEF-062",
        described: false,
        story: "an interrupted disposal leaves half a runtime, and who waited for it builds over that",
    },
    DefectInfo {
        defect: Defect::CloseRejectionFatal,
        name: "close-rejection-fatal",
        source: "DEF-063",
        described: false,
        story: "a server that fails to close keeps its engine, its database handle and its place",
    },
    DefectInfo {
        defect: Defect::EngineDroppedEarly,
        name: "engine-dropped-early",
        source: "DEF-064",
        described: false,
        story: "a handler that is still running when the teardown begins finds no engine",
    },
    DefectInfo {
        defect: Defect::CondemnedSessionEvicted,
        name: "condemned-session-evicted",
        source: "found here, FINDINGS.md 4",
        described: true,
        story: "a condemned session that is evicted for the cap loses its alarm and is never wiped",
    },
    DefectInfo {
        defect: Defect::PermitGrantLost,
        name: "permit-grant-lost",
        source: "found here, FINDINGS.md 5",
        described: true,
        story: "a fifth session that opens meanwhile hangs for 30 s and is reset, and its permit is gone for good",
    },
    DefectInfo {
        defect: Defect::DeadSessionRegistered,
        name: "dead-session-registered",
        source: "found here, FINDINGS.md 6",
        described: true,
        story: "a session that was reset and never came back is evicted again and again, and nothing is freed",
    },
    DefectInfo {
        defect: Defect::ConnectWithoutRuntime,
        name: "connect-without-runtime",
        source: "found here, FINDINGS.md 7",
        described: true,
        story: "a request whose session is evicted between its owner check and its connect gets a 200 without an answer",
    },
    DefectInfo {
        defect: Defect::LostHoldingsKept,
        name: "lost-holdings-kept",
        source: "found here, FINDINGS.md 8",
        described: true,
        story: "each reset during a build takes a permit and a place of the cap with it, until every cold build waits 10 s",
    },
    DefectInfo {
        defect: Defect::TransportOutlivesServer,
        name: "transport-outlives-server",
        source: "found here, FINDINGS.md 9",
        described: true,
        story: "a call that reaches its session while a disposal waits for the server's close is run and never answered",
    },
    DefectInfo {
        defect: Defect::CondemnedWhileDisposed,
        name: "condemned-while-disposed",
        source: "found here, FINDINGS.md 10",
        described: true,
        story: "a session that is condemned while its runtime is being disposed loses the alarm that was to wipe it",
    },
    DefectInfo {
        defect: Defect::DestroyUngated,
        name: "destroy-ungated",
        source: "DEF-079",
        described: false,
        story: "a session that was ended by DELETE answers for another second",
    },
    DefectInfo {
        defect: Defect::PostAcknowledges,
        name: "post-acknowledges",
        source: "DEF-083",
        described: false,
        story: "the result of a call whose client has just left is erased",
    },
    DefectInfo {
        defect: Defect::AcknowledgedOnEnqueue,
        name: "acknowledged-on-enqueue",
        source: "DEF-084",
        described: false,
        story: "a result is erased although the GET that asked for it is dead",
    },
    DefectInfo {
        defect: Defect::CursorReplaysOthers,
        name: "cursor-replays-others",
        source: "DEF-085",
        described: false,
        story: "a client that resumes a call gets the answer of another one",
    },
    DefectInfo {
        defect: Defect::ListenerSupersedes,
        name: "listener-supersedes",
        source: "DEF-086",
        described: false,
        story: "the two listeners of one client evict each other for ever",
    },
    DefectInfo {
        defect: Defect::NoPrimingEvent,
        name: "no-priming-event",
        source: "DEF-087",
        described: false,
        story: "a client whose call is cut has no cursor, never asks again, and hangs",
    },
    DefectInfo {
        defect: Defect::OversizePutFatal,
        name: "oversize-put-fatal",
        source: "DEF-088",
        described: false,
        story: "large results never arrive",
    },
    DefectInfo {
        defect: Defect::NewestTrimmed,
        name: "newest-trimmed",
        source: "DEF-089",
        described: false,
        story: "the only copy of a final answer is lost",
    },
    DefectInfo {
        defect: Defect::BacklogUnbounded,
        name: "backlog-unbounded",
        source: "DEF-090",
        described: false,
        story: "a client that does not read fills the memory of the edge",
    },
    DefectInfo {
        defect: Defect::MaxAgeCutsPosts,
        name: "max-age-cuts-posts",
        source: "DEF-091",
        described: false,
        story: "a call that takes longer than half an hour loses its stream",
    },
    DefectInfo {
        defect: Defect::ConnectWaitsForAnswer,
        name: "connect-waits-for-answer",
        source: "DEF-092",
        described: false,
        story: "a call has no head and no cursor until its answer is there",
    },
    DefectInfo {
        defect: Defect::AnswerOnEveryListener,
        name: "answer-on-every-listener",
        source: "made here",
        described: false,
        story: "a client gets an answer twice, on streams that it does not belong to",
    },
    DefectInfo {
        defect: Defect::ReplayUnguarded,
        name: "replay-unguarded",
        source: "made here",
        described: false,
        story: "two listeners of one client both get the results that were not delivered",
    },
    DefectInfo {
        defect: Defect::WipedSessionRevived,
        name: "wiped-session-revived",
        source: "found here, FINDINGS.md 11",
        described: true,
        story: "a request that meets the wipe of its session builds a runtime for a dead id, and a DELETE gets a bare 500",
    },
    DefectInfo {
        defect: Defect::WipedSessionRestored,
        name: "wiped-session-restored",
        source: "found here, FINDINGS.md 12",
        described: true,
        story: "a request that comes between the wipe of its session and the end of the object gets a bare 500",
    },
    DefectInfo {
        defect: Defect::BrowserResumeWaitsForNothing,
        name: "browser-resume-waits-for-nothing",
        source: "found here, FINDINGS.md 13",
        described: true,
        story: "a resume that is repeated after its answer waits four minutes and asks for the same approval again",
    },
    DefectInfo {
        defect: Defect::ConsoleUnclassified,
        name: "console-unclassified",
        source: "found here, FINDINGS.md 14",
        described: true,
        story: "a person who decides while a deploy resets the session is told a bare 500, and somebody is paged",
    },
    DefectInfo {
        defect: Defect::DeadWaiterGranted,
        name: "dead-waiter-granted",
        source: "found here, FINDINGS.md 15",
        described: true,
        story: "each session that is reset while it waits for a build permit takes one out of use for a minute",
    },
    DefectInfo {
        defect: Defect::ReplayUnbounded,
        name: "replay-unbounded",
        source: "found here, FINDINGS.md 16",
        described: true,
        story: "a session with more than 8 MiB of answers that no listener took can never open a listener again",
    },
    DefectInfo {
        defect: Defect::WipedSessionWoken,
        name: "wiped-session-woken",
        source: "found here, FINDINGS.md 17",
        described: true,
        story: "an alarm that comes again after its session was wiped fails up to seven times, and each time somebody is paged",
    },
    DefectInfo {
        defect: Defect::LeaseFailureCapturedTwice,
        name: "lease-failure-captured-twice",
        source: "found here, FINDINGS.md 18",
        described: true,
        story: "an execution that pauses again while its lease cannot be taken pages somebody twice for one failure",
    },
    DefectInfo {
        defect: Defect::LeaseOfWhatIsOver,
        name: "lease-of-what-is-over",
        source: "found here, FINDINGS.md 19",
        described: true,
        story: "a session is held awake for four minutes by a lease of an execution that was resumed before",
    },
    DefectInfo {
        defect: Defect::RegisteredByPassingName,
        name: "registered-by-passing-name",
        source: "found here, FINDINGS.md 20",
        described: true,
        story: "a session that learns its name after its build stays registered when its runtime is gone, and the cap asks it in vain",
    },
    DefectInfo {
        defect: Defect::DisposalNeedsAName,
        name: "disposal-needs-a-name",
        source: "found here, FINDINGS.md 21",
        described: true,
        story: "a session without a name that the cap asks says that it is disposed, fails, and keeps its runtime",
    },
    DefectInfo {
        defect: Defect::UndeliveredCountsAsRunning,
        name: "undelivered-counts-as-running",
        source: "DEF-009",
        described: false,
        story: "a session whose client got its answers and never acknowledged them stays for 35 minutes",
    },
    DefectInfo {
        defect: Defect::DurableNameIgnored,
        name: "durable-name-ignored",
        source: "DEF-016",
        described: false,
        story: "an alarm that wakes a session without its name cleans it up as if it had none",
    },
    DefectInfo {
        defect: Defect::UnaddressableAlarmThrows,
        name: "unaddressable-alarm-throws",
        source: "DEF-017",
        described: false,
        story: "the alarm of an object without a name is tried again and again",
    },
    DefectInfo {
        defect: Defect::ServerOutlivesTeardown,
        name: "server-outlives-teardown",
        source: "DEF-022",
        described: false,
        story: "a session whose server could not be closed cannot be started any more",
    },
    DefectInfo {
        defect: Defect::ColdStartClosesStreams,
        name: "cold-start-closes-streams",
        source: "DEF-023",
        described: false,
        story: "the call that wakes a session ends without its answer",
    },
    DefectInfo {
        defect: Defect::ActivityFatalInInit,
        name: "activity-fatal-in-init",
        source: "DEF-027",
        described: false,
        story: "a deploy during the last write of a start kills the healthy session",
    },
    DefectInfo {
        defect: Defect::ResetsCaptured,
        name: "resets-captured",
        source: "DEF-029",
        described: false,
        story: "every deploy pages somebody",
    },
    DefectInfo {
        defect: Defect::OwnerCheckUnclassified,
        name: "owner-check-unclassified",
        source: "DEF-032",
        described: false,
        story: "a session that is reset or destroyed while its owner is checked answers a bare 500",
    },
    DefectInfo {
        defect: Defect::MetaAlwaysFromDatabase,
        name: "meta-always-from-database",
        source: "DEF-036",
        described: false,
        story: "a blip of the organization database keeps sessions from coming back",
    },
    DefectInfo {
        defect: Defect::ForeignMetaOffered,
        name: "foreign-meta-offered",
        source: "DEF-037",
        described: false,
        story: "a session of one organization bears the name of another",
    },
    DefectInfo {
        defect: Defect::ResourceNotDefaulted,
        name: "resource-not-defaulted",
        source: "DEF-039",
        described: false,
        story: "sessions that were stored before toolkits cannot be used any more",
    },
    DefectInfo {
        defect: Defect::OutageCondemns,
        name: "outage-condemns",
        source: "DEF-081",
        described: false,
        story: "an expired token or a blip of the identity provider destroys sessions",
    },
    DefectInfo {
        defect: Defect::ResumeByAnybody,
        name: "resume-by-anybody",
        source: "own",
        described: false,
        story: "a stranger who knows an execution has it resumed by its owner",
    },
    DefectInfo {
        defect: Defect::OrganizationNotCompared,
        name: "organization-not-compared",
        source: "own",
        described: false,
        story: "a member of another organization passes the owner check",
    },
    DefectInfo {
        defect: Defect::DecisionDeliveredTwice,
        name: "decision-delivered-twice",
        source: "own",
        described: false,
        story: "a resume that is repeated decides again, after the first decision was acted upon",
    },
    DefectInfo {
        defect: Defect::EveryFailureAbsorbed,
        name: "every-failure-absorbed",
        source: "own",
        described: false,
        story: "a session goes on whose clock cannot be written, and nobody hears of it",
    },
    DefectInfo {
        defect: Defect::InitFailureUnclaimed,
        name: "init-failure-unclaimed",
        source: "own",
        described: false,
        story: "one failure pages twice: by the session and by whoever guards its entry points",
    },
    DefectInfo {
        defect: Defect::CapabilityWriteFatal,
        name: "capability-write-fatal",
        source: "own",
        described: false,
        story: "a client whose capability could not be written is told so by an error",
    },
    DefectInfo {
        defect: Defect::RejectedStartKept,
        name: "rejected-start-kept",
        source: "own",
        described: false,
        story: "a session whose start failed once fails for ever, until its object is lost",
    },
    DefectInfo {
        defect: Defect::EvictionRequestUnheeded,
        name: "eviction-request-unheeded",
        source: "own",
        described: false,
        story: "the cap is told to everybody and lowers nothing",
    },
    DefectInfo {
        defect: Defect::DisposalForgetsStreams,
        name: "disposal-forgets-streams",
        source: "own",
        described: false,
        story: "an answer that its client lost is gone once the session has idled",
    },
    DefectInfo {
        defect: Defect::OverflowNotTold,
        name: "overflow-not-told",
        source: "own",
        described: false,
        story: "an isolate over its cap looks like any other",
    },
    DefectInfo {
        defect: Defect::TeardownWakesNobody,
        name: "teardown-wakes-nobody",
        source: "own",
        described: false,
        story: "a request that meets a disposal waits until its client gives up",
    },
    DefectInfo {
        defect: Defect::HandleLeftOpen,
        name: "handle-left-open",
        source: "own",
        described: false,
        story: "each disposal leaves a connection to the database behind",
    },
    DefectInfo {
        defect: Defect::EmittedTextLost,
        name: "emitted-text-lost",
        source: "own",
        described: false,
        story: "a call is answered without what its code has shown",
    },
    DefectInfo {
        defect: Defect::DisposalToldAsIdle,
        name: "disposal-told-as-idle",
        source: "own",
        described: false,
        story: "nobody sees in the spans that an isolate is at its cap",
    },
    DefectInfo {
        defect: Defect::LeaseKeepsAwake,
        name: "lease-keeps-awake",
        source: "own",
        described: false,
        story: "a session that asked once is woken every 30 s for as long as it lives",
    },
];

impl Defect {
    /// The defects that the described core has.
    pub fn described() -> impl Iterator<Item = Defect> {
        DEFECTS.iter().filter(|info| info.described).map(|info| info.defect)
    }

    /// The defect of a name.
    pub fn named(name: &str) -> Option<Defect> {
        DEFECTS.iter().find(|info| info.name == name).map(|info| info.defect)
    }
}

/// The defects that are switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefectSet(std::collections::BTreeSet<Defect>);

impl DefectSet {
    /// A set of defects.
    pub fn of(defects: impl IntoIterator<Item = Defect>) -> Self {
        DefectSet(defects.into_iter().collect())
    }

    /// True when `defect` is switched on.
    pub fn has(&self, defect: Defect) -> bool {
        self.0.contains(&defect)
    }
}

/// True when the defect is switched on in a host's configuration; the one way the code asks.
macro_rules! defect {
    ($config:expr, $defect:ident) => {
        $config.defects.has($crate::defect::Defect::$defect)
    };
}
pub(crate) use defect;
