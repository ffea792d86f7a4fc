//! Rows C: whether the client can render apps is negotiated once and survives restores.

use super::seen::{Seen, equal};
use super::stage::Stage;
use super::{Check, Row, Told};
use crate::plan::Plan;
use serde_json::{Value as Json, json};

/// One line a row.
pub const ROWS: &[Row] = &[
    Row { id: "C1", title: "a negotiated capability is saved", check: Check::World { plan: c1, judge: c1_holds } },
    Row { id: "C2", title: "the loss of a capability is saved", check: Check::World { plan: c2, judge: c2_holds } },
    Row { id: "C3", title: "a capability survives a re-resolve", check: Check::World { plan: c3, judge: c3_holds } },
    Row { id: "C4", title: "a capability is never invented", check: Check::World { plan: c4, judge: c4_holds } },
    Row { id: "C5", title: "without meta nothing is stored", check: Check::World { plan: c5, judge: c5_holds } },
];

const META: &str = "session-meta";
const PERSIST: &str = "persistAppsEnabled";
const RESOLVE: &str = "resolveAndStoreSessionMeta";

/// A stored record, with the capability if one was negotiated.
fn record(apps_enabled: Option<bool>) -> Json {
    let mut record = json!({
        "organizationId": "org-1", "organizationName": "Org 1", "userId": "user-1", "resource": {"kind": "default"},
    });
    if let Some(enabled) = apps_enabled {
        record["appsEnabled"] = enabled.into();
    }
    record
}

fn persisting(id: &str, stored: Json, enabled: bool) -> Plan {
    Stage::new(id).stored(id, stored).call(1, id, PERSIST, json!({"enabled": enabled})).plan()
}

/// The token of a connect carries no capability.
fn resolving(id: &str, stored: Json) -> Plan {
    let token = json!({"organizationId": "org-1", "organizationName": "Org 1", "userId": "user-1"});
    Stage::new(id).stored(id, json!({META: stored})).call(1, id, RESOLVE, json!({"token": token})).plan()
}

fn c1() -> Plan {
    persisting("c1", json!({META: record(None)}), true)
}

fn c1_holds(seen: &Seen<'_>) -> Told {
    seen.call("c1", PERSIST, 1)?.resolved()?;
    equal("the stored meta", seen.stored("c1", META)?, Some(&record(Some(true))))
}

fn c2() -> Plan {
    persisting("c2", json!({META: record(Some(true))}), false)
}

fn c2_holds(seen: &Seen<'_>) -> Told {
    seen.call("c2", PERSIST, 1)?.resolved()?;
    equal("the stored meta", seen.stored("c2", META)?, Some(&record(Some(false))))
}

fn c3() -> Plan {
    resolving("c3", record(Some(true)))
}

fn c3_holds(seen: &Seen<'_>) -> Told {
    let resolved = seen.call("c3", RESOLVE, 1)?.returned()?;
    equal("the resolved capability", &resolved["appsEnabled"], &json!(true))?;
    let stored = seen.stored("c3", META)?;
    equal("the stored capability", stored.and_then(|meta| meta.get("appsEnabled")), Some(&json!(true)))
}

fn c4() -> Plan {
    resolving("c4", record(None))
}

fn c4_holds(seen: &Seen<'_>) -> Told {
    let resolved = seen.call("c4", RESOLVE, 1)?.returned()?;
    equal("the resolved capability", resolved.get("appsEnabled"), None)?;
    equal("the stored meta", seen.stored("c4", META)?, Some(&record(None)))
}

fn c5() -> Plan {
    persisting("c5", json!({}), true)
}

fn c5_holds(seen: &Seen<'_>) -> Told {
    seen.call("c5", PERSIST, 1)?.resolved()?;
    equal("what is stored", seen.all_stored("c5")?, &json!({}))
}
