//! Sessions of mode `native`: the client is asked while the call runs, on the stream of the call.

use serde_json::{Value, json};

use super::calls::asking;
use super::script::Rule;
use super::world::{Played, Setup, World, play};
use crate::agents::transport::testing::{request, tool_call};
use crate::rt;

/// A session whose client can do so much runs code that asks.
fn native<F, Fut>(capabilities: Value, rules: Vec<Rule>, story: F) -> Played
where
    F: FnOnce(std::rc::Rc<World>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let setup = Setup { mode: "native", timeout_ms: 300_000, rules, ..Setup::default() };
    let mut played = play(setup, |world| async move {
        world.open(50).await;
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities});
        world.send("initialize", request("i", "initialize", params), 50).await;
        world.execute("execute", &asking("Deploy?"), 100).await;
        story(world).await;
    });
    played.log.drain(..2);
    played
}

async fn respond(world: &World, response: Value, ms: u64) {
    let mut message = json!({"jsonrpc": "2.0", "id": 0});
    for (key, value) in response.as_object().expect("an object") {
        message[key] = value.clone();
    }
    world.send("respond", message, ms).await;
}

const ASKS: &str = r#"execute asks 0 "Deploy?""#;

#[test]
fn the_client_is_asked_on_the_stream_of_its_call_and_the_call_goes_on_with_its_answer() {
    let played = native(json!({"elicitation": {}}), Vec::new(), |world| async move {
        respond(&world, json!({"result": {"action": "accept", "content": {"env": "prod"}}}), 100).await;
    });
    let done = r#"execute completed {"action":"accept","content":{"env":"prod"}}"#;
    assert_eq!(played.log, [ASKS, done]);
    assert_eq!(played.recorded.count("execution.paused"), 0);
    assert_eq!(played.recorded.count("lease.taken"), 0);
}

#[test]
fn a_client_that_refuses_or_errs_ends_the_call() {
    let declined = native(json!({"elicitation": {"form": {}}}), Vec::new(), |world| async move {
        respond(&world, json!({"result": {"action": "decline"}}), 100).await;
    });
    assert_eq!(declined.log[1], r#"execute error "InteractionRefused: decline""#);
    let erring = native(json!({"elicitation": {}}), Vec::new(), |world| async move {
        respond(&world, json!({"error": {"code": -1, "message": "no"}}), 100).await;
    });
    assert_eq!(erring.log[1], r#"execute error "Internal tool error [00000000]""#);
}

#[test]
fn a_silent_client_is_waited_for_a_minute() {
    let played = native(json!({"elicitation": {}}), Vec::new(), |world| async move {
        rt::sleep_ms(59_000).await;
        super::world::log("still waits");
        rt::sleep_ms(2_000).await;
        respond(&world, json!({"result": {"action": "accept"}}), 100).await;
    });
    assert_eq!(played.log, [ASKS, "still waits", r#"execute error "Internal tool error [00000000]""#]);
    assert!(played.recorded.values("console.error", "error")[0].ends_with("MCP error -32001: Request timed out"));
}

#[test]
fn a_client_that_cannot_be_asked_is_not() {
    let played = native(json!({}), Vec::new(), |_| async {});
    assert_eq!(played.log, [r#"execute error "Internal tool error [00000000]""#]);
    assert!(played.recorded.values("console.error", "error")[0].ends_with("Client does not support form elicitation."));
}

#[test]
fn a_server_that_closes_asks_nobody_any_more_and_there_is_nothing_to_resume() {
    let played = native(json!({"elicitation": {}}), Vec::new(), |world| async move {
        world.send("resume", tool_call(3, "resume", json!({"executionId": "x"})), 50).await;
        world
            .inside("close", 100, |session| async move {
                crate::session::teardown::close_runtime(&session, false).run().await;
            })
            .await;
    });
    assert_eq!(played.log, [ASKS, "resume answered"]);
    assert!(played.recorded.values("console.error", "error")[0].ends_with("MCP error -32000: Connection closed"));
}
