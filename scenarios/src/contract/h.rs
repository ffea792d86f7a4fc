//! Rows H: the soft cap, its reservations, and disposals that are met, interrupted and doubled.

use super::seen::{END, Seen, equal, expect, given};
use super::stage::Stage;
use super::{Check, Row, Told};
use crate::plan::{Action, Interruptible, Plan};
use crate::trace::Event;
use serde_json::{Value as Json, json};

/// One line a row.
pub const ROWS: &[Row] = &[
    Row {
        id: "H1",
        title: "the least recently used session is evicted",
        check: Check::World { plan: h1, judge: h1_holds },
    },
    Row {
        id: "H2",
        title: "overflow is recorded and blocks nobody",
        check: Check::World { plan: h2, judge: h2_holds },
    },
    Row { id: "H3", title: "an evicted session is built again", check: Check::World { plan: h3, judge: h3_holds } },
    Row {
        id: "H4",
        title: "a repeated eviction request is harmless",
        check: Check::World { plan: h4, judge: h4_holds },
    },
    Row {
        id: "H5",
        title: "a build in flight counts from its admission",
        check: Check::World { plan: h5, judge: h5_holds },
    },
    Row {
        id: "H6",
        title: "a failed build gives its reservation back",
        check: Check::World { plan: h6, judge: h6_holds },
    },
    Row {
        id: "H7",
        title: "an interrupted init gives its reservation back",
        check: Check::World { plan: h7, judge: h7_holds },
    },
    Row {
        id: "H8",
        title: "an init during a disposal waits and rebuilds",
        check: Check::World { plan: h8, judge: h8_holds },
    },
    Row {
        id: "H9",
        title: "an interrupted disposal finishes its teardown first",
        check: Check::World { plan: h9, judge: h9_holds },
    },
    Row { id: "H10", title: "two disposals at once close once", check: Check::World { plan: h10, judge: h10_holds } },
];

const EVICT: &str = "requestCapEviction";
const CLOSE: &str = "teardown · server.close";
const BUILD: &str = "build · stack";
const OPEN_DB: &str = "init · db.open";
const FAILURE: &str = "cold build boundary failure";
/// When gates open.
const OPENS_AT_MS: u64 = 900;

fn are_initialized(seen: &Seen<'_>, who: &[&str], before: u32) -> Told {
    who.iter().try_for_each(|who| equal(&format!("initialized of {who}"), seen.is_initialized(who, before), true))
}

fn is_gone(seen: &Seen<'_>, who: &str, before: u32) -> Told {
    equal(&format!("initialized of {who}"), seen.is_initialized(who, before), false)?;
    equal(&format!("the engine of {who}"), seen.engine(who, before), None)
}

/// Of two sessions, the one that was registered first is used again ten seconds after the other: uses decide, not places.
fn h1() -> Plan {
    let stage = Stage::new("h1").cap(2).resident(1, "b").resident(101, "a");
    stage.call(10_101, "b", "markActivity", Json::Null).resident(10_301, "c").plan()
}

fn h1_holds(seen: &Seen<'_>) -> Told {
    let init = seen.call("c", "init", 1)?;
    given(seen.residents(init.begin.ordinal) == 2, "two resident sessions at the cap")?;
    init.resolved()?;
    is_gone(seen, "a", END)?;
    are_initialized(seen, &["b", "c"], END)?;
    equal("the count", seen.residents(END), 2)
}

fn h2() -> Plan {
    let busy = [(1, Action::Open {}), (100, Action::Stream {})];
    Stage::new("h2").cap(1).client("busy", true, &busy).resident(2_000, "new").plan()
}

fn h2_holds(seen: &Seen<'_>) -> Told {
    let init = seen.call("new", "init", 1)?;
    given(seen.residents(init.begin.ordinal) == 1, "one resident session at the cap")?;
    given(seen.open_sockets("busy", init.begin.ordinal) > 0, "the resident session has a live stream")?;
    init.resolved()?;
    are_initialized(seen, &["busy", "new"], END)?;
    equal("the count", seen.residents(END), 2)?;
    let spans = seen.spans("new", "McpSessionDO.init");
    let overflow = spans.first().and_then(|span| span.attribute("mcp.isolate.cap_overflow"));
    equal("mcp.isolate.cap_overflow of the init span", overflow, Some(&json!(true)))
}

