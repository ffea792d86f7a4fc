//! The bare client against a toy MCP edge, on two machines.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::json;

#[cfg(madsim)]
use super::toy::behave;
use super::toy::{Logging, client, world};
use super::{Answer, CallOptions, Client, ClientConfig, Cut, Outcome};
use crate::net::testkit::{Latency, log, untimed};
#[cfg(madsim)]
use crate::net::testkit::{in_world, machine, on, toy_edge};
use crate::rt;

/// The lines that the client's observer wrote, without times.
fn seen_by(label: &str, lines: &[String]) -> Vec<String> {
    untimed(lines).into_iter().filter(|line| line.starts_with(label)).collect()
}

#[test]
fn a_handshake_takes_two_requests_and_a_call_is_answered_over_a_stream_in_many_chunks() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let client = client("s1", edge);
        client.open().await;
        assert_eq!(client.session().as_deref(), Some("sess-1"));
        let called = client.call("return 1", CallOptions::default()).await;
        assert_eq!(called.outcome, Outcome::Answered(Answer::Result(json!({ "ran": "return 1" }))));
        let noticed = client.noticed();
        // Two streams, each with a priming event, a keepalive and a message that is no answer.
        assert_eq!((noticed.priming, noticed.comments, noticed.messages), (2, 2, 2));
    });
    let expected = [
        "s1 #1 POST open",
        "s1 #1 head 200 sess-1",
        "s1 #1 answered {\"ran\":\"\"}",
        "s1 #2 POST initialized",
        "s1 #2 head 202 -",
        "s1 #2 answered ",
        "s1 #3 POST call",
        "s1 #3 head 200 sess-1",
        "s1 #3 answered {\"ran\":\"return 1\"}",
    ];
    assert_eq!(seen_by("s1", &lines), expected);
}

#[test]
fn each_way_a_request_can_end_has_its_own_outcome() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let client = client("s1", edge);
        for code in ["json", "error", "end", "refuse"] {
            client.call(code, CallOptions::default()).await;
        }
        client.ping().await;
        client.close().await;
        let nobody =
            Client::new(ClientConfig::new("s2", SocketAddr::from(([127, 0, 0, 1], 9))), Rc::new(Logging::default()));
        nobody.touch("return 1").await;
    });
    let ends: Vec<_> = untimed(&lines)
        .into_iter()
        .filter(|line| line.starts_with('s') && !["POST", "DELETE", "head"].iter().any(|word| line.contains(word)))
        .collect();
    let expected = [
        "s1 #1 answered {\"ran\":\"json\"}",
        "s1 #2 answered error {\"code\":-32603,\"message\":\"Internal error\"}",
        "s1 #3 ended ",
        "s1 #4 refused {\"code\":-32001,\"message\":\"Session not found\"}",
        "s1 #5 answered {\"ran\":\"\"}",
        "s1 #6 answered ",
        "s2 #1 failed …",
    ];
    assert_eq!(ends, expected);
}

#[test]
fn a_request_without_an_answer_is_given_up_and_its_connection_dropped() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let mut config = ClientConfig::new("s1", edge);
        config.request_timeout_ms = 300;
        let client = Client::new(config, Rc::new(Logging::default()));
        for code in ["no-head", "silent", "no-end"] {
            let begun_ms = rt::now_ms();
            client.call(code, CallOptions::default()).await;
            let waited_ms = rt::now_ms() - begun_ms;
            assert!(waited_ms == 300 || !cfg!(madsim) && waited_ms > 300, "waited {waited_ms} ms");
            rt::sleep_ms(20).await;
        }
        client.call("json", CallOptions::default()).await;
    });
    let expected = [
        "s1 #1 POST call",
        "edge POST of s1 /mcp",
        "s1 #1 gave-up head",
        "edge POST of s1 gone",
        "s1 #2 POST call",
        "edge POST of s1 /mcp",
        "s1 #2 head 200 sess-1",
        "s1 #2 gave-up answer",
        "edge POST of s1 gone",
        "s1 #3 POST call",
        "edge POST of s1 /mcp",
        "s1 #3 head 200 sess-1",
        "s1 #3 gave-up end of body",
        "edge POST of s1 gone",
        "s1 #4 POST call",
        "edge POST of s1 /mcp",
        "s1 #4 head 200 -",
        "s1 #4 answered {\"ran\":\"json\"}",
    ];
    assert_eq!(untimed(&lines), expected);
}

