//! Rows D: a session that is restored knows its organisation by itself, and never another one's.

use super::seen::{Seen, equal, expect, given};
use super::stage::Stage;
use super::{Check, Row, Told};
use crate::plan::Plan;
use serde_json::{Value as Json, json};

/// One line a row.
pub const ROWS: &[Row] = &[
    Row {
        id: "D1",
        title: "a restore needs no organization directory",
        check: Check::World { plan: d1, judge: d1_holds },
    },
    Row {
        id: "D2",
        title: "meta of another organization is never offered",
        check: Check::World { plan: d2, judge: d2_holds },
    },
    Row { id: "D3", title: "a first init is offered no meta", check: Check::World { plan: d3, judge: d3_holds } },
];

const RESOLVE: &str = "resolveAndStoreSessionMeta";
const RESOLVER: &str = "McpSessionDOSqlite.resolveSessionMeta";
const LOOKUP: &str = "meta · db.organization";
const UNREACHABLE: &str = "organization lookup: CONNECT_TIMEOUT";

/// A token that does not say the organisation's name: the resolver must find it.
fn token() -> Json {
    let resource = json!({"kind": "default"});
    json!({"token": {"organizationId": "org-1", "userId": "user-1", "elicitationMode": "model", "resource": resource}})
}

fn meta_of(organization: &str) -> Json {
    json!({"session-meta": {
        "organizationId": organization, "organizationName": "Org One", "organizationSlug": "org-one",
        "userId": "user-1", "resource": {"kind": "default"},
    }})
}

/// Where the resolver took the name from, of its only call.
fn source(seen: &Seen<'_>, who: &str) -> Result<String, super::Verdict> {
    let calls = seen.spans(who, RESOLVER);
    equal("the number of resolver calls", calls.len(), 1)?;
    let source = calls[0].attribute("mcp.session.meta_source").and_then(Json::as_str);
    Ok(source.unwrap_or("unknown").to_owned())
}

/// A session with the meta of an organisation while the directory is unreachable. `control` has nothing stored and shows
/// that it is.
fn without_directory(id: &str, organization: &str) -> Plan {
    let stage = Stage::new(id).stored(id, meta_of(organization)).stored("control", json!({}));
    let stage = stage.fail_always(LOOKUP, UNREACHABLE);
    stage.call(1, "control", RESOLVE, token()).call(2_000, id, RESOLVE, token()).plan()
}

fn is_unreachable(seen: &Seen<'_>) -> Told {
    let control = seen.call("control", RESOLVE, 1)?;
    given(control.threw(UNREACHABLE).is_ok(), "the organization directory cannot be reached")
}

fn d1() -> Plan {
    without_directory("d1", "org-1")
}

fn d1_holds(seen: &Seen<'_>) -> Told {
    is_unreachable(seen)?;
    let resolved = seen.call("d1", RESOLVE, 1)?.returned()?;
    equal("the source that the resolver used", source(seen, "d1")?.as_str(), "stored")?;
    equal("the name", &resolved["organizationName"], &json!("Org One"))?;
    equal("the slug", &resolved["organizationSlug"], &json!("org-one"))
}

fn d2() -> Plan {
    without_directory("d2", "org-other")
}

fn d2_holds(seen: &Seen<'_>) -> Told {
    is_unreachable(seen)?;
    let call = seen.call("d2", RESOLVE, 1)?;
    call.threw("mcp_session_meta_unavailable")?;
    call.threw(UNREACHABLE)?;
    equal("the source that the resolver used", source(seen, "d2")?.as_str(), "database")
}

fn d3() -> Plan {
    Stage::new("d3").stored("d3", json!({})).call(1, "d3", RESOLVE, token()).plan()
}

fn d3_holds(seen: &Seen<'_>) -> Told {
    let resolved = seen.call("d3", RESOLVE, 1)?.returned()?;
    equal("the source that the resolver used", source(seen, "d3")?.as_str(), "database")?;
    equal("the name", &resolved["organizationName"], &json!("Organization org-1"))?;
    let stored = seen.stored("d3", "session-meta")?;
    expect(stored == Some(&resolved), || format!("{stored:?} is stored, and {resolved} was resolved"))
}