fn h3() -> Plan {
    let stage = Stage::new("h3").cap(1).resident(1, "a").resident(201, "b");
    stage.beside(1_200, "a", "init", Json::Null).plan()
}

fn h3_holds(seen: &Seen<'_>) -> Told {
    seen.call("b", "init", 1)?.resolved()?;
    let again = seen.call("a", "init", 2)?;
    let first = seen.state("a", "runtime.installed").first().and_then(|event| event.number("engine"));
    given(first.is_some(), "a was resident")?;
    is_gone(seen, "a", again.begin.ordinal)?;
    again.resolved()?;
    are_initialized(seen, &["a"], again.end.ordinal)?;
    let engine = seen.engine("a", again.end.ordinal);
    expect(engine.is_some() && engine != first, || format!("the engine is {engine:?}, and was {first:?} before"))?;
    equal("whether there is a server", seen.server("a", again.end.ordinal).is_some(), true)
}

fn h4() -> Plan {
    let stage = Stage::new("h4").resident(1, "a");
    stage.call(200, "a", EVICT, Json::Null).call(400, "a", EVICT, Json::Null).plan()
}

fn h4_holds(seen: &Seen<'_>) -> Told {
    let (first, second) = (seen.call("a", EVICT, 1)?, seen.call("a", EVICT, 2)?);
    given(seen.is_initialized("a", first.begin.ordinal), "a resident candidate")?;
    first.resolved()?;
    is_gone(seen, "a", first.end.ordinal)?;
    equal("the count after the first request", seen.residents(first.end.ordinal), 0)?;
    second.resolved()?;
    equal("the count after the second", seen.residents(END), 0)?;
    equal("the number of runtimes released", seen.state("a", "runtime.released").len(), 1)
}

fn h5() -> Plan {
    let stage = Stage::new("h5").cap(2).gate(BUILD, 1, "b", OPENS_AT_MS);
    stage.resident(1, "a").resident(200, "b").resident(400, "c").plan()
}

fn h5_holds(seen: &Seen<'_>) -> Told {
    let (b, c) = (seen.call("b", "init", 1)?, seen.call("c", "init", 1)?);
    let (gated, opened) = (seen.delivered(0)?, seen.opened(0)?);
    given(gated.ordinal < c.begin.ordinal && c.end.ordinal < opened.ordinal, "c is built while b is gated")?;
    equal("the builds in flight while b is gated", seen.in_flight(c.begin.ordinal), 1)?;
    c.resolved()?;
    is_gone(seen, "a", opened.ordinal)?;
    are_initialized(seen, &["c"], opened.ordinal)?;
    b.resolved()?;
    are_initialized(seen, &["b"], END)?;
    equal("the builds in flight at the end", seen.in_flight(END), 0)
}

fn h6() -> Plan {
    let stage = Stage::new("h6").cap(2).fail_at(BUILD, "b", FAILURE);
    stage.resident(1, "a").resident(200, "b").resident(400, "c").plan()
}

fn h6_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    let (b, c) = (seen.call("b", "init", 1)?, seen.call("c", "init", 1)?);
    b.threw(FAILURE)?;
    equal("the builds in flight after the failure", seen.in_flight(c.begin.ordinal), 0)?;
    is_gone(seen, "b", END)?;
    c.resolved()?;
    are_initialized(seen, &["a", "c"], END)?;
    equal("the count", seen.residents(END), 2)
}

fn h7() -> Plan {
    let stage = Stage::new("h7").cap(2).gate(OPEN_DB, 1, "b", OPENS_AT_MS).interrupt(400, "b", Interruptible::Init);
    stage.resident(1, "a").resident(200, "b").resident(600, "c").plan()
}

