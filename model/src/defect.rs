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
    /// An alarm that finds a condemned session idle extends or disposes it, and the wipe never comes. Found here.
    CondemnedSessionKept,
    /// A restore in an incarnation that a cold alarm constructed throws for want of its name. Found here.
    NamelessRestoreFails,
    /// A failure in the handler of a POST or GET, for which nobody waits, leaves its client waiting. Found here.
    FailedHandlerUnanswered,
    /// A request that meets a server in its close is handed to the transport of that server. Found here.
    TransportOutlivesServer,
}

/// What is known about a defect.
#[derive(Clone, Copy, Debug)]
pub struct DefectInfo {
    /// The switch.
    pub defect: Defect,
    /// Its name on the command line and in plans.
    pub name: &'static str,
    /// Number in the list of historical defects.
    pub source: &'static str,
    /// The described core has it: found here, fixed by default, switched on by `--core described`.
    pub described: bool,
    /// What a person sees, in one sentence.
    pub story: &'static str,
    /// The invariant predicted to catch it.
    pub caught_by: &'static str,
}

/// Every defect, in the order of the list.
pub const DEFECTS: &[DefectInfo] = &[
    DefectInfo {
        defect: Defect::IdleAlarmNotRearmed,
        name: "idle-alarm-not-rearmed",
        source: "DEF-001",
        described: false,
        story: "after any tool call the alarm slot is empty and no runtime is ever given back",
        caught_by: "idle-runtime-is-released",
    },
    DefectInfo {
        defect: Defect::IdleAlarmDestroys,
        name: "idle-alarm-destroys",
        source: "DEF-006",
        described: false,
        story: "the next request after idling gets 404",
        caught_by: "disposed-session-serves-again",
    },
    DefectInfo {
        defect: Defect::IdleAlarmDeletesMeta,
        name: "idle-alarm-deletes-meta",
        source: "DEF-007",
        described: false,
        story: "the next request after idling gets 404 `Session not found`",
        caught_by: "durable-identity-survives",
    },
    DefectInfo {
        defect: Defect::StartWithoutSingleFlight,
        name: "start-without-single-flight",
        source: "DEF-019",
        described: false,
        story: "two concurrent restores build two runtimes and the gauge is off by one",
        caught_by: "one-build-at-a-time",
    },
    DefectInfo {
        defect: Defect::SilentConnectWithoutTransport,
        name: "silent-connect-without-transport",
        source: "DEF-025",
        described: false,
        story: "a stream stays open with keepalives only until the client gives up",
        caught_by: "every-request-ends",
    },
    DefectInfo {
        defect: Defect::InitializedClearedLate,
        name: "initialized-cleared-late",
        source: "DEF-060",
        described: false,
        story: "a request that meets a teardown is sent into the dying runtime",
        caught_by: "every-request-ends",
    },
    DefectInfo {
        defect: Defect::CondemnedSessionKept,
        name: "condemned-session-kept",
        source: "found here, FINDINGS.md 1",
        described: true,
        story: "a condemned session that counts as idle when its alarm fires loses the alarm and is never wiped",
        caught_by: "alarm-follows-intent",
    },
    DefectInfo {
        defect: Defect::NamelessRestoreFails,
        name: "nameless-restore-fails",
        source: "found here, FINDINGS.md 2",
        described: true,
        story: "after a deploy the idle alarm wakes the session nameless, and every request is a bare 500",
        caught_by: "disposed-session-serves-again",
    },
    DefectInfo {
        defect: Defect::FailedHandlerUnanswered,
        name: "failed-handler-unanswered",
        source: "found here, FINDINGS.md 3",
        described: true,
        story: "a call whose handler fails before its tool is reached has no answer, and its client waits until it gives up",
        caught_by: "every-request-ends",
    },
    DefectInfo {
        defect: Defect::TransportOutlivesServer,
        name: "transport-outlives-server",
        source: "found here, FINDINGS.md 4",
        described: true,
        story: "a call that reaches its session while a disposal waits for the server's close is run and never answered",
        caught_by: "every-request-ends",
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
