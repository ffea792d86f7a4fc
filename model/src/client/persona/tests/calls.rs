//! Calls: what a refusal, a lost connection and a stream that ends early do, and time-outs.

use super::script::{Call, Get, Seen, call, run};
use crate::client::Outcome;
use crate::rt;

const TS: [&str; 2] = ["ts-sdk-1.32.2", "ts-client-2.4.0"];
const ALL: [&str; 11] = [
    "ts-sdk-1.32.2",
    "ts-client-2.4.0",
    "mcp-remote-0.15.1",
    "inspector-2.12.0-cli",
    "py-mcp-1.30.0",
    "py-mcp-2.3.0",
    "fastmcp-4.2.3",
    "rmcp-3.11.0",
    "go-sdk-2026-08",
    "csharp-sdk-2026",
    "vscode-2026",
];

/// What a call came to: a word, and how long it took in ms.
fn called(persona: &str, gets: &[Get], first: Call) -> (Seen, String, u64) {
    // Its listener comes first, and that of a session that is left behind before it.
    let listeners: &[Get] = if persona.starts_with("mcp-remote") { &[Get::Lives; 2] } else { &[Get::Lives] };
    let seen = run(persona, &[listeners, gets].concat(), &[first], move |client| async move {
        client.open().await;
        rt::sleep_ms(100).await;
        let begun_ms = rt::now_ms();
        let outcome = call(&client).await;
        let word = match &outcome.outcome {
            Outcome::Refused { .. } => format!("refused {}", outcome.status.unwrap_or(0)),
            other => other.word().to_owned(),
        };
        crate::net::testkit::log(format_args!("test {word} {}", rt::now_ms() - begun_ms));
        rt::sleep_ms(20).await;
        call(&client).await;
    });
    let told = seen.0.iter().find_map(|line| line.split_once(" test ")).expect("the call ended").1.to_owned();
    let (word, took) = told.rsplit_once(' ').expect("a word and a time");
    let (word, took_ms) = (word.to_owned(), took.parse().expect("a time"));
    (seen, word, took_ms)
}

fn is_ended_with_delete(seen: &Seen) -> bool {
    seen.count("client.ended a POST") == 1 && seen.count("DELETE close") == 1
}

#[test]
fn a_404_is_an_error_to_most_and_a_new_session_to_some() {
    for persona in ALL {
        let (seen, word, _) = called(persona, &[], Call::Refuses(404, false));
        let opened = seen.0.iter().filter(|line| line.contains("edge opens")).count();
        let renews = ["mcp-remote-0.15.1", "rmcp-3.11.0", "go-sdk-2026-08"].contains(&persona);
        let restarts = persona == "vscode-2026";
        let orphan = usize::from(persona == "mcp-remote-0.15.1");
        assert_eq!(word, if renews { "answered" } else { "refused 404" }, "{persona}");
        assert_eq!(opened, 1 + orphan + usize::from(renews || restarts), "{persona}");
        assert_eq!(seen.count("client.renews"), usize::from(renews || restarts), "{persona}");
        assert_eq!(seen.count("client.ended"), usize::from(persona == "csharp-sdk-2026"), "{persona}");
    }
}

#[test]
fn the_streams_of_the_session_before_stay_open_or_are_closed() {
    let closed = |persona| called(persona, &[], Call::Refuses(404, false)).0.count("stream end by client");
    assert_eq!((closed("rmcp-3.11.0"), closed("go-sdk-2026-08"), closed("mcp-remote-0.15.1")), (1, 1, 0));
}

#[test]
fn a_call_that_is_sent_again_is_sent_once_and_in_the_new_session() {
    let seen = run("rmcp-3.11.0", &[], &[Call::Refuses(404, false); 2], |client| async move {
        client.open().await;
        let outcome = call(&client).await;
        assert_eq!(outcome.status, Some(404));
    });
    let sessions: Vec<&str> =
        seen.0.iter().filter_map(|line| line.split_once("edge called in ")).map(|at| at.1).collect();
    assert_eq!(sessions, ["sess-1, said 2025-11-25", "sess-2, said 2025-11-25"]);
}