fn h7_holds(seen: &Seen<'_>) -> Told {
    let (gated, interrupted) = (seen.delivered(0)?, seen.delivered(1)?);
    let (b, c) = (seen.call("b", "init", 1)?, seen.call("c", "init", 1)?);
    let is_suspended = gated.ordinal < interrupted.ordinal && b.end.ordinal > interrupted.ordinal;
    given(is_suspended && b.end.ordinal < seen.opened(0)?.ordinal, "b waits for its handle when it is interrupted")?;
    equal("the builds in flight before the interrupt", seen.in_flight(interrupted.ordinal), 1)?;
    equal("how b's init ended", b.end.text("outcome"), Some("threw"))?;
    equal("the builds in flight after it", seen.in_flight(c.begin.ordinal), 0)?;
    is_gone(seen, "b", END)?;
    c.resolved()?;
    are_initialized(seen, &["a", "c"], END)?;
    equal("the count", seen.residents(END), 2)
}

/// A resident session whose server's close is gated while it is asked for its runtime.
fn closing(id: &str) -> Stage {
    Stage::new(id).gate(CLOSE, 1, "a", OPENS_AT_MS).resident(1, "a").beside(200, "a", EVICT, Json::Null)
}

/// The first engine, the begin of the gated close, and the opening of the gate.
fn gated<'t>(seen: &Seen<'t>) -> Result<(Option<u64>, &'t Event, &'t Event), super::Verdict> {
    let (entered, opened) = (seen.delivered(0)?, seen.opened(0)?);
    let evict = seen.call("a", EVICT, 1)?;
    let engine = seen.engine("a", evict.begin.ordinal);
    given(engine.is_some(), "a resident session")?;
    Ok((engine, entered, opened))
}

/// The init waited for the gate, and built a runtime of its own behind it; the old one was closed once.
fn rebuilt(seen: &Seen<'_>, engine: Option<u64>, entered: &Event, opened: &Event) -> Told {
    let init = seen.call("a", "init", 2)?;
    given(init.begin.ordinal > entered.ordinal && init.begin.ordinal < opened.ordinal, "init comes during the close")?;
    expect(init.end.ordinal > opened.ordinal, || "init did not wait for the teardown".to_owned())?;
    init.resolved()?;
    equal("the number of closes", seen.state("a", "server.closed").len(), 1)?;
    are_initialized(seen, &["a"], END)?;
    let now = seen.engine("a", END);
    expect(now.is_some() && now != engine, || format!("the engine is {now:?}, and was {engine:?} before"))
}

fn h8() -> Plan {
    closing("h8").beside(400, "a", "init", Json::Null).plan()
}

fn h8_holds(seen: &Seen<'_>) -> Told {
    let (engine, entered, opened) = gated(seen)?;
    seen.call("a", EVICT, 1)?.resolved()?;
    rebuilt(seen, engine, entered, opened)
}

fn h9() -> Plan {
    closing("h9").interrupt(600, "a", Interruptible::Disposal).beside(400, "a", "init", Json::Null).plan()
}

/// What the interrupted disposal itself comes to is left open.
fn h9_holds(seen: &Seen<'_>) -> Told {
    let (engine, entered, opened) = gated(seen)?;
    let interrupted = seen.delivered(1)?;
    let waited_ms = opened.at_ms.saturating_sub(interrupted.at_ms);
    given(interrupted.ordinal < opened.ordinal && waited_ms >= 20, "20 ms between the interrupt and the gate")?;
    equal("the engine after the interrupt", seen.engine("a", opened.ordinal), engine)?;
    rebuilt(seen, engine, entered, opened)
}

fn h10() -> Plan {
    closing("h10").beside(200, "a", EVICT, Json::Null).plan()
}

fn h10_holds(seen: &Seen<'_>) -> Told {
    let (_, _, opened) = gated(seen)?;
    let (first, second) = (seen.call("a", EVICT, 1)?, seen.call("a", EVICT, 2)?);
    given(second.begin.ordinal < opened.ordinal, "both requests come before the gate opens")?;
    let are_later = [first, second].iter().all(|call| call.end.ordinal > opened.ordinal);
    expect(are_later, || "a request was answered before the one teardown ended".to_owned())?;
    first.resolved()?;
    second.resolved()?;
    equal("the number of closes", seen.state("a", "server.closed").len(), 1)?;
    is_gone(seen, "a", END)?;
    equal("the count", seen.residents(END), 0)
}
