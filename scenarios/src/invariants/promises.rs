//! The promises that the host is described by, one line each, and which claims judge them.
//!
//! What a promise is about is said in a few words; its number leads to the description (session-core §5).

use super::ALL;
use std::fmt::Write as _;

/// A promise of the described host.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// Its number: `I1` to `I50` are of safety, `L1` to `L15` of liveness.
    pub id: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// What of it no claim judges, and who sees to that part.
    pub unjudged: &'static str,
}

const fn row(id: &'static str, about: &'static str) -> Promise {
    Promise { id, about, unjudged: "" }
}

const fn in_part(id: &'static str, about: &'static str, unjudged: &'static str) -> Promise {
    Promise { id, about, unjudged }
}

/// One line a promise, in the order of their numbers.
#[rustfmt::skip]
pub const PROMISES: &[Promise] = &[
    row("I1", "the gauge counts the resident sessions"),
    row("I2", "one registry entry for each resident session"),
    row("I3", "one release for each runtime"),
    row("I4", "server and handle are closed once"),
    in_part("I5", "an initialized session has a whole runtime", "the flag is not in traces; what it would let through is"),
    row("I6", "an init waits for the disposal it meets"),
    row("I7", "an interrupt leaves no teardown half done"),
    row("I8", "the engine outlives the server's close"),
    in_part("I9", "one start at a time, one outcome for all who wait", "the outcome of those who join: contract rows E4 to E6"),
    row("I10", "which starts close connections"),
    in_part("I11", "a server is attached once", "traces do not tell which object a server is; that it is closed once they do"),
    row("I12", "check and reservation in one stretch"),
    row("I13", "an admission sees those before it"),
    row("I14", "reservations come back"),
    row("I15", "one eviction request an init, never waited for"),
    row("I16", "nothing live is evicted"),
    row("I17", "the cap is soft, and an overflow is told"),
    row("I18", "who is asked to go"),
    row("I19", "a lost request changes nothing"),
    row("I20", "a teardown runs in its session's own context"),
    row("I21", "build permits"),
    row("I22", "a disposal takes nothing durable"),
    row("I23", "no record is offered to another organization"),
    row("I24", "a known organization needs no database"),
    row("I25", "a capability is carried, and never invented"),
    row("I26", "keeping a capability fails nobody"),
    row("I27", "who passes the owner check"),
    in_part("I28", "an ended session answers 404 only", "a request that was let in before may still be answered; the console looks at no marker, so it shows and records until the wipe, a second later (session-core §2.22)"),
    row("I29", "who condemns"),
    row("I30", "who may resume"),
    row("I31", "an execution id is given once"),
    row("I32", "a decision is delivered once, and a repeated resume told the same"),
    row("I33", "nothing resumes what its expiry declined"),
    row("I34", "no session deletes the directory entry of another"),
    row("I35", "a lost write of the clock ends no init"),
    in_part("I36", "resets page nobody, other failures page once", "captures are counted for inits; the guard of the other entry points has unit tests"),
    row("I37", "an unknown failure of the bookkeeping ends the init"),
    row("I38", "a failed write of the record ends the init"),
    in_part("I39", "telling of a session cannot fail", "judged on alarms and disposals; the rest by row G2 and unit tests"),
    row("I40", "one log line and one span a disposal"),
    row("I41", "an idle disposal lasted the timeout"),
    in_part("I42", "refusals are JSON-RPC, and 503 the only 5xx", "the null id is not in traces; unit tests of the edge see it"),
    row("I43", "404 and 503 mean what they say"),
    row("I44", "who acknowledges, and when"),
    row("I45", "what a cursor replays"),
    row("I46", "the newest event is not trimmed"),
    row("I47", "a failing store does not stop the live write"),
    row("I48", "one message, one stream"),
    row("I49", "listeners live side by side"),
    row("I50", "one live listener replays a stream"),
    row("L1", "an idle runtime goes after the timeout"),
    row("L2", "a resident session has an alarm in time"),
    row("L3", "the next use arms a lost alarm again"),
    row("L4", "a disposed session serves again"),
    row("L5", "the ceiling of paused sessions"),
    row("L6", "the ceiling of all sessions"),
    row("L7", "a pending approval ends, and leaves nothing"),
    row("L8", "a start that waits for a disposal goes on"),
    row("L9", "a stuck candidate is passed over, for a while"),
    row("L10", "a start may follow a failed one"),
    row("L11", "a nameless alarm ends"),
    row("L12", "a condemned session is wiped"),
    in_part("L13", "every request ends", "a GET that is held without the answer its client waits for; L14 judges what is stored"),
    row("L14", "an answer that was lost can be had again"),
    row("L15", "crossing the cap makes room"),
];

/// The claims that judge a promise, in whole or in part, by name.
pub fn claims_of(id: &str) -> Vec<&'static str> {
    ALL.iter().filter(|claim| claim.covers.contains(&id)).map(|claim| claim.name).collect()
}

/// The promises with their claims as a table in Markdown, a line each.
pub fn table() -> String {
    let mut table = "| | promise | judged by | not judged there |\n|---|---|---|---|\n".to_owned();
    for Promise { id, about, unjudged } in PROMISES {
        let claims: Vec<String> = claims_of(id).iter().map(|name| format!("`{name}`")).collect();
        writeln!(table, "| {id} | {about} | {} | {unjudged} |", claims.join(", ")).expect("a text takes everything");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_whole_and_in_order() {
        let numbers = (1..=50).map(|number| format!("I{number}")).chain((1..=15).map(|number| format!("L{number}")));
        assert_eq!(
            PROMISES.iter().map(|promise| promise.id.to_owned()).collect::<Vec<_>>(),
            numbers.collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_promise_is_judged_by_a_claim_and_every_claim_names_promises_that_there_are() {
        let judged: BTreeSet<&str> = ALL.iter().flat_map(|claim| claim.covers).copied().collect();
        let all: BTreeSet<&str> = PROMISES.iter().map(|promise| promise.id).collect();
        assert_eq!(judged, all);
    }
}