#[test]
fn a_stream_that_the_server_ended_is_opened_again_after_its_last_event() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let mut config = ClientConfig::new("s1", edge);
        config.reopen_stream = true;
        config.target = "/mcp?ends".to_owned();
        let client = Client::new(config, Rc::new(Logging::default()));
        client.stream(false).await.expect("a stream");
        rt::sleep_ms(2000).await;
        assert!(client.holds_stream());
        client.end_stream();
        rt::sleep_ms(1200).await;
        assert!(!client.holds_stream());
    });
    let expected = [
        "s1 #1 GET stream",
        "edge GET of s1 /mcp",
        "edge stream of s1 after -",
        "s1 #1 head 200 sess-1",
        "s1 #1 stream open",
        "s1 #1 stream end by server",
        "s1 #1 ended ",
        "s1 #2 GET stream",
        "edge GET of s1 /mcp",
        "edge stream of s1 after g:7",
        "s1 #2 head 200 sess-1",
        "s1 #2 stream open",
        "s1 #2 stream end by server",
        "s1 #2 failed …",
        "s1 #3 GET stream",
        "edge GET of s1 /mcp",
        "edge stream of s1 after g:8",
        "s1 #3 head 200 sess-1",
        "s1 #3 stream open",
        "s1 #3 stream end by client",
        "s1 #3 ended ",
        "edge GET of s1 gone",
    ];
    assert_eq!(untimed(&lines), expected);
    if cfg!(madsim) {
        let at_ms = |text: &str| {
            let line = lines.iter().find(|line| line.ends_with(text)).expect("the line is there");
            line.split(' ').next().and_then(|at| at.parse::<u64>().ok()).expect("a time")
        };
        assert_eq!(at_ms("#2 GET stream") - at_ms("#1 ended "), 1000);
        assert_eq!(at_ms("#3 GET stream") - at_ms("#2 failed …"), 300, "the server's `retry:` counts");
    }
}

#[test]
fn a_client_that_does_not_reopen_lets_an_ended_stream_go_and_a_refused_one_is_no_stream() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let mut config = ClientConfig::new("s1", edge);
        config.target = "/mcp?ends".to_owned();
        let once = Client::new(config.clone(), Rc::new(Logging::default()));
        once.stream(false).await.expect("a stream");
        rt::sleep_ms(1500).await;
        config.label = Arc::from("s2");
        config.reopen_stream = true;
        config.target = "/mcp?refused".to_owned();
        let refused = Client::new(config, Rc::new(Logging::default()));
        let outcome = refused.stream(false).await.expect_err("no stream");
        assert_eq!(outcome.status, Some(405));
        rt::sleep_ms(1500).await;
    });
    let begins = untimed(&lines).iter().filter(|line| line.contains("GET stream")).count();
    assert_eq!(begins, 2, "{lines:?}");
    assert_eq!(seen_by("s2", &lines).last().map(String::as_str), Some("s2 #1 refused \"no stream here\""));
}

#[test]
fn a_call_that_is_cut_is_asked_for_after_its_last_event_or_without_it() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let mut config = ClientConfig::new("s1", edge);
        config.request_timeout_ms = 200;
        let client = Client::new(config, Rc::new(Logging::default()));
        let cut = Some(Cut { after_events: 1, ms: 0 });
        assert_eq!(client.call("return 1", CallOptions { copies: 1, cut }).await.outcome, Outcome::Cut);
        rt::sleep_ms(20).await;
        client.recover(false, None).await;
        client.recover(true, Some(Cut { after_events: 0, ms: 50 })).await;
        rt::sleep_ms(20).await;
    });
    let expected = [
        "s1 #1 POST call",
        "edge POST of s1 /mcp",
        "s1 #1 head 200 sess-1",
        "s1 #1 cut ",
        "edge POST of s1 gone",
        "s1 #2 GET recover",
        "edge GET of s1 /mcp",
        "edge stream of s1 after p:1",
        "s1 #2 head 200 sess-1",
        "s1 #2 gave-up answer",
        "s1 #3 GET recover",
        "edge GET of s1 gone",
        "edge GET of s1 /mcp",
        "edge stream of s1 after -",
        "s1 #3 head 200 sess-1",
        "s1 #3 cut ",
        "edge GET of s1 gone",
    ];
    if cfg!(madsim) {
        assert_eq!(untimed(&lines), expected);
    }
}

