//! The adapter, the server and the connection together, on two machines.

use std::sync::Arc;

use bytes::Bytes;

use super::http_client::{HttpConnection, Request};
use super::testkit::{Latency, Toy, in_world, log, machine, on, toy_edge, untimed};
use crate::rt;

fn get(target: &str) -> Request {
    Request { method: "GET", target: target.to_owned(), headers: Vec::new(), body: Bytes::new() }
}

/// `/full` answers at once, `/slow` in three chunks, `/held` never ends, `/none` drops the answer, `/cut` in the
/// middle, `/echo` gives the body's length.
fn behave(toy: Toy) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        match toy.head.path.as_str() {
            "/full" => toy.reply.full(200, Vec::new(), Bytes::from_static(b"all")),
            "/echo" => toy.reply.full(200, Vec::new(), toy.body.len().to_string().into()),
            "/none" => drop(toy.reply),
            "/cut" => {
                toy.reply.head(200, Vec::new());
                toy.reply.write(Bytes::from_static(b"half"));
                rt::sleep_ms(5).await;
            }
            "/held" => {
                toy.reply.head(200, Vec::new());
                toy.reply.write(Bytes::from_static(b"hello"));
                rt::sleep_ms(60_000).await;
            }
            _ => {
                toy.reply.head(200, vec![("x-kind".to_owned(), "slow".to_owned())]);
                for chunk in ["a", "b", "c"] {
                    toy.reply.write(Bytes::from(chunk));
                    rt::sleep_ms(10).await;
                }
                toy.reply.end();
            }
        }
    })
}

/// Sends one request and logs all that comes.
async fn fetch(connection: &mut HttpConnection, target: &str) {
    log(format_args!("s1 asks {target}"));
    let mut response = match connection.send(get(target)).await {
        Ok(response) => response,
        Err(error) => return log(format_args!("s1 got nothing: {error} (written: {})", error.written)),
    };
    log(format_args!("s1 head {}", response.status));
    while let Some(chunk) = response.body.next().await {
        match chunk {
            Ok(bytes) => log(format_args!("s1 chunk {}", String::from_utf8_lossy(&bytes))),
            Err(error) => return log(format_args!("s1 body broke: {error}")),
        }
    }
    log("s1 end");
}

/// A world in which `s1` asks for the targets one after the other over one connection.
fn fetch_all(seed: u64, latency: Latency, targets: &'static [&'static str]) -> Vec<String> {
    in_world(seed, latency, move || async move {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, true, behave).await;
        on(&clients, move || async move {
            let mut connection =
                HttpConnection::connect(&Arc::from("s1"), "p1", address).await.expect("the edge accepts");
            for target in targets {
                fetch(&mut connection, target).await;
            }
        })
        .await;
        rt::sleep_ms(20).await;
        edge.kill();
        clients.kill();
        rt::sleep_ms(1).await;
    })
}

#[test]
fn requests_follow_each_other_on_one_connection_and_chunks_come_as_they_are_written() {
    let lines = fetch_all(1, Latency::Calm, &["/full", "/slow"]);
    let of = |side: &str| untimed(&lines).into_iter().filter(|line| line.starts_with(side)).collect::<Vec<_>>();
    let client = "s1 asks /full,s1 head 200,s1 chunk all,s1 end,\
                  s1 asks /slow,s1 head 200,s1 chunk a,s1 chunk b,s1 chunk c,s1 end";
    assert_eq!(of("s1").join(","), client);
    let drains = of("edge").iter().map(|line| line.replace("edge GET of s1 ", "")).collect::<Vec<_>>();
    assert_eq!(drains, ["/full", "drained 1", "/slow", "drained 1", "drained 2", "drained 3"]);
}

#[test]
#[cfg(madsim)]
fn a_calm_trip_takes_two_milliseconds_each_way() {
    let lines = fetch_all(1, Latency::Calm, &["/full"]);
    assert_eq!(lines[0], "4 s1 asks /full");
    assert_eq!(lines[1], "6 edge GET of s1 /full");
    assert_eq!(lines[3], "8 s1 head 200");
}

#[test]
fn an_answer_dropped_before_its_head_closes_the_connection_without_one() {
    let lines = fetch_all(1, Latency::Calm, &["/none"]);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[2].contains("s1 got nothing") && lines[2].ends_with("(written: true)"), "{lines:?}");
}

#[test]
fn an_answer_dropped_after_its_head_is_cut() {
    let lines = untimed(&fetch_all(1, Latency::Calm, &["/cut"]));
    assert_eq!(lines[3..5], ["s1 head 200", "s1 chunk half"]);
    assert!(lines[5].starts_with("s1 body broke"), "{lines:?}");
    assert_eq!(lines.len(), 6, "the worker itself gave it up, nobody left: {lines:?}");
}

#[test]
fn a_client_that_drops_its_connection_is_noticed() {
    let lines = in_world(1, Latency::Calm, || async {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        on(&clients, move || async move {
            let label = Arc::from("s1");
            let mut connection = HttpConnection::connect(&label, "g", address).await.expect("the edge accepts");
            let mut response = connection.send(get("/held")).await.expect("a head");
            let hello = response.body.next().await;
            log(format_args!("s1 {hello:?}"));
            drop((response, connection));
            log("s1 left");
            rt::sleep_ms(10).await;
        })
        .await;
        edge.kill();
        rt::sleep_ms(1).await;
    });
    assert_eq!(untimed(&lines)[1..], ["s1 Some(Ok(b\"hello\"))", "s1 left", "edge GET of s1 gone"]);
}

