//! Listeners: when they come again, when no more, and with which cursor.

use super::script::{Get, Seen, run};
use crate::rt;

const TS: [&str; 4] = ["ts-sdk-1.32.2", "ts-client-2.4.0", "mcp-remote-0.15.1", "inspector-2.12.0-cli"];
const PY: [&str; 3] = ["py-mcp-1.30.0", "py-mcp-2.3.0", "fastmcp-4.2.3"];
const RMCP: &str = "rmcp-3.11.0";
const GO: &str = "go-sdk-2026-08";
const CSHARP: &str = "csharp-sdk-2026";
const VSCODE: &str = "vscode-2026";

/// A client that is connected for so long while the server treats its listener so. A session that is left behind has a
/// listener of its own, which lives.
fn listens(persona: &str, gets: &[Get], for_ms: u64) -> Seen {
    let orphan: &[Get] = if persona.starts_with("mcp-remote") { &[Get::Lives] } else { &[] };
    run(persona, &[orphan, gets].concat(), &[], move |client| async move {
        client.open().await;
        rt::sleep_ms(for_ms).await;
    })
}

/// The waits before GETs, the first GET's excluded, of each persona of a row.
fn check(row: &[(&[&str], &[u64])], gets: &[Get]) {
    for (personas, waits) in row {
        for persona in *personas {
            let seen = listens(persona, gets, 200_000);
            assert_eq!(seen.waits("stream"), *waits, "{persona} {gets:?}\n{}", seen.0.join("\n"));
        }
    }
}

const ENDS: Get = Get::Ends(None, None);
const BREAKS: Get = Get::Breaks(None);

#[test]
fn a_clean_end_brings_every_client_back_after_a_second_for_ever() {
    let again: &[u64] = &[1_000; 4];
    check(&[(&TS, again), (&PY, again), (&[RMCP, GO, VSCODE], again)], &[ENDS; 4]);
    // Five without an event id are the last of this one's; with an id there is no limit.
    check(&[(&[CSHARP], &[1_000; 4])], &[ENDS; 9]);
    check(&[(&[CSHARP], &[1_000; 9])], &[Get::Ends(Some("a"), None); 9]);
}

#[test]
fn a_lost_connection_costs_some_a_life_and_brings_one_back_at_once() {
    let row: [(&[&str], &[u64]); 6] = [
        (&TS, &[1_000; 3]),
        (&PY, &[1_000]),
        (&[RMCP], &[0; 3]),
        (&[GO], &[1_000; 3]),
        (&[CSHARP], &[1_000; 3]),
        (&[VSCODE], &[1_000; 3]),
    ];
    check(&row, &[BREAKS; 3]);
    // A clean end in between gives the life back.
    check(&[(&PY, &[1_000; 4])], &[BREAKS, ENDS, BREAKS, ENDS]);
}

#[test]
fn the_server_s_retry_counts_where_and_as_long_as_each_client_keeps_it() {
    let gets = [Get::Ends(None, Some(300)), ENDS, ENDS];
    let row: [(&[&str], &[u64]); 5] = [
        (&TS, &[300; 3]),
        (&PY, &[300; 3]),
        (&[RMCP], &[300, 1_000, 1_000]),
        (&[GO, VSCODE], &[300; 3]),
        (&[CSHARP], &[300; 3]),
    ];
    check(&row, &gets);
    // Later waits are no shorter than it.
    let longer = [Get::Ends(None, Some(3_000)), ENDS, Get::Refuses(503), Get::Refuses(503)];
    check(&[(&[RMCP], &[3_000, 3_000, 3_000, 4_000])], &longer);
    check(&[(&TS, &[3_000, 3_000, 3_000])], &longer);
}

#[test]
fn a_refused_reconnect_ends_most_listeners_and_one_knocks_for_ever() {
    for status in [400, 404, 409, 503] {
        let gets = [[ENDS].as_slice(), &[Get::Refuses(status); 6]].concat();
        let knocks: &[u64] = &[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];
        let row: [(&[&str], &[u64]); 5] = [
            (&TS, &[1_000, 1_500]),
            (&PY, &[1_000, 1_000]),
            (&[RMCP], knocks),
            (&[GO, VSCODE], &[1_000]),
            (&[CSHARP], if status == 503 { &[1_000; 4] } else { &[1_000] }),
        ];
        check(&row, &gets);
        // After a lost connection one of two lives is gone already.
        let gets = [[BREAKS].as_slice(), &[Get::Refuses(status); 6]].concat();
        check(&[(&PY, &[1_000]), (&[RMCP], &[0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000])], &gets);
    }
}

#[test]
fn a_405_ends_the_listener_of_most_at_once() {
    let gets = [ENDS, Get::Refuses(405), Get::Refuses(405), Get::Refuses(405)];
    let row: [(&[&str], &[u64]); 3] =
        [(&TS, &[1_000]), (&PY, &[1_000, 1_000]), (&[RMCP, GO, CSHARP, VSCODE], &[1_000])];
    check(&row, &gets);
}

