//! Rows G: an alarm of an object whose name only its storage tells, or nothing does.

use super::seen::{END, Seen, equal, given};
use super::stage::Stage;
use super::{Check, Row, Told};
use crate::plan::Plan;
use crate::trace::{Event, Stream};
use serde_json::{Value as Json, json};

/// One line a row.
pub const ROWS: &[Row] = &[
    Row {
        id: "G1",
        title: "an alarm finds the name in storage and disposes",
        check: Check::World { plan: g1, judge: g1_holds },
    },
    Row {
        id: "G2",
        title: "a paused lease is extended with the name in storage",
        check: Check::World { plan: g2, judge: g2_holds },
    },
    Row {
        id: "G3",
        title: "an alarm without any name ends and cleans up",
        check: Check::World { plan: g3, judge: g3_holds },
    },
    Row { id: "G4", title: "the observed session id is total", check: Check::Direct },
];

const TIMEOUT_MS: u64 = 1_000;
/// Idle ceiling of a paused session.
const CEILING_MS: u64 = 1_000_000;
/// The close that a second use of the session falls into.
const CLOSE: &str = "teardown · server.close";
const SESSION: &str = "session-stale-alarm";

fn named_by_storage() -> Json {
    json!({"__ps_name": format!("streamable-http:{SESSION}")})
}

/// A resident object whose id has no name; the run lasts until well after its alarm.
fn nameless(id: &str, values: Json) -> Stage {
    Stage::new(id).timeouts(TIMEOUT_MS, CEILING_MS).quiet(3 * TIMEOUT_MS).nameless(id, values)
}

/// The alarm came to an object that was resident and did not know its name, once, and ended well.
fn ended_well<'t>(seen: &Seen<'t>, who: &str) -> Result<&'t Event, super::Verdict> {
    seen.call(who, "init", 1)?.resolved()?;
    let constructed = seen.named(Stream::Platform, who, "object.constructed");
    given(constructed.iter().all(|event| event.flag("named") == Some(false)), "the object does not know its name")?;
    let fired = seen.named(Stream::Platform, who, "alarm.fired");
    let Some(first) = fired.first() else { return Err(super::seen::unknown("the alarm never fired")) };
    given(seen.is_initialized(who, first.ordinal), "a resident runtime when the alarm fires")?;
    equal("the number of deliveries", fired.len(), 1)?;
    let ended = seen.named(Stream::Platform, who, "alarm.ended");
    equal("how the alarm ended", ended.first().and_then(|ended| ended.text("outcome")), Some("ok"))?;
    Ok(first)
}

/// The same, used once more while its server closes: the alarm that fired is spent, and so there is one to delete.
fn used_while_closing(id: &str, values: Json) -> Plan {
    let stage = nameless(id, values).gate(CLOSE, 1, id, TIMEOUT_MS + 600).build(1, id);
    stage.call(TIMEOUT_MS + 300, id, "markActivity", Json::Null).plan()
}

/// Nothing is resident, no alarm is armed, the idle clock is gone.
fn is_cleaned_up(seen: &Seen<'_>, who: &str) -> Told {
    let opened = seen.opened(0)?.ordinal;
    given(seen.alarm(who, opened).is_some(), "an alarm is armed while the server closes")?;
    equal("initialized", seen.is_initialized(who, END), false)?;
    equal("the engine", seen.engine(who, END), None)?;
    equal("the alarm", seen.stored_alarm(who)?, None)?;
    equal("the stored timestamp", seen.stored(who, "last-activity-ms")?, None)
}

fn g1() -> Plan {
    used_while_closing("g1", named_by_storage())
}

fn g1_holds(seen: &Seen<'_>) -> Told {
    ended_well(seen, "g1")?;
    let told = seen.logged("g1", "mcp_session_idle_runtime_dispose");
    equal("the number of disposals told", told.len(), 1)?;
    equal("the session that was told", told[0].text("sessionId"), Some(SESSION))?;
    let spans = seen.spans("g1", "mcp.session.idle_runtime_dispose");
    let id = spans.first().and_then(|span| span.attribute("mcp.session.id"));
    equal("the session of the span", id, Some(&json!(SESSION)))?;
    is_cleaned_up(seen, "g1")
}

fn g2() -> Plan {
    nameless("g2", named_by_storage()).paused("exec-paused", "return 1").build(1, "g2").plan()
}

fn g2_holds(seen: &Seen<'_>) -> Told {
    ended_well(seen, "g2")?;
    let told = seen.logged("g2", "mcp_session_paused_lease_extension");
    equal("the number of extensions told", told.len(), 1)?;
    equal("the session that was told", told[0].text("sessionId"), Some(SESSION))?;
    equal("the paused executions that were told", told[0].number("pausedExecutionCount"), Some(1))?;
    equal("whether an alarm is armed", seen.stored_alarm("g2")?.is_some_and(|at_ms| at_ms > 0), true)?;
    equal("initialized", seen.is_initialized("g2", END), true)
}

fn g3() -> Plan {
    used_while_closing("g3", json!({}))
}

fn g3_holds(seen: &Seen<'_>) -> Told {
    ended_well(seen, "g3")?;
    let told = seen.logged("g3", "mcp_session_unaddressable_alarm_cleanup");
    equal("the number of clean-ups told", told.len(), 1)?;
    equal("the level", told[0].text("level"), Some("warn"))?;
    equal("the session that was told", told[0].text("sessionId"), Some("unresolved"))?;
    is_cleaned_up(seen, "g3")
}
