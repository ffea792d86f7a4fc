//! Rows F: what a deployment does to the last writes of an init.

use super::seen::{END, Seen, equal};
use super::stage::{BUILT_AFTER_MS, CODE_UPDATED, Stage, owner};
use super::{Check, Row, Told};
use crate::plan::Plan;
use serde_json::json;

/// One line a row.
pub const ROWS: &[Row] = &[
    Row {
        id: "F1",
        title: "a lost timestamp write keeps the session",
        check: Check::World { plan: f1, judge: f1_holds },
    },
    Row { id: "F2", title: "a lost alarm write keeps the session", check: Check::World { plan: f2, judge: f2_holds } },
    Row {
        id: "F3",
        title: "a lost alarm is armed at the next touch",
        check: Check::World { plan: f3, judge: f3_holds },
    },
    Row {
        id: "F4",
        title: "an unknown bookkeeping failure fails init and is captured",
        check: Check::World { plan: f4, judge: f4_holds },
    },
    Row {
        id: "F5",
        title: "a reset of the meta write fails init uncaptured",
        check: Check::World { plan: f5, judge: f5_holds },
    },
];

const TIMESTAMP: &str = "clock · storage.put last-activity-ms";
const ALARM: &str = "clock · storage.setAlarm idle";
const META: &str = "meta · storage.put session-meta";
const QUOTA: &str = "quota exceeded for namespace";

fn f1() -> Plan {
    Stage::new("f1").reset_at(TIMESTAMP, "f1").resident(1, "f1").plan()
}

fn f1_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    absorbed(seen, "f1")?;
    equal("the stored timestamp", seen.stored("f1", "last-activity-ms")?, None)
}

/// The init succeeded, its runtime stays, and the reset is told but not captured.
fn absorbed(seen: &Seen<'_>, who: &str) -> Told {
    seen.call(who, "init", 1)?.resolved()?;
    equal("initialized", seen.is_initialized(who, END), true)?;
    equal("whether there is an engine", seen.engine(who, END).is_some(), true)?;
    equal("whether there is a server", seen.server(who, END).is_some(), true)?;
    equal("the number of captures", seen.captures(who), 0)?;
    let told = seen.logged(who, "mcp_session_durable_object_reset");
    equal("the number of resets told", told.len(), 1)?;
    equal("the operation that was reset", told[0].text("operation"), Some("init.mark_activity"))?;
    equal("the kind of the reset", told[0].text("resetKind"), Some("code_update"))
}

fn f2() -> Plan {
    Stage::new("f2").reset_at(ALARM, "f2").resident(1, "f2").plan()
}

fn f2_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    absorbed(seen, "f2")
}

fn f3() -> Plan {
    let stage = Stage::new("f3").reset_at(ALARM, "f3").resident(1, "f3");
    stage.call(1 + BUILT_AFTER_MS, "f3", "validateMcpSessionOwner", owner()).plan()
}

fn f3_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    let (init, touch) = (seen.call("f3", "init", 1)?, seen.call("f3", "validateMcpSessionOwner", 1)?);
    init.resolved()?;
    equal("the alarm after init", seen.alarm("f3", touch.begin.ordinal), None)?;
    equal("the verdict", touch.returned()?, json!("ok"))?;
    equal("whether an alarm is armed after the touch", seen.stored_alarm("f3")?.is_some_and(|at_ms| at_ms > 0), true)
}

fn f4() -> Plan {
    Stage::new("f4").fail_at(TIMESTAMP, "f4", QUOTA).resident(1, "f4").plan()
}

fn f4_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    seen.call("f4", "init", 1)?.threw(QUOTA)?;
    equal("the number of captures", seen.captures("f4"), 1)
}

fn f5() -> Plan {
    Stage::new("f5").reset_at(META, "f5").resident(1, "f5").plan()
}

fn f5_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    seen.call("f5", "init", 1)?.threw(CODE_UPDATED)?;
    equal("the number of captures", seen.captures("f5"), 0)
}
