//! The build semaphore: four at a time, first come first served, a soft bound on the wait, permits given back once.

use super::script::Rule;
use super::world::{Played, Setup, World, log, play, props};
use crate::defect::Defect;
use crate::platform::JsError;
use crate::rt;
use crate::session::init::init;

const HELD: u64 = 7;
const IDS: [&str; 6] = ["s1", "s2", "s3", "s4", "s5", "s6"];

/// The first builds are held, as many as there are permits.
fn four_held() -> Vec<Rule> {
    (1..=4).map(|nth| Rule::hold("build · stack", HELD).nth(nth)).collect()
}

/// Opens sessions, one a millisecond.
async fn open(world: &World, ids: &[&'static str]) {
    for id in ids {
        world.at(id).open(1).await;
    }
    rt::sleep_ms(50).await;
}

fn waited(played: &Played) -> Vec<(&str, &str, &str)> {
    let lines = played.recorded.all("permit.waited").into_iter();
    lines.map(|line| (&*line["who"], &*line["wait_ms"], &*line["timed_out"])).collect()
}

fn queue_attributes(played: &Played) -> Vec<(bool, bool)> {
    let spans = played.recorded.spans("McpSessionDOSqlite.buildMcpServer").into_iter();
    let zero = |span: &str| span.contains(r#""mcp.init.build_queue_ms":0"#);
    spans.map(|span| (zero(span), span.contains(r#""mcp.init.build_queue_timeout":true"#))).collect()
}

#[test]
fn a_fifth_build_waits_for_the_first_permit_that_comes_back() {
    let played = play(Setup { rules: four_held(), ..Setup::default() }, |world| async move {
        open(&world, &IDS).await;
        log("held");
        world.handle().release(HELD);
        rt::sleep_ms(500).await;
    });
    assert_eq!(played.log[0], "held");
    assert_eq!(played.log.len(), 7);
    assert_eq!(played.recorded.values("permit.queued", "who"), ["s5", "s6"]);
    let actives = played.recorded.values("permit.granted", "active");
    assert!(actives.iter().all(|active| active.parse::<u32>().expect("a number") <= 4), "{actives:?}");
    // First come, first served.
    assert_eq!(played.recorded.values("permit.granted", "who")[4..], ["s5", "s6"]);
    assert_eq!((played.recorded.count("permit.granted"), played.recorded.count("permit.returned")), (6, 6));
    assert_eq!(queue_attributes(&played).iter().filter(|(zero, _)| !zero).count(), 2);
}

#[test]
fn a_build_that_waited_10_s_goes_on_without_a_permit_and_returns_none() {
    let played = play(Setup { rules: four_held(), ..Setup::default() }, |world| async move {
        open(&world, &IDS[..5]).await;
        rt::sleep_ms(10_100).await;
        world.handle().release(HELD);
        rt::sleep_ms(500).await;
    });
    assert_eq!(waited(&played), [("s5", "10000", "true")]);
    assert_eq!(played.log.len(), 5);
    assert_eq!((played.recorded.count("permit.granted"), played.recorded.count("permit.returned")), (4, 4));
    assert_eq!(queue_attributes(&played).iter().filter(|(_, timed_out)| *timed_out).count(), 1);
}

#[test]
fn a_grant_wakes_a_waiter_outside_of_a_section_at_once() {
    let played = play(Setup { rules: four_held(), ..Setup::default() }, |world| async move {
        open(&world, &IDS[..4]).await;
        world
            .at("s5")
            .inside("fifth", 30, |session| async move {
                *session.agent.props.borrow_mut() = Some(props("org-1"));
                init(session).await.expect("it is built");
                log("fifth");
            })
            .await;
        world.handle().release(HELD);
        rt::sleep_ms(60).await;
    });
    let [(_, wait_ms, timed_out)] = waited(&played)[..] else { panic!("one waits: {:?}", waited(&played)) };
    assert!(wait_ms.parse::<u64>().expect("a number") < 50, "{wait_ms}");
    assert_eq!(timed_out, "false");
}

#[test]
fn a_grant_to_a_start_in_a_section_is_noticed_within_100_ms() {
    let played = play(Setup { rules: four_held(), ..Setup::default() }, |world| async move {
        open(&world, &IDS[..5]).await;
        world.handle().release(HELD);
        rt::sleep_ms(200).await;
    });
    assert_eq!(played.log.len(), 5);
    let [(who, wait_ms, _)] = waited(&played)[..] else { panic!("one waits: {:?}", waited(&played)) };
    assert_eq!((who, wait_ms), ("s5", "100"));
}

#[test]
fn as_described_such_a_start_hangs_until_its_section_is_reset_and_its_permit_is_lost() {
    let setup = Setup { rules: four_held(), defects: vec![Defect::PermitGrantLost], ..Setup::default() };
    let played = play(setup, |world| async move {
        open(&world, &IDS[..5]).await;
        world.handle().release(HELD);
        rt::sleep_ms(31_000).await;
    });
    assert!(
        played.log[4].contains("blockConcurrencyWhile() in a Durable Object waited for too long"),
        "{:?}",
        played.log
    );
    assert_eq!(waited(&played), Vec::new());
    assert_eq!((played.recorded.count("permit.granted"), played.recorded.count("permit.returned")), (5, 4));
}

#[test]
fn a_waiter_that_is_interrupted_leaves_the_queue() {
    let played = play(Setup { rules: four_held(), ..Setup::default() }, |world| async move {
        open(&world, &IDS).await;
        assert!(world.handle().interrupt(&world.at("s5").key(), "init", || ()));
        rt::sleep_ms(20).await;
        world.handle().release(HELD);
        rt::sleep_ms(500).await;
    });
    assert_eq!(played.log[0], "open Error: All fibers interrupted without error");
    assert_eq!(played.recorded.values("permit.queue-left", "who"), ["s5"]);
    assert_eq!(played.recorded.values("permit.granted", "who")[4..], ["s6"]);
    assert_eq!((played.recorded.count("permit.granted"), played.recorded.count("permit.returned")), (5, 5));
}

#[test]
fn a_failing_build_gives_its_permit_to_the_next() {
    let mut rules = four_held();
    rules.push(Rule::fail("build · describe", JsError::new("no list")));
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        open(&world, &IDS[..5]).await;
        world.handle().release(HELD);
        rt::sleep_ms(500).await;
    });
    assert_eq!(played.log[0], "open Error: no list");
    assert_eq!((played.recorded.count("permit.granted"), played.recorded.count("permit.returned")), (5, 5));
}

#[test]
fn what_a_reset_takes_away_in_a_build_stays_taken() {
    let played = play(Setup { rules: four_held(), ..Setup::default() }, |world| async move {
        open(&world, &IDS[..4]).await;
        assert!(world.handle().reset(&world.key(), JsError::code_updated(), || ()));
        rt::sleep_ms(20).await;
        world.handle().release(HELD);
        rt::sleep_ms(200).await;
        world
            .at("s5")
            .inside("count", 50, |_| async move {
                log(format_args!("{:?}", crate::session::residency::load()));
            })
            .await;
    });
    // Three of four permits came back, and three of four reservations (platform fact 132).
    assert_eq!(played.recorded.values("permit.returned", "active").last(), Some(&"1"));
    assert_eq!(played.log.last().expect("counted"), "(3, 1)");
}

#[test]
fn what_was_lost_is_taken_back_by_whoever_needs_it_after_a_minute() {
    let lose = |defects| {
        let setup = Setup { rules: four_held(), defects, timeout_ms: 300_000, ..Setup::default() };
        play(setup, |world| async move {
            open(&world, &IDS[..4]).await;
            for id in &IDS[..4] {
                assert!(world.handle().reset(&world.at(id).key(), JsError::code_updated(), || ()));
            }
            rt::sleep_ms(60_000).await;
            world.at("s5").open(15_000).await;
        })
    };
    let fixed = lose(vec![]).recorded;
    assert_eq!((fixed.count("permit.queued"), fixed.count("permit.returned")), (0, 5));
    assert_eq!(fixed.values("cap.checked", "in_flight").last(), Some(&"0"));
    let described = lose(vec![Defect::LostHoldingsKept]);
    assert_eq!(waited(&described), [("s5", "10000", "true")]);
    assert_eq!(described.recorded.values("cap.checked", "in_flight").last(), Some(&"4"));
}

/// The fifth session is reset while it waits behind four builds.
async fn reset_in_the_queue(world: &World) {
    open(world, &IDS[..5]).await;
    assert!(world.handle().reset(&world.at("s5").key(), JsError::code_updated(), || ()));
    rt::sleep_ms(20).await;
}

#[test]
fn a_session_takes_back_what_was_granted_to_it_after_it_was_reset() {
    let left = |defects| {
        let played = play(Setup { rules: four_held(), defects, ..Setup::default() }, |world| async move {
            reset_in_the_queue(&world).await;
            // Nobody waits behind it, and nobody knows yet that it is dead.
            world.handle().release(HELD);
            rt::sleep_ms(500).await;
            open(&world, &["s5"]).await;
        });
        assert_eq!(played.recorded.values("permit.granted", "who")[4..], ["s5", "s5"]);
        played.recorded.count("permit.granted") - played.recorded.count("permit.returned")
    };
    assert_eq!((left(vec![]), left(vec![Defect::DeadWaiterGranted])), (0, 1));
}

#[test]
fn a_permit_passes_over_who_was_reset_in_the_queue() {
    let granted = |defects, wait_ms, next: &'static str| {
        let played = play(Setup { rules: four_held(), defects, ..Setup::default() }, move |world| async move {
            reset_in_the_queue(&world).await;
            rt::sleep_ms(wait_ms).await;
            open(&world, &[next]).await;
            world.handle().release(HELD);
            rt::sleep_ms(500).await;
        });
        let all = played.recorded.values("permit.granted", "who");
        all[4..].iter().map(|who| (*who).to_owned()).collect::<Vec<_>>()
    };
    let described = || vec![Defect::DeadWaiterGranted];
    // Its session came back and waits itself.
    assert_eq!(granted(vec![], 20, "s5"), ["s5"]);
    assert_eq!(granted(described(), 20, "s5"), ["s5", "s5"]);
    // It did not, and nobody waits for so long.
    assert_eq!(granted(vec![], 10_000, "s6"), ["s6"]);
    assert_eq!(granted(described(), 10_000, "s6"), ["s5", "s6"]);
}
