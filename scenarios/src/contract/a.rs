//! Row A: an idle session gives its runtime back while its client holds a stream open.

use super::seen::{Seen, equal, expect, given};
use super::stage::Stage;
use super::{Check, Row, Told, Verdict};
use crate::plan::{Action, Plan};
use crate::trace::{Event, Stream};
use serde_json::Value as Json;

/// One line a row.
pub const ROWS: &[Row] = &[Row {
    id: "A1",
    title: "idle runtime is released with a stream held open",
    check: Check::World { plan: a1, judge: a1_holds },
}];

const TIMEOUT_MS: u64 = 3_000;
const FIRST_AT_MS: u64 = 300;
/// After the first call the client is silent for the timeout and four seconds more.
const SECOND_AT_MS: u64 = FIRST_AT_MS + TIMEOUT_MS + 4_000;

fn a1() -> Plan {
    let call = |mark: &str| Action::Call { code: format!("return \"{mark}\""), overlap: false };
    let steps = [
        (1, Action::Open {}),
        (100, Action::Stream {}),
        (FIRST_AT_MS, call("before-idle")),
        (SECOND_AT_MS, call("after-idle")),
    ];
    Stage::new("a1").timeouts(TIMEOUT_MS, 2 * TIMEOUT_MS).client("s1", false, &steps).plan()
}

fn a1_holds(seen: &Seen<'_>) -> Told {
    equal("how the handshake was answered", handshake(seen, "s1")?, OPENED)?;
    given(!seen.named(Stream::History, "s1", "stream.open").is_empty(), "the client's stream is open")?;
    given(ended_by_client(seen) == 0, "the client never closes its stream")?;
    equal("the first answer", answer(seen, "s1", 2)?, Some("before-idle".into()))?;
    let second = begin(seen, "s1", 3)?;
    let spans = seen.spans("s1", "mcp.session.idle_runtime_dispose");
    let first = spans.into_iter().find(|span| span.ordinal < second.ordinal);
    let Some(span) = first else { return expect(false, || "no disposal was exported before the second call".into()) };
    let id = session_id(seen, "s1")?;
    let told = span.attribute("mcp.session.id").and_then(Json::as_str).unwrap_or("");
    expect(told.contains(id), || format!("mcp.session.id is {told:?}, expected {id:?} in it"))?;
    let idle_ms = span.attribute("mcp.session.idle_ms").and_then(Json::as_u64);
    expect(idle_ms >= Some(TIMEOUT_MS), || {
        format!("mcp.session.idle_ms is {idle_ms:?}, expected {TIMEOUT_MS} or more")
    })?;
    let gauge = span.attribute("mcp.isolate.resident_runtimes");
    expect(gauge.is_some_and(Json::is_u64), || format!("mcp.isolate.resident_runtimes is {gauge:?}"))?;
    equal("the second answer", answer(seen, "s1", 3)?, Some("after-idle".into()))
}

fn ended_by_client(seen: &Seen<'_>) -> usize {
    seen.named(Stream::History, "s1", "stream.end").iter().filter(|end| end.text("by") == Some("client")).count()
}

/// The id that a client's session was given.
pub(super) fn session_id<'t>(seen: &Seen<'t>, client: &str) -> Result<&'t str, Verdict> {
    let minted = seen.named(Stream::Platform, client, "session.minted");
    let id = minted.first().and_then(|minted| minted.text("session"));
    id.ok_or_else(|| super::seen::unknown(format!("{client} was given no session")))
}

/// How the two requests of a handshake that succeeds are answered.
pub(super) const OPENED: [Option<u64>; 2] = [Some(200), Some(202)];

/// Statuses of the two requests that open a client's session.
pub(super) fn handshake(seen: &Seen<'_>, client: &str) -> Result<[Option<u64>; 2], Verdict> {
    let mut begins = seen.named(Stream::History, client, "request.begin");
    begins.retain(|begin| begin.number("step") == Some(0));
    let [initialize, initialized] = begins[..] else {
        return Err(super::seen::unknown(format!("the handshake of {client} is not two requests")));
    };
    let ends = seen.named(Stream::History, client, "request.end");
    let status = |begin: &Event| {
        let end = ends.iter().find(|end| end.number("request") == begin.number("request"));
        end.and_then(|end| end.number("status"))
    };
    Ok([status(initialize), status(initialized)])
}

/// The begin of the request that a step of a client makes; the last of them, where it makes several.
fn begin<'t>(seen: &Seen<'t>, client: &str, step: u64) -> Result<&'t Event, Verdict> {
    let begins = seen.named(Stream::History, client, "request.begin");
    let begin = begins.into_iter().rfind(|begin| begin.number("step") == Some(step));
    begin.ok_or_else(|| super::seen::unknown(format!("step {step} of {client} was not begun")))
}

/// The result of the call that a step makes, if it was answered with status 200.
pub(super) fn answer(seen: &Seen<'_>, client: &str, step: u64) -> Result<Option<Json>, Verdict> {
    let begin = begin(seen, client, step)?;
    let ends = seen.named(Stream::History, client, "request.end");
    let end = ends.into_iter().find(|end| end.number("request") == begin.number("request"));
    let answered = end.filter(|end| end.number("status") == Some(200));
    Ok(answered.and_then(|end| end.json("answer")).map(|answer| answer["structuredContent"]["result"].clone()))
}