#[test]
fn what_was_written_leaves_even_if_the_client_goes_at_once() {
    let lines = in_world(1, Latency::Drawn, || async {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        on(&clients, move || async move {
            let label = Arc::from("s1");
            let mut connection = HttpConnection::connect(&label, "g", address).await.expect("the edge accepts");
            let sending = connection.send(get("/held"));
            assert!(super::timer::with_deadline(rt::now_ms() + 1, sending).await.is_none());
            drop(connection);
            rt::sleep_ms(40).await;
        })
        .await;
        edge.kill();
        rt::sleep_ms(1).await;
    });
    assert_eq!(untimed(&lines), ["edge GET of s1 /held", "edge GET of s1 gone"]);
}

#[test]
#[cfg(madsim)]
fn a_killed_machine_cuts_its_answers_and_refuses_connections() {
    let lines = in_world(1, Latency::Calm, || async {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        rt::spawn("test.kill", async move {
            rt::sleep_ms(100).await;
            edge.kill();
        });
        on(&clients, move || async move {
            let label = Arc::from("s1");
            let mut connection = HttpConnection::connect(&label, "g", address).await.expect("the edge accepts");
            fetch(&mut connection, "/held").await;
            fetch(&mut connection, "/full").await;
            let again = HttpConnection::connect(&label, "g", address).await;
            log(format_args!("s1 connects again: {}", again.is_ok()));
        })
        .await;
    });
    let lines: Vec<_> = untimed(&lines).into_iter().filter(|line| line.starts_with("s1")).collect();
    assert_eq!(lines[1..3], ["s1 head 200", "s1 chunk hello"]);
    assert!(lines[3].starts_with("s1 body broke"), "{lines:?}");
    assert!(lines[5].ends_with("(written: false)"), "{lines:?}");
    assert_eq!(lines[6], "s1 connects again: false");
}

#[test]
fn a_large_request_body_arrives_whole_and_one_too_large_does_not() {
    let lines = in_world(1, Latency::Calm, || async {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        on(&clients, move || async move {
            let label = Arc::from("s1");
            for length in [super::REQUEST_BODY_MAX, super::REQUEST_BODY_MAX + 1] {
                let mut connection = HttpConnection::connect(&label, "p1", address).await.expect("the edge accepts");
                let body = Bytes::from(vec![b'x'; length]);
                let request = Request { method: "POST", body, ..get("/echo") };
                match connection.send(request).await {
                    Ok(mut response) => log(format_args!("s1 {:?}", response.body.next().await)),
                    Err(_) => log("s1 got nothing"),
                }
            }
        })
        .await;
        edge.kill();
        rt::sleep_ms(1).await;
    });
    let expected = [
        "edge POST of s1 /echo",
        "s1 Some(Ok(b\"8388608\"))",
        "edge POST of s1 /echo",
        "edge POST of s1 body TooLarge",
        "s1 got nothing",
    ];
    assert_eq!(untimed(&lines), expected);
}

#[test]
#[cfg(madsim)]
fn the_same_world_gives_the_same_log_and_another_runtime_seed_too() {
    let targets = &["/full", "/slow", "/echo", "/slow", "/cut"];
    let first = fetch_all(1, Latency::Drawn, targets);
    assert_eq!(first, fetch_all(1, Latency::Drawn, targets));
    for seed in 2..20 {
        assert_eq!(first, fetch_all(seed, Latency::Drawn, targets), "runtime seed {seed}");
    }
    assert_ne!(first, fetch_all(1, Latency::Calm, targets));
}

/// The world of [`fetch_all`], listened to if asked for; its log and what was heard, a line a connection or exchange.
#[cfg(madsim)]
fn heard_and_logged(is_listened_to: bool) -> (Vec<String>, Vec<String>) {
    let lines = in_world(1, Latency::Drawn, move || async move {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        if is_listened_to {
            super::tap::listen();
        }
        on(&clients, move || async move {
            let mut connection =
                HttpConnection::connect(&Arc::from("s1"), "p1", address).await.expect("the edge accepts");
            for target in ["/full", "/slow", "/none"] {
                fetch(&mut connection, target).await;
            }
        })
        .await;
        for connection in super::tap::finish() {
            log(format_args!("heard {} closed {}", connection.label, connection.closed_at_ms.is_some()));
            for each in connection.exchanges {
                let status = each.head.map(|head| head.status);
                let pieces: Vec<usize> = each.pieces.iter().map(|piece| piece.byte_count).collect();
                let is_timely = each.ended_at_ms.is_none_or(|at_ms| at_ms > each.sent_at_ms);
                log(format_args!("heard {} {status:?} {pieces:?} {is_timely}", each.request.target));
            }
        }
        edge.kill();
        rt::sleep_ms(1).await;
    });
    untimed(&lines).into_iter().partition(|line| line.starts_with("heard"))
}

#[test]
#[cfg(madsim)]
fn who_listens_hears_requests_and_answers_and_changes_nothing() {
    let (heard, logged) = heard_and_logged(true);
    let expected = [
        "heard s1 closed true",
        "heard /full Some(200) [3] true",
        "heard /slow Some(200) [1, 1, 1] true",
        "heard /none None [] true",
    ];
    assert_eq!(heard, expected);
    assert_eq!(heard_and_logged(false), (Vec::new(), logged));
}
