//! Rows J: the registry of sessions that can be asked for their runtime.

use super::seen::{END, Seen, equal, given};
use super::stage::Stage;
use super::{Check, Row, Told};
use crate::plan::Plan;
use crate::trace::Stream;

/// One line a row.
pub const ROWS: &[Row] = &[
    Row { id: "J1", title: "a release is idempotent", check: Check::Direct },
    Row { id: "J2", title: "a failed request keeps the entry", check: Check::World { plan: j2, judge: j2_holds } },
    Row { id: "J3", title: "a session asked lately is passed over", check: Check::Direct },
    Row { id: "J4", title: "a session can be asked again after the grace", check: Check::Direct },
    Row { id: "J5", title: "a mark without an entry does nothing", check: Check::Direct },
];

const REQUEST: &str = "init · stub.request-cap-eviction";
const UNREACHABLE: &str = "stub unreachable";

/// The third session shows whom the next pick is about.
fn j2() -> Plan {
    let stage = Stage::new("j2").cap(1).fail_at(REQUEST, "b", UNREACHABLE);
    stage.resident(1, "a").resident(200, "b").resident(1_400, "c").plan()
}

fn j2_holds(seen: &Seen<'_>) -> Told {
    seen.delivered(0)?;
    let (b, next) = (seen.call("b", "init", 1)?, seen.call("c", "init", 1)?);
    b.resolved()?;
    for who in ["a", "b"] {
        equal(&format!("initialized of {who}"), seen.is_initialized(who, next.begin.ordinal), true)?;
    }
    equal("the count", seen.residents(next.begin.ordinal), 2)?;
    equal("the number of entries of a that were removed", seen.state("a", "registry.removed").len(), 0)?;
    let told = seen.logged("b", "mcp_session_cap_eviction_request_failed");
    equal("the number of failed requests told", told.len(), 1)?;
    equal("the candidate that was told", told[0].text("sessionId"), Some("a"))?;
    let text = "[mcp-session] cap eviction request failed:";
    let is_printed = seen.logged("b", "console.error").iter().any(|line| line.text("text") == Some(text));
    equal("whether the failure is printed", is_printed, true)?;
    given(next.end.ordinal < END && asked(seen, next.begin.ordinal) > 0, "a next pick")?;
    equal("how often a was asked after that", again(seen, "a", next.begin.ordinal), 0)
}

fn asked(seen: &Seen<'_>, after: u32) -> usize {
    let asked = seen.trace().named(Stream::State, "eviction.requested");
    asked.filter(|event| event.ordinal > after).count()
}

fn again(seen: &Seen<'_>, who: &str, after: u32) -> usize {
    seen.state(who, "eviction.requested").iter().filter(|event| event.ordinal > after).count()
}