#[test]
fn a_server_that_is_down_is_asked_as_often_as_one_that_refuses_or_more() {
    let gets = [[BREAKS].as_slice(), &[Get::Unreached; 8]].concat();
    let row: [(&[&str], &[u64]); 5] = [
        (&TS, &[1_000, 1_500]),
        (&PY, &[1_000]),
        (&[GO], &[1_000, 1_500, 2_250, 3_375, 5_062]),
        (&[CSHARP], &[1_000; 4]),
        (&[VSCODE], &[1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]),
    ];
    check(&row, &gets);
    // One that is down for 4 s has this client back at 6 s.
    check(&[(&[RMCP], &[0, 2_000, 4_000])], &[BREAKS, Get::Unreached, Get::Unreached]);
}

#[test]
fn a_first_get_that_is_refused_is_never_tried_again_or_once() {
    for status in [404, 405, 503] {
        let seen = |persona| listens(persona, &[Get::Refuses(status); 3], 20_000);
        for persona in TS.into_iter().chain([RMCP, VSCODE]) {
            assert!(seen(persona).waits("stream").is_empty(), "{persona}");
            assert_eq!(seen(persona).count("client.gave-up stream: the first was refused"), 1, "{persona}");
        }
        for persona in PY {
            assert_eq!(seen(persona).waits("stream"), [1_000], "{persona} {status}");
        }
    }
    assert_eq!(listens(GO, &[Get::Refuses(404)], 20_000).count("client.ended"), 0);
    assert_eq!(listens(GO, &[Get::Refuses(503)], 20_000).count("client.ended a stream was refused"), 1);
    assert_eq!(listens(CSHARP, &[Get::Refuses(404)], 20_000).count("client.ended a stream was refused"), 1);
}

#[test]
fn the_cursor_is_lost_or_kept_when_a_stream_brings_no_id() {
    let gets = [Get::Ends(Some("g:1"), None), ENDS, ENDS, Get::Ends(Some("g:2"), None)];
    for persona in TS {
        let lost = ["-", "g:1", "-", "-", "g:2"];
        let seen = listens(persona, &gets, 10_000);
        let own = seen.cursors().len() - lost.len();
        assert_eq!(seen.cursors()[own..], lost, "{persona}");
    }
    for persona in PY.into_iter().chain([RMCP, GO, CSHARP, VSCODE]) {
        assert_eq!(listens(persona, &gets, 10_000).cursors(), ["-", "g:1", "g:1", "g:1", "g:2"], "{persona}");
    }
}

#[test]
fn a_silent_stream_is_given_up_after_five_minutes_by_half_of_them() {
    for persona in TS {
        let seen = listens(persona, &[Get::Silent, Get::Silent], 700_000);
        let ends = seen.at("stream end by server");
        let opens: Vec<u64> = seen.at("stream open").iter().rev().take(3).map(|(at_ms, _)| *at_ms).collect();
        assert_eq!((ends.len(), ends[0].0 - opens[2], ends[1].0 - opens[1]), (2, 300_000, 300_000), "{persona}");
    }
    for persona in PY {
        let seen = listens(persona, &[Get::Silent; 3], 700_000);
        let ends: Vec<u64> = seen.at("stream end by server").iter().map(|(at_ms, _)| *at_ms).collect();
        assert_eq!((ends.len(), seen.waits("stream")), (2, vec![1_000]), "{persona}");
        // Two times 300 s and the second between them, and the way of the two GETs.
        assert!((601_000..601_100).contains(&ends[1]), "{persona} {ends:?}");
        assert_eq!(seen.count("client.gave-up stream: the stream kept ending"), 1, "{persona}");
    }
    for persona in [RMCP, GO, CSHARP, VSCODE] {
        assert_eq!(listens(persona, &[Get::Silent], 700_000).count("stream end"), 0, "{persona}");
    }
}

#[test]
fn streams_that_all_end_at_one_id_end_the_connection_of_one() {
    let same = [Get::Ends(Some("g:1"), None); 9];
    let seen = listens(GO, &same, 60_000);
    assert_eq!(seen.count("client.ended no progress"), 1);
    // The first brings the id; the sixth reconnect is the sixth without progress.
    assert_eq!(seen.waits("stream").len(), 6);
    // Without ids the first makes none either, so that it is five reconnects; the sixth stream is the last.
    let seen = listens(GO, &[ENDS; 9], 60_000);
    assert_eq!((seen.count("client.ended no progress"), seen.waits("stream").len()), (1, 5));
    // A stream without ids between two at one id is no progress, and another id is.
    let (none, same, other) = (ENDS, Get::Ends(Some("g:1"), None), Get::Ends(Some("g:2"), None));
    let seen = listens(GO, &[same, none, same, none, same, other, none, none, none, none, none, none], 60_000);
    assert_eq!((seen.count("client.ended no progress"), seen.waits("stream").len()), (1, 11));
    let new: Vec<Get> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|id| Get::Ends(Some(id), None)).into();
    assert_eq!(listens(GO, &new, 60_000).count("client.ended"), 0);
}
