//! Streams of MCP sessions: what is sent and kept, and what clients that left or come back find (platform facts 190-207).

use super::super::front::{Answer, told};
use super::super::memory;
use super::super::probe::Probe as Entry;
use super::super::probe::driver;
use super::super::verdict::LeftOut;
use super::super::world::World;
use super::behaviours::pick;
use super::client::{Call, session_key};
use super::tidy::tidy;
use model::rt;
use serde_json::{Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    driver!("MC1", handshake_and_call),
    driver!("MC2", during_a_call),
    driver!("MC3", listener),
    driver!("MC6", aborted_in_a_call),
    driver!("MC8", unknown_session),
    driver!("MC10", client_leaves),
    driver!("MC11", two_listeners),
];

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[LeftOut {
    id: "MC3",
    path: "getChunks",
    why: "it was cut after 200 characters, and the model writes the keys of JSON in another order",
}];

impl Call {
    /// Status, ending and error.
    pub(super) fn outcome(&self) -> Value {
        let seen = self.seen();
        json!({ "status": seen.status, "ended": seen.ended, "error": seen.error })
    }

    /// Status, and whether the body has that text.
    pub(super) fn says(&self, text: &str) -> Value {
        let seen = self.seen();
        json!([seen.status, seen.text.contains(text)])
    }
}

impl World {
    /// The snapshot of a session's object.
    pub(super) async fn snap(&self, session: &str) -> Answer {
        self.call_agent(session_key(session), false, "snap", Value::Null).await
    }
}

async fn handshake_and_call(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, statuses) = client.open().await?;
    let before = world.snap(&session).await?;
    let mut call = client.tool(&session, 1, "echo", json!({ "text": "hi" }));
    call.done().await;
    rt::sleep_ms(100).await;
    let after = world.snap(&session).await?;
    let is_hex = |each: char| each.is_ascii_digit() || ('a'..='f').contains(&each);
    let tool = call.seen();
    let answer = json!({
        "initStatus": statuses[0], "sidIs64Hex": session.len() == 64 && session.chars().all(is_hex), "note": statuses[1],
        "name": before["name"], "idName": before["idName"], "keysAfterInit": before["keys"],
        "alarmAfterInit": before["alarmInSec"], "wsAfterInit": before["webSockets"], "tool": [tool.status, tool.ended, tool.text],
        "keysAfterTool": after["keys"], "alarmAfterTool": after["alarmInSec"], "wsAfterTool": after["webSockets"],
    });
    Ok(tidy(&answer, &session))
}

async fn during_a_call(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let mut call = client.tool(&session, 2, "slow", json!({ "ms": 1_500 }));
    rt::sleep_ms(500).await;
    let during = world.snap(&session).await?;
    call.done().await;
    rt::sleep_ms(100).await;
    let after = world.snap(&session).await?;
    let fields = [("keys", "keys"), ("alarm", "alarmInSec"), ("ws", "webSockets"), ("refs", "refs")];
    let answer = json!({
        "during": pick(&during, &fields), "after": pick(&after, &fields[..3]), "ended": call.seen().ended,
    });
    Ok(tidy(&answer, &session))
}

async fn listener(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let mut listener = client.send("GET", None, Some(&session));
    listener.head().await;
    rt::sleep_ms(150).await;
    let before = world.snap(&session).await?;
    client.tool(&session, 3, "notify", json!({})).done().await;
    rt::sleep_ms(150).await;
    let after = world.snap(&session).await?;
    let answer = json!({ "status": listener.seen().status, "ws": before["webSockets"], "keys": after["keys"] });
    let mut answer = tidy(&answer, &session);
    // Ids of connections are random on the real runtime, and were before the name of the listeners' stream.
    answer["keys"].as_array_mut().into_iter().for_each(|keys| keys.sort_by_key(Value::to_string));
    listener.destroy();
    rt::sleep_ms(300).await;
    answer["wsAfterClientLeft"] = world.snap(&session).await?["webSockets"].clone();
    Ok(answer)
}

async fn aborted_in_a_call(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let mut listener = client.send("GET", None, Some(&session));
    listener.head().await;
    let mut call = client.tool(&session, 8, "slow", json!({ "ms": 3_000 }));
    rt::sleep_ms(500).await;
    let aborter = told(world.call_agent(session_key(&session), false, "abort", json!("killed")).await);
    call.done_within(2_500).await;
    rt::sleep_ms(300).await;
    let after = world.snap(&session).await?;
    let mut again = client.tool(&session, 9, "echo", json!({ "text": "again" }));
    again.done().await;
    let mut post = call.outcome();
    post["body"] = json!(call.seen().text);
    let answer = json!({
        "aborter": aborter, "post": post, "get": pick(&listener.outcome(), &[("ended", "ended"), ("error", "error")]),
        "keysLeft": after["keys"], "ws": after["webSockets"], "nextCall": again.says("again from"),
    });
    Ok(tidy(&answer, &session))
}

async fn unknown_session(world: Rc<World>) -> Answer {
    let client = world.client();
    let from = memory::log_len();
    let session = "f".repeat(64);
    let mut call = client.tool(&session, 1, "echo", json!({ "text": "x" }));
    call.done().await;
    let after = world.snap(&session).await?;
    let seen = call.seen();
    let has_run = memory::trace(from).contains(&"init");
    Ok(tidy(&json!({ "post": [seen.status, seen.text], "initRan": has_run, "keys": after["keys"] }), &session))
}

/// Sessions that are opened before that of MC10. Its streams are in the order of their connections' ids: random ones on the
/// real runtime, numbers as texts here, so that the eleventh connection, the call's, comes before the ninth.
const SESSIONS_BEFORE: usize = 4;

async fn client_leaves(world: Rc<World>) -> Answer {
    let client = world.client();
    for _ in 0..SESSIONS_BEFORE {
        client.open().await?;
    }
    let (session, _) = client.open().await?;
    let mut call = client.tool(&session, 13, "slow", json!({ "ms": 1_500 }));
    call.head().await;
    rt::sleep_ms(400).await;
    call.destroy();
    rt::sleep_ms(2_000).await;
    let after = world.snap(&session).await?;
    let mut listener = client.send("GET", None, Some(&session));
    listener.head().await;
    rt::sleep_ms(400).await;
    let answer = json!({
        "keysAfterToolEnded": after["keys"], "ws": after["webSockets"], "plainGet": listener.seen().text,
    });
    Ok(tidy(&answer, &session))
}

async fn two_listeners(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let mut first = client.send("GET", None, Some(&session));
    first.head().await;
    rt::sleep_ms(150).await;
    let mut second = client.send("GET", None, Some(&session));
    second.head().await;
    rt::sleep_ms(500).await;
    let after = world.snap(&session).await?;
    let (first, second) = (first.outcome(), second.outcome());
    Ok(json!({
        "first": [first["status"], first["ended"], first["error"]], "second": [second["status"], second["ended"]],
        "ws": after["webSockets"],
    }))
}
