//! Row B: an isolate that crosses its cap asks a session through that session's own stub.

use super::a::{OPENED, answer, handshake, session_id};
use super::seen::{Seen, equal, expect, given};
use super::stage::Stage;
use super::{Check, Row, Told, Verdict};
use crate::plan::{Action, Plan};
use crate::trace::{Event, Stream};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// One line a row.
pub const ROWS: &[Row] = &[Row {
    id: "B1",
    title: "crossing the cap evicts through the candidate's own stub",
    check: Check::World { plan: b1, judge: b1_holds },
}];

const CAP: u32 = 24;
const SESSION_COUNT: u64 = CAP as u64 + 10;
/// Sessions that are opened, or ended, at a time, and the time for that.
const AT_A_TIME: u64 = 8;
const WAVE_MS: u64 = 2_000;
/// When every session is open, and how long a disposal may take to be exported.
const OPEN_AT_MS: u64 = (SESSION_COUNT / AT_A_TIME + 1) * WAVE_MS;
const EXPORT_MS: u64 = 40 * 500;
const CALLS_AT_MS: u64 = OPEN_AT_MS + EXPORT_MS;

/// Those that are beyond the cap, and therefore those that are evicted, least recently used first.
const BEYOND_CAP: u64 = SESSION_COUNT - CAP as u64;

/// Which session is evicted only the run can tell, so each that can be asks its session for a mark of its own afterwards.
fn b1() -> Plan {
    (1..=SESSION_COUNT)
        .fold(Stage::new("b1").cap(CAP), |stage, number| {
            // The requests of a wave come a millisecond apart and are under way together.
            let wave_ms = (number - 1) / AT_A_TIME * WAVE_MS + (number - 1) % AT_A_TIME;
            let call = Action::Call { code: format!("return \"mark-{number}\""), overlap: false };
            let call = (number <= BEYOND_CAP).then_some((CALLS_AT_MS + number * 200, call));
            let close = (CALLS_AT_MS + (SESSION_COUNT + 1) * 200 + wave_ms, Action::Close {});
            let steps: Vec<_> = [(1 + wave_ms, Action::Open {})].into_iter().chain(call).chain([close]).collect();
            stage.client(&format!("s{number}"), false, &steps)
        })
        .timeouts(300_000, 540_000)
        .plan()
}

fn b1_holds(seen: &Seen<'_>) -> Told {
    let clients: Vec<String> = (1..=SESSION_COUNT).map(|number| format!("s{number}")).collect();
    for client in &clients {
        given(are_under_way_together(seen, client)?, "the sessions of a wave are opened together")?;
        equal(&format!("how the handshake of {client} was answered"), handshake(seen, client)?, OPENED)?;
    }
    let ids: Result<BTreeSet<&str>, _> = clients.iter().map(|client| session_id(seen, client)).collect();
    equal("the number of ids", ids?.len() as u64, SESSION_COUNT)?;
    let in_time =
        |span: &&Event| span.at_ms < CALLS_AT_MS && span.attribute(REASON).and_then(Json::as_str) == Some("cap");
    let span = seen.trace().named(Stream::Telemetry, DISPOSAL).find(in_time);
    let Some(span) = span else { return expect(false, || "no eviction for the cap was exported in time".into()) };
    let (who, told) = (span.who().unwrap_or(""), span.attribute("mcp.session.id").and_then(Json::as_str));
    let calls = clients.iter().take(BEYOND_CAP as usize).any(|client| client == who);
    given(calls, "the evicted session is one that is called afterwards")?;
    expect(told.unwrap_or("").contains(session_id(seen, who)?), || format!("mcp.session.id of {who} is {told:?}"))?;
    let gauge = span.attribute("mcp.isolate.resident_runtimes");
    expect(gauge.is_some_and(Json::is_u64), || format!("mcp.isolate.resident_runtimes is {gauge:?}"))?;
    let foreign: Vec<&Event> = seen.trace().named(Stream::Platform, "io.cross-context").collect();
    expect(foreign.is_empty(), || format!("{} uses of I/O across contexts", foreign.len()))?;
    let mark = format!("mark-{}", who.trim_start_matches('s'));
    equal("the answer of the evicted session", answer(seen, who, 1)?, Some(mark.into()))
}

/// Whether the last session of a client's wave was asked for before the first was there.
fn are_under_way_together(seen: &Seen<'_>, client: &str) -> Result<bool, Verdict> {
    let number: u64 = client.trim_start_matches('s').parse().unwrap_or(1);
    let first = (number - 1) / AT_A_TIME * AT_A_TIME + 1;
    let last = (first + AT_A_TIME - 1).min(SESSION_COUNT);
    let at = |number: u64, name: &'static str, index: usize| {
        let events = seen.named(Stream::History, &format!("s{number}"), name);
        events.get(index).map(|event| event.ordinal)
    };
    let ended = at(first, "request.end", 1).ok_or_else(|| super::seen::unknown("a handshake did not end"))?;
    Ok(at(last, "request.begin", 0).is_some_and(|begun| begun < ended))
}

const DISPOSAL: &str = "mcp.session.idle_runtime_dispose";
const REASON: &str = "mcp.session.dispose_reason";