#[test]
fn another_refusal_ends_one_client_hangs_one_and_is_an_error_to_the_others() {
    for status in [400, 409, 500, 503] {
        for persona in ALL {
            let (seen, word, took_ms) = called(persona, &[], Call::Refuses(status, false));
            let hangs = persona == "rmcp-3.11.0";
            assert_eq!(word, if hangs { "gave-up".to_owned() } else { format!("refused {status}") }, "{persona}");
            assert_eq!(took_ms >= 600_000, hangs, "{persona}");
            assert_eq!(is_ended_with_delete(&seen), persona == "py-mcp-1.30.0", "{persona} {status}");
            assert_eq!(seen.count("client.hung"), usize::from(hangs), "{persona}");
            let breaks = persona == "vscode-2026" && status != 400;
            assert_eq!(seen.count("client.broke"), usize::from(breaks), "{persona}");
        }
        // With its own id, or as text, it is heard.
        for refusal in [Call::Refuses(status, true), Call::RefusesInText(status)] {
            let (_, word, _) = called("rmcp-3.11.0", &[], refusal);
            assert_eq!(word, format!("refused {status}"));
        }
    }
    // A body that is no JSON-RPC error ends the connection of this one, but not with a server's error.
    let ended = |status| called("go-sdk-2026-08", &[], Call::RefusesInText(status)).0.count("client.ended");
    assert_eq!((ended(400), ended(409), ended(503)), (1, 1, 0));
}

#[test]
fn a_denial_ends_the_first_python_client_and_nobody_hangs() {
    for status in [403, 429] {
        for persona in ALL {
            let (seen, word, _) = called(persona, &[], Call::Refuses(status, false));
            assert_eq!(word, format!("refused {status}"), "{persona}");
            assert_eq!(is_ended_with_delete(&seen), persona == "py-mcp-1.30.0", "{persona}");
        }
    }
}

#[test]
fn a_lost_connection_ends_two_clients_and_breaks_one() {
    for persona in ALL {
        let (seen, word, _) = called(persona, &[], Call::Lost);
        assert_eq!(word, "failed", "{persona}");
        let ends = ["py-mcp-1.30.0", "py-mcp-2.3.0"].contains(&persona);
        assert_eq!(is_ended_with_delete(&seen), ends, "{persona}");
        let breaks = persona == "fastmcp-4.2.3";
        assert_eq!(seen.count("client.broke a POST lost its connection"), usize::from(breaks), "{persona}");
        assert_eq!(seen.count("client.skipped call"), usize::from(ends || breaks), "{persona}");
    }
}

#[test]
fn a_stream_that_ends_early_is_resumed_after_its_last_event() {
    for persona in ALL.into_iter().filter(|persona| *persona != "vscode-2026") {
        for (is_clean, wait_ms) in [(true, 1_000), (false, if persona == "rmcp-3.11.0" { 0 } else { 1_000 })] {
            let (seen, word, _) = called(persona, &[Get::Answers], Call::Ends(Some("c:1"), is_clean));
            assert_eq!((&*word, seen.waits("recover")), ("answered", vec![wait_ms]), "{persona} {is_clean}");
            assert_eq!(seen.cursors().last(), Some(&"c:1"), "{persona}");
        }
    }
    assert_eq!(called("vscode-2026", &[], Call::Ends(Some("c:1"), true)).1, "ended");
}

