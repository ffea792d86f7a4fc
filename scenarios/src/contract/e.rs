//! Rows E: starts and restores, their streams, and that there is one at a time.

use super::seen::{END, Seen, equal, expect, given};
use super::stage::{Stage, owner};
use super::{Check, Row, Told};
use crate::plan::{Action, Plan};
use crate::trace::{Event, Stream};
use serde_json::{Value as Json, json};

/// One line a row.
pub const ROWS: &[Row] = &[
    Row { id: "E1", title: "a cold start keeps hibernated streams", check: Check::World { plan: e1, judge: e1_holds } },
    Row { id: "E2", title: "a warm restart closes streams", check: Check::World { plan: e2, judge: e2_holds } },
    Row {
        id: "E3",
        title: "a disposed session is restored by its owner check",
        check: Check::World { plan: e3, judge: e3_holds },
    },
    Row { id: "E4", title: "two owner checks share one start", check: Check::World { plan: e4, judge: e4_holds } },
    Row {
        id: "E5",
        title: "an owner check and a framework start share one start",
        check: Check::World { plan: e5, judge: e5_holds },
    },
    Row {
        id: "E6",
        title: "a model resume and a framework start share one start",
        check: Check::World { plan: e6, judge: e6_holds },
    },
];

const VALIDATE: &str = "validateMcpSessionOwner";
const START: &str = "onStart";
const RESUME: &str = "resumeExecutionForModel";
/// The second build of a session waits here: the first one comes before its disposal.
const BUILD: &str = "build · stack";
/// When the gate of a start opens, after the calls that meet at it.
const OPENS_AT_MS: u64 = 6_000;

/// A session with a live stream: the first GET replays the answer of `initialize` and ends, so the client opens it again.
fn streaming(id: &str) -> Stage {
    Stage::new(id).client("s1", true, &[(1, Action::Open {}), (100, Action::Stream {})])
}

/// Sockets that a session closed between two events.
fn closed_by_session(seen: &Seen<'_>, who: &str, from: &Event, to: &Event) -> usize {
    let closed = seen.named(Stream::Platform, who, "socket.closed");
    let during = |event: &&&Event| event.ordinal > from.ordinal && event.ordinal < to.ordinal;
    closed.iter().filter(during).filter(|event| event.text("by") == Some("object")).count()
}

/// The platform evicts after ten idle seconds at the earliest (platform fact 13).
fn e1() -> Plan {
    streaming("e1").evict(15_000, "s1").call(16_000, "s1", START, Json::Null).plan()
}

fn e1_holds(seen: &Seen<'_>) -> Told {
    let call = seen.call("s1", START, 1)?;
    let evicted = seen.delivered(0)?.ordinal;
    given(evicted < call.begin.ordinal, "the session was evicted before the start")?;
    given(seen.open_sockets("s1", call.begin.ordinal) == 1, "one hibernated connection")?;
    given(!seen.is_initialized("s1", call.begin.ordinal), "no runtime before the start")?;
    call.resolved()?;
    let constructed = seen.named(Stream::Platform, "s1", "object.constructed");
    let is_new = constructed.iter().any(|event| event.ordinal > evicted && event.ordinal < call.end.ordinal);
    given(is_new, "a new incarnation starts")?;
    equal("the number of closes", closed_by_session(seen, "s1", call.begin, call.end), 0)?;
    equal("the number of connections after the start", seen.open_sockets("s1", END), 1)?;
    equal("initialized", seen.is_initialized("s1", call.end.ordinal), true)
}

fn e2() -> Plan {
    // The client opens its stream again.
    streaming("e2").quiet(3_000).call(4_000, "s1", START, Json::Null).plan()
}

fn e2_holds(seen: &Seen<'_>) -> Told {
    let call = seen.call("s1", START, 1)?;
    given(seen.open_sockets("s1", call.begin.ordinal) == 1, "one connection")?;
    given(seen.is_initialized("s1", call.begin.ordinal), "a resident runtime before the start")?;
    call.resolved()?;
    equal("the number of closes", closed_by_session(seen, "s1", call.begin, call.end), 1)?;
    // Closing the server closes every stream as well (through its transport): the start itself must have come before.
    let servers = seen.state("s1", "server.closed");
    let server = servers.into_iter().find(|closed| closed.ordinal > call.begin.ordinal);
    let Some(server) = server else { return expect(false, || "the old server was not closed".into()) };
    equal("the number of closes before that of the server", closed_by_session(seen, "s1", call.begin, server), 1)?;
    equal("initialized", seen.is_initialized("s1", call.end.ordinal), true)
}

/// A session that is started, and that its alarm disposes. The run ends before the alarm comes again.
fn disposed(id: &str) -> Stage {
    Stage::new(id).timeouts(1_000, 2_000).quiet(500).started(1, id)
}

