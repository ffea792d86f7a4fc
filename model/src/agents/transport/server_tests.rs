//! The server object: methods, tools, and what becomes of an answer after a close or a cancellation.

use serde_json::{Value, json};

use super::testing::{in_session, request, tool_call};

#[test]
fn initialize_negotiates_and_keeps_what_the_client_can_do() {
    let log = in_session(&[], None, |world| async move {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}});
        world.post("a", request(0, "initialize", params), 10).await;
        world.rpc("capabilities", Value::Null, 10).await;
    });
    assert_eq!(
        log,
        [
            "a message c1:01 {id:0,result:{capabilities:{tools:{listChanged:true}},protocolVersion:2025-06-18,\
         serverInfo:{name:test,version:1.0.0}}} close",
            "capabilities {roots:{}}",
        ]
    );
}

#[test]
fn an_unknown_method_is_an_error_and_an_unknown_tool_a_failed_result() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", request(1, "resources/list", json!({})), 10).await;
        world.post("b", tool_call(2, "nope", json!({})), 10).await;
        world.post("c", request(3, "tools/list", json!({})), 10).await;
    });
    assert_eq!(log[0], "a message c1:01 {error:{code:-32601,message:Method not found},id:1} close");
    let text = "MCP error -32602: Tool nope not found";
    assert_eq!(
        log[2],
        format!("b message c2:02 {{id:2,result:{{content:[{{text:{text},type:text}}],isError:true}}}} close")
    );
    assert_eq!(log[3], "c message c3:01 {id:3,result:{tools:[echo,slow,break]}} close");
}

#[test]
fn a_defect_of_a_tool_is_told_by_a_correlation_id_only() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "break", json!({})), 10).await;
    });
    let text = "Internal tool error [00000000]";
    let result = format!(
        "{{content:[{{text:Error: {text},type:text}}],isError:true,structuredContent:{{error:{text},status:error}}}}"
    );
    assert_eq!(log[1], format!("a message c1:02 {{id:1,result:{result}}} close").replace("00000000000000", ""));
}

#[test]
fn the_answer_of_a_closed_server_goes_nowhere_though_the_tool_runs_on() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "slow", json!({"ms": 50})), 20).await;
        world.rpc("close", Value::Null, 10).await;
        world.rpc("renew", Value::Null, 50).await;
        world.rows().await;
    });
    assert_eq!(
        log,
        [
            "a mcp-priming c1:01 {prime}",
            "a closed 1000 Session closed",
            "close null",
            "renew null",
            "slow tool ends",
            "rows [event__:c1:01={prime},stream_reqs__:c1=[1]]",
        ]
    );
}

#[test]
fn a_cancelled_call_is_not_answered_and_its_row_stays() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "slow", json!({"ms": 50})), 20).await;
        let params = json!({"requestId": 1});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        world.post("b", cancelled, 50).await;
        world.rows().await;
    });
    assert_eq!(log[1..], ["slow tool ends", "rows [event__:c1:01={prime},stream_reqs__:c1=[1]]"]);
}

#[test]
fn a_close_costs_three_trips_and_two_without_a_transport() {
    let log = in_session(&[], None, |world| async move { world.rpc("close-twice", Value::Null, 10).await });
    assert_eq!(log, ["close-twice [3,2]"]);
}

#[test]
fn a_server_serves_one_transport_in_its_life() {
    let log = in_session(&[], None, |world| async move { world.rpc("connect-again", Value::Null, 10).await });
    assert_eq!(
        log,
        ["connect-again Error: Already connected to a transport. Call close() before connecting to a new \
                      transport, or use a separate Protocol instance per connection."]
    );
}
