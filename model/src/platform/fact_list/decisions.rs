//! What varies on the platform, and the named decision that draws it: section 17 of the list, line by line.
//!
//! The ranges of delays and strays stand where they are drawn, beside the plans; a test of the harness keeps them and
//! these texts equal. In a calm world every one of them is 0.

/// One decision about something that varies.
pub struct Decision {
    /// The fact of section 17 that it draws.
    pub fact: &'static str,
    /// Its question, as decisions name it; a `*` stands for the name of a lane.
    pub name: &'static str,
    /// What is decided.
    pub what: &'static str,
    /// What a usual world draws: shares and values.
    pub usual: &'static str,
    /// What a hostile world draws.
    pub hostile: &'static str,
}

/// Decisions as lines: fact, question, what is decided, usual range, hostile range.
macro_rules! decisions {
    ($($fact:literal $name:literal $what:literal [$usual:literal] [$hostile:literal];)*) => {
        &[$(Decision { fact: $fact, name: $name, what: $what, usual: $usual, hostile: $hostile }),*]
    };
}

/// Every decision that draws a fact of section 17.
pub const DECISIONS: &[Decision] = decisions! {
    "208" "order.*" "which of the events that meet in one millisecond comes first, by lane" ["any order, also in calm worlds"] ["any order, also in calm worlds"];
    "208" "latency.rpc" "ms that a call is on its way; so do `latency.fetch`, `latency.reply`, `latency.frame-in` and `latency.frame-out`" ["80.0 % 0 to 3, 20.0 % 4 to 20"] ["50.0 % 0 to 5, 40.0 % 6 to 60, 10.0 % 61 to 1000"];
    "210" "alarm.late" "ms that an alarm is late" ["95.0 % 0 to 10, 4.5 % 100 to 900, 0.5 % 1000 to 60000"] ["60.0 % 0 to 10, 30.0 % 100 to 900, 10.0 % 1000 to 60000"];
    "211" "alarm.again" "ms until an alarm that succeeded is delivered again" ["99.5 % 0, 0.5 % 1 to 2000"] ["97.0 % 0, 3.0 % 1 to 60000"];
    "212" "alarm.retry-jitter" "ms that a retry is later, up to a quarter of its delay" ["any, also in calm worlds"] ["any, also in calm worlds"];
    "212" "alarm.count-lost" "1 for a retry that comes at once as a first try" ["98.0 % 0, 2.0 % 1"] ["90.0 % 0, 10.0 % 1"];
    "213" "alarm.stuck" "ms until an alarm set to the running time fires; 0 for never" ["50.0 % 0, 50.0 % 10000 to 60000"] ["50.0 % 0, 50.0 % 10000 to 60000"];
    "214" "alarm.nameless" "1 for an alarm without the name that its build would give it; switch `cold_alarm_name`" ["98.0 % 0, 2.0 % 1"] ["90.0 % 0, 10.0 % 1"];
    "215" "eviction" "ms of idleness after which an incarnation leaves memory that can hibernate, 0 for never; one that cannot leaves 70 to 140 s after its last event, in proportion; switch `eviction`" ["97.0 % 0, 3.0 % 10000 to 140000"] ["88.0 % 0, 12.0 % 10000 to 140000"];
    "215" "eviction.pending-work" "1 for an eviction that cuts off timers and work in the background; switch `eviction`" ["90.0 % 0, 10.0 % 1"] ["80.0 % 0, 20.0 % 1"];
    "216" "reset" "operations after which an incarnation is reset, 0 for never; `reset.kind` says by what" ["99.5 % 0, 0.5 % 1 to 300"] ["98.0 % 0, 2.0 % 1 to 300"];
    "216" "update.deferred" "1 for a code update that waits until its object is idle, 300 s at most (fact 24); switch `code_update`" ["90.0 % 0, 10.0 % 1"] ["80.0 % 0, 20.0 % 1"];
    "217" "reset.zombie" "1 for code that goes on after its reset; switch `after_reset`" ["90.0 % 0, 10.0 % 1"] ["80.0 % 0, 20.0 % 1"];
    "218" "commit" "ms until the writes of a turn are durable" ["80.0 % 0 to 1, 20.0 % 2 to 5"] ["50.0 % 0 to 5, 40.0 % 6 to 50, 10.0 % 51 to 500"];
    "219" "reset.zombie" "the same: the old one goes on beside the new one" ["90.0 % 0, 10.0 % 1"] ["80.0 % 0, 20.0 % 1"];
    "220" "flags.kept" "1 for a reset flag that outlives a hop" ["90.0 % 0, 10.0 % 1"] ["90.0 % 0, 10.0 % 1"];
    "222" "placement" "the isolate of an object that is nowhere" ["any, also in calm worlds"] ["any, also in calm worlds"];
    "224" "stream.end" "how a stream ends whose object is lost: 0 cleanly, 1 broken, 2 not at all; switch `sockets_after_reset`" ["85.0 % 0, 10.0 % 1, 5.0 % 2"] ["65.0 % 0, 25.0 % 1, 10.0 % 2"];
    "225" "leaving" "when it is noticed that a client left: 0 at once, 1 at the next write, 2 never" ["90.0 % 0, 10.0 % 1"] ["60.0 % 0, 30.0 % 1, 10.0 % 2"];
    "226" "tail" "ms that the tail of a keep-alive is late" ["98.0 % 0, 2.0 % 1 to 20"] ["95.0 % 0, 5.0 % 1 to 1000"];
};

/// Facts of section 17 that no decision draws, and why.
pub const UNDRAWN: &[(&str, &str)] = &[
    ("209", "kind of each operation: only those on other I/O let events in"),
    ("221", "stubs stay broken; a runtime that repeats calls by itself is not modelled"),
    ("223", "synchronous work takes no time"),
    ("227", "one version at a time; switch `code_update`"),
    ("228", "the clock stands still within a turn, always"),
    ("229", "by kind of object and build"),
];