/// Where the alarm had disposed the session, before the first of the calls.
fn disposal<'t>(seen: &Seen<'t>, who: &str, before: &Event) -> Result<&'t Event, super::Verdict> {
    let ended = seen.state(who, "disposal.end").into_iter().find(|end| end.ordinal < before.ordinal);
    let begun = seen.state(who, "disposal.begin");
    given(begun.first().and_then(|begin| begin.text("reason")) == Some("idle"), "the alarm disposed the session")?;
    ended.ok_or_else(|| super::seen::unknown("the disposal ended before the calls"))
}

/// Starts after a disposal, and the runtimes that they installed.
fn after<'t>(seen: &Seen<'t>, who: &str, name: &str, disposal: &Event) -> Vec<&'t Event> {
    let mut events = seen.state(who, name);
    events.retain(|event| event.ordinal > disposal.ordinal);
    events
}

/// One start served both callers: it ran once, and what it installed is in use.
fn one_start(seen: &Seen<'_>, who: &str, disposal: &Event) -> Told {
    equal("the number of starts", after(seen, who, "start.begin", disposal).len(), 1)?;
    let installed = after(seen, who, "runtime.installed", disposal);
    equal("the number of runtimes built", installed.len(), 1)?;
    equal("the server in use", seen.server(who, END), installed[0].number("runtime"))?;
    equal("initialized", seen.is_initialized(who, END), true)
}

/// Both calls were made before the gate of the start opened, and neither was answered before.
fn met(seen: &Seen<'_>, calls: [super::seen::Call<'_>; 2]) -> Told {
    let (entered, opened) = (seen.delivered(0)?.ordinal, seen.opened(0)?.ordinal);
    given(calls.iter().all(|call| call.begin.ordinal < opened) && entered < opened, "both calls meet one gated start")?;
    expect(calls.iter().all(|call| call.end.ordinal > opened), || "a call was answered before the start ended".into())
}

fn e3() -> Plan {
    disposed("e3").call(5_000, "e3", VALIDATE, owner()).plan()
}

fn e3_holds(seen: &Seen<'_>) -> Told {
    let call = seen.call("e3", VALIDATE, 1)?;
    let disposal = disposal(seen, "e3", call.begin)?;
    equal("the verdict", call.returned()?, json!("ok"))?;
    one_start(seen, "e3", disposal)
}

fn e4() -> Plan {
    let stage = disposed("e4").gate(BUILD, 2, "e4", OPENS_AT_MS);
    stage.beside(5_000, "e4", VALIDATE, owner()).beside(5_001, "e4", VALIDATE, owner()).plan()
}

fn e4_holds(seen: &Seen<'_>) -> Told {
    let calls = [seen.call("e4", VALIDATE, 1)?, seen.call("e4", VALIDATE, 2)?];
    let disposal = disposal(seen, "e4", calls[0].begin)?;
    met(seen, calls)?;
    for call in calls {
        equal("the verdict", call.returned()?, json!("ok"))?;
    }
    one_start(seen, "e4", disposal)
}

fn e5() -> Plan {
    let stage = disposed("e5").gate(BUILD, 2, "e5", OPENS_AT_MS);
    stage.beside(5_000, "e5", VALIDATE, owner()).beside(5_001, "e5", START, Json::Null).plan()
}

fn e5_holds(seen: &Seen<'_>) -> Told {
    let calls = [seen.call("e5", VALIDATE, 1)?, seen.call("e5", START, 1)?];
    let disposal = disposal(seen, "e5", calls[0].begin)?;
    met(seen, calls)?;
    equal("the verdict", calls[0].returned()?, json!("ok"))?;
    calls[1].resolved()?;
    one_start(seen, "e5", disposal)
}

fn e6() -> Plan {
    let response = json!({"action": "accept", "content": {"approved": true}});
    let mut arguments = owner();
    arguments["executionId"] = "exec-model".into();
    arguments["response"] = response;
    // What the engine answers tells what it was given: the code returns the response beside its result.
    let stage = disposed("e6").paused("exec-model", r#"emit answer; return "model-result""#);
    let stage = stage.gate(BUILD, 2, "e6", OPENS_AT_MS);
    stage.beside(5_000, "e6", RESUME, arguments).beside(5_001, "e6", START, Json::Null).plan()
}

fn e6_holds(seen: &Seen<'_>) -> Told {
    let calls = [seen.call("e6", RESUME, 1)?, seen.call("e6", START, 1)?];
    let disposal = disposal(seen, "e6", calls[0].begin)?;
    met(seen, calls)?;
    let resumed = calls[0].returned()?;
    let structured = &resumed["result"]["structuredContent"];
    equal("the status", &resumed["status"], &json!("result"))?;
    equal("the structured status", &structured["status"], &json!("completed"))?;
    equal("the result", &structured["result"], &json!("model-result"))?;
    calls[1].resolved()?;
    one_start(seen, "e6", disposal)?;
    let reached = seen.state("e6", "execution.resumed");
    equal("the number of resumes that reached the engine", reached.len(), 1)?;
    equal("the execution", reached[0].text("execution"), Some("exec-model"))?;
    let response = calls[0].begin.json("arguments").map(|arguments| arguments["response"].clone());
    equal("the response that the engine got", Some(structured["emitted"][0].clone()), response)
}