#[test]
fn a_resume_that_is_refused_is_tried_twice_and_then_hangs_or_is_an_error() {
    let refused = [Get::Refuses(409); 3];
    for persona in TS {
        let (seen, word, took_ms) = called(persona, &refused, Call::Ends(Some("c:1"), true));
        assert_eq!((&*word, took_ms, seen.waits("recover")), ("gave-up", 60_000, vec![1_000, 1_500]), "{persona}");
        assert_eq!(seen.count("to its time-out: nothing can bring its answer"), 1, "{persona}");
    }
    let (seen, word, took_ms) = called("py-mcp-1.30.0", &refused, Call::Ends(Some("c:1"), true));
    assert_eq!((&*word, took_ms, seen.waits("recover")), ("gave-up", 600_000, vec![1_000, 1_000]));
    assert_eq!(seen.count("for ever: nothing can bring its answer"), 1);
    for persona in ["py-mcp-2.3.0", "fastmcp-4.2.3"] {
        let (seen, word, _) = called(persona, &refused, Call::Ends(Some("c:1"), true));
        assert_eq!((&*word, seen.waits("recover")), ("ended", vec![1_000, 1_000]), "{persona}");
    }
    let gets = [[Get::Refuses(503); 3].as_slice(), &[Get::Answers]].concat();
    let (seen, word, _) = called("rmcp-3.11.0", &gets, Call::Ends(Some("c:1"), true));
    assert_eq!((&*word, seen.waits("recover")), ("answered", vec![1_000, 2_000, 4_000, 8_000]));
}

#[test]
fn a_resume_whose_stream_brings_no_id_forgets_the_cursor_in_typescript() {
    let gets = [Get::Ends(None, None), Get::Answers];
    for persona in TS {
        let (seen, word, _) = called(persona, &gets, Call::Ends(Some("c:1"), true));
        assert_eq!((&*word, &seen.cursors()[1..]), ("answered", ["c:1", "-"].as_slice()), "{persona}");
    }
    let (seen, _, _) = called("rmcp-3.11.0", &gets, Call::Ends(Some("c:1"), true));
    assert_eq!(seen.cursors()[1..], ["c:1", "c:1"]);
}

#[test]
fn a_stream_that_ends_without_an_id_hangs_or_is_an_error() {
    for persona in ALL {
        let (seen, word, took_ms) = called(persona, &[], Call::Ends(None, true));
        let hangs_ms = match persona {
            "ts-sdk-1.32.2" | "ts-client-2.4.0" | "inspector-2.12.0-cli" => Some(60_000),
            "mcp-remote-0.15.1" | "py-mcp-1.30.0" => Some(600_000),
            _ => None,
        };
        assert_eq!(word, if hangs_ms.is_some() { "gave-up" } else { "ended" }, "{persona}");
        assert!(hangs_ms.is_none_or(|ms| ms == took_ms), "{persona}: {took_ms}");
        assert_eq!(seen.count("client.hung"), usize::from(hangs_ms.is_some()), "{persona}");
    }
}

#[test]
fn an_error_that_came_is_asked_for_again_every_second_by_one_client() {
    for persona in ALL {
        let gets = [Get::Ends(Some("c:2"), None); 3];
        let seen = run(
            persona,
            &[&[Get::Lives; 2][..usize::from(persona.starts_with("mcp-remote")) + 1], &gets].concat(),
            &[Call::Errs],
            |client| async move {
                client.open().await;
                rt::sleep_ms(100).await;
                assert_eq!(call(&client).await.outcome.word(), "answered");
                rt::sleep_ms(3_500).await;
            },
        );
        let waits: &[u64] = if persona == "ts-sdk-1.32.2" { &[1_000; 3] } else { &[] };
        assert_eq!(seen.waits("recover"), waits, "{persona}");
    }
}

#[test]
fn a_call_without_an_answer_times_out_after_a_minute_or_never_and_is_cancelled_by_most() {
    for persona in ALL {
        let (seen, word, took_ms) = called(persona, &[], Call::Waits);
        let own = ["ts-sdk-1.32.2", "ts-client-2.4.0", "inspector-2.12.0-cli"].contains(&persona);
        assert_eq!((&*word, took_ms), ("gave-up", if own { 60_000 } else { 600_000 }), "{persona}");
        let cancelled = seen.0.iter().filter(|line| line.ends_with("edge got notifications/cancelled r1")).count();
        assert_eq!(cancelled, usize::from(persona != "py-mcp-1.30.0"), "{persona}");
    }
}