#[test]
fn a_client_that_stalls_reads_its_answer_later() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let client = client("s1", edge);
        let begun_ms = rt::now_ms();
        client.stall(3_000);
        client.call("return 1", CallOptions::default()).await;
        let took_ms = rt::now_ms() - begun_ms;
        assert!((3_000..3_500).contains(&took_ms) || !cfg!(madsim), "{took_ms}");
    });
    assert!(seen_by("s1", &lines).iter().any(|line| line.starts_with("s1 #1 answered")));
}

#[test]
fn overlapping_calls_use_a_second_connection_and_later_ones_the_first_again() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let client = client("s1", edge);
        let other = Rc::clone(&client);
        rt::spawn("test.overlap", async move {
            other.call("return 1", CallOptions::default()).await;
        });
        client.call("return 2", CallOptions::default()).await;
        rt::sleep_ms(200).await;
        for _ in 0..3 {
            client.call("json", CallOptions::default()).await;
        }
        log(format_args!("s1 connections {}", client.open_connections()));
    });
    assert_eq!(seen_by("s1", &lines).last().map(String::as_str), Some("s1 connections 2"));
    let answered = seen_by("s1", &lines).iter().filter(|line| line.contains("answered")).count();
    assert_eq!(answered, 5);
}

#[test]
fn a_connection_that_the_server_closed_after_an_answer_is_replaced() {
    let lines = world(1, Latency::Calm, |edge| async move {
        let client = client("s1", edge);
        for _ in 0..3 {
            client.call("close", CallOptions::default()).await;
        }
        rt::sleep_ms(20).await;
        client.call("json", CallOptions::default()).await;
        log(format_args!("s1 connections {}", client.open_connections()));
    });
    let lines = seen_by("s1", &lines);
    assert_eq!(lines.iter().filter(|line| line.contains("answered")).count(), 4, "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("s1 connections 1"));
}

#[test]
#[cfg(madsim)]
fn a_client_of_a_dead_edge_fails_and_tries_its_stream_twice_more() {
    let lines = in_world(1, Latency::Calm, || async {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        rt::spawn("test.kill", async move {
            rt::sleep_ms(500).await;
            edge.kill();
        });
        on(&clients, move || async move {
            let mut config = ClientConfig::new("s1", address);
            config.reopen_stream = true;
            let client = Client::new(config, Rc::new(Logging::default()));
            client.stream(false).await.expect("a stream");
            let called = client.call("silent", CallOptions::default()).await;
            assert!(matches!(called.outcome, Outcome::Failed(_)), "{called:?}");
            rt::sleep_ms(10_000).await;
        })
        .await;
    });
    let lines = seen_by("s1", &lines);
    assert_eq!(lines.iter().filter(|line| line.contains("GET stream")).count(), 3, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("failed")).count(), 4, "{lines:?}");
}

/// Several clients at once: handshake, held stream, two calls, a close, at times that meet.
#[cfg(madsim)]
fn crowd(seed: u64) -> Vec<String> {
    world(seed, Latency::Drawn, |edge| async move {
        let crowd: Vec<_> = (1..=6).map(|number| client(&format!("s{number}"), edge)).collect();
        let mut done = Vec::new();
        for client in crowd {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            done.push(receiver);
            rt::spawn("test.client", async move {
                client.open().await;
                client.stream(false).await.expect("a stream");
                client.call("return 1", CallOptions::default()).await;
                rt::sleep_ms(60_000).await;
                client.call("return 2", CallOptions::default()).await;
                client.end_stream();
                client.close().await;
                let _ = sender.send(());
            });
        }
        for receiver in done {
            receiver.await.expect("the client comes to its end");
        }
    })
}

#[test]
#[cfg(madsim)]
fn the_same_seed_gives_the_same_log_and_another_runtime_seed_the_same_for_each_client() {
    let first = crowd(1);
    assert_eq!(first, crowd(1));
    // Lines of one millisecond may change places between clients, never within one.
    let by_client = |lines: &[String]| {
        (1..=6).map(|n| lines.iter().filter(|line| line.contains(&format!("s{n} "))).cloned().collect()).collect()
    };
    let expected: Vec<Vec<String>> = by_client(&first);
    for seed in 2..12 {
        let lines: Vec<Vec<String>> = by_client(&crowd(seed));
        assert_eq!(lines, expected, "runtime seed {seed}");
    }
}
