//! The soft cap: who is asked for its runtime, what it answers, and that nobody waits for it; reservations come back.

use super::script::Rule;
use super::world::{Played, Setup, World, log, name, play, props};
use crate::defect::Defect;
use crate::platform::JsError;
use crate::rt;
use crate::session::init::init;
use crate::session::{residency, teardown};

const HELD: u64 = 7;
const REQUEST: &str = "init · stub.request-cap-eviction";

fn capped(cap: u32) -> Setup {
    Setup { cap, ..Setup::default() }
}

/// Sessions and reasons of the disposals, in order.
fn disposals(played: &Played) -> Vec<(&str, &str)> {
    played.recorded.all("disposal.begin").into_iter().map(|line| (&*line["who"], &*line["reason"])).collect()
}

fn asked(played: &Played) -> Vec<&str> {
    played.recorded.values("eviction.requested", "who")
}

/// Logs whether the session has a runtime, and its number.
async fn look(world: &World, label: &'static str) {
    world
        .inside(label, 10, move |session| async move {
            let (is_there, has_engine) = (session.initialized.get(), session.engine.borrow().is_some());
            log(format_args!("{label} initialized {is_there} engine {has_engine}"));
        })
        .await;
}

/// Logs what the isolate counts: residents, builds in flight, registered sessions.
async fn count(world: &World) {
    world
        .inside("count", 10, |_| async move {
            let (residents, in_flight) = residency::load();
            log(format_args!("{residents} resident, {in_flight} in flight, {:?}", residency::registered()));
        })
        .await;
}

#[test]
fn over_the_cap_the_least_recently_used_session_gives_its_runtime_back() {
    let played = play(capped(2), |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        world.at("s3").open(100).await;
        look(&world, "first").await;
        look(&world.at("s2"), "second").await;
        look(&world.at("s3"), "third").await;
        count(&world).await;
    });
    assert_eq!(disposals(&played), [("s1", "cap")]);
    assert_eq!(played.log[3], "first initialized false engine false");
    assert_eq!(played.log[4], "second initialized true engine true");
    assert_eq!(played.log[6], r#"2 resident, 0 in flight, ["s2", "s3"]"#);
    let span = played.recorded.spans("mcp.session.idle_runtime_dispose")[0];
    assert!(span.contains(r#""mcp.session.dispose_reason":"cap""#), "{span}");
    assert!(played.recorded.spans("McpSessionDO.init").iter().all(|init| !init.contains("cap_overflow")));
}

#[test]
fn a_touch_makes_a_session_the_last_to_be_asked() {
    let played = play(capped(2), |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        world.validate("touch", 100).await;
        world.at("s3").open(100).await;
    });
    assert_eq!(disposals(&played), [("s2", "cap")]);
}

#[test]
fn a_session_with_a_stream_is_not_asked_and_the_overflow_is_told() {
    let played = play(capped(1), |world| async move {
        world.open(100).await;
        world.listen("stream", 100).await;
        world.at("s2").open(100).await;
        count(&world).await;
    });
    assert_eq!(asked(&played), Vec::<&str>::new());
    assert_eq!(played.recorded.values("eviction.passed-over", "reason"), ["stream"]);
    assert_eq!(played.log.last().expect("counted"), r#"2 resident, 0 in flight, ["s1", "s2"]"#);
    let inits = played.recorded.spans("McpSessionDO.init");
    assert!(!inits[0].contains("cap_overflow") && inits[1].contains(r#""mcp.isolate.cap_overflow":true"#));
}

#[test]
fn an_evicted_session_is_restored_by_its_next_request_with_a_runtime_of_its_own() {
    let played = play(capped(1), |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        world.validate("restore", 100).await;
        look(&world, "first").await;
    });
    assert_eq!(disposals(&played), [("s1", "cap"), ("s2", "cap")]);
    assert_eq!(played.log[2..], ["restore ok", "first initialized true engine true"]);
    assert_eq!(played.recorded.count("runtime.installed"), 3);
}

#[test]
fn a_repeated_request_disposes_nothing_twice() {
    let played = play(capped(4), |world| async move {
        world.open(100).await;
        for _ in 0..2 {
            world.rpc("evict", "requestCapEviction", serde_json::Value::Null, 100).await;
        }
        count(&world).await;
    });
    assert_eq!(played.log[1..], ["evict null", "evict null", "0 resident, 0 in flight, []"]);
    assert_eq!(played.recorded.values("gauge", "residents"), ["1", "0"]);
    assert_eq!(played.recorded.count("server.closed"), 1);
    assert_eq!(played.recorded.spans("mcp.session.idle_runtime_dispose").len(), 1);
}

#[test]
fn what_an_object_that_was_reset_left_behind_is_found_by_the_eviction_of_its_successor() {
    let evict = |defects| {
        play(Setup { defects, ..capped(2) }, |world| async move {
            world.open(100).await;
            world.at("s2").open(100).await;
            assert!(world.handle().reset(&world.key(), JsError::code_updated(), || ()));
            rt::sleep_ms(10).await;
            world.at("s3").open(100).await;
            count(&world.at("s3")).await;
            world.at("s4").open(20_000).await;
            world.at("s5").open(100).await;
        })
    };
    let fixed = evict(vec![]);
    assert_eq!(asked(&fixed), ["s1", "s2", "s3"]);
    assert_eq!(disposals(&fixed), [("s2", "cap"), ("s3", "cap")]);
    assert_eq!(fixed.log[3], r#"2 resident, 0 in flight, ["s2", "s3"]"#);
    let described = evict(vec![Defect::DeadSessionRegistered]);
    assert_eq!(disposals(&described), [("s1", "cap"), ("s2", "cap"), ("s1", "cap")]);
    assert_eq!(described.log[3], r#"3 resident, 0 in flight, ["s1", "s2", "s3"]"#);
}

#[test]
fn a_session_that_is_built_again_after_a_reset_is_counted_once() {
    let played = play(capped(4), |world| async move {
        world.open(100).await;
        assert!(world.handle().reset(&world.key(), JsError::code_updated(), || ()));
        rt::sleep_ms(10).await;
        world.open(100).await;
        count(&world).await;
    });
    assert_eq!(played.log[2], r#"1 resident, 0 in flight, ["s1"]"#);
}

#[test]
fn a_session_does_not_ask_itself_for_what_its_predecessor_left_behind() {
    let return_after_reset = |defects| {
        play(Setup { defects, ..capped(2) }, |world| async move {
            world.open(100).await;
            world.at("s2").open(100).await;
            assert!(world.handle().reset(&world.key(), JsError::code_updated(), || ()));
            rt::sleep_ms(10).await;
            world.open(100).await;
        })
    };
    assert_eq!(asked(&return_after_reset(vec![])), Vec::<&str>::new());
    assert_eq!(asked(&return_after_reset(vec![Defect::DeadSessionRegistered])), ["s1"]);
}

#[test]
fn a_build_in_flight_counts_from_its_admission_on() {
    let rules = vec![Rule::hold("build · stack", HELD).nth(2)];
    let played = play(Setup { rules, ..capped(2) }, |world| async move {
        world.open(100).await;
        world.at("s2").open(50).await;
        count(&world).await;
        world.at("s3").open(100).await;
        look(&world, "first").await;
        world.handle().release(HELD);
        rt::sleep_ms(100).await;
        count(&world).await;
    });
    assert_eq!(played.log[1], r#"1 resident, 1 in flight, ["s1"]"#);
    assert_eq!(disposals(&played), [("s1", "cap")]);
    assert_eq!(played.log.last().expect("counted"), r#"2 resident, 0 in flight, ["s3", "s2"]"#);
    assert_eq!(played.recorded.count("cap.overflow"), 0);
}

#[test]
fn a_build_that_fails_gives_its_place_back() {
    let rules = vec![Rule::fail("build · stack", JsError::new("cold build boundary failure")).nth(2)];
    let played = play(Setup { rules, ..capped(2) }, |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        count(&world).await;
        world.at("s3").open(100).await;
        count(&world).await;
    });
    assert_eq!(played.log[1], "open Error: cold build boundary failure");
    assert_eq!(played.log[2], r#"1 resident, 0 in flight, ["s1"]"#);
    assert_eq!(played.log[4], r#"2 resident, 0 in flight, ["s1", "s3"]"#);
    assert_eq!(disposals(&played), Vec::new());
}

#[test]
fn a_failed_request_leaves_the_candidate_as_it_is_and_spares_it_for_a_while() {
    let rules = vec![Rule::fail(REQUEST, JsError::new("stub unreachable"))];
    let played = play(Setup { rules, ..capped(1) }, |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        count(&world).await;
        world.at("s2").listen("busy", 100).await;
        world.at("s3").open(100).await;
    });
    assert_eq!(played.log[1..3], ["open null", r#"2 resident, 0 in flight, ["s1", "s2"]"#]);
    assert_eq!(asked(&played), ["s1"]);
    assert_eq!(played.recorded.values("mcp_session_cap_eviction_request_failed", "sessionId"), ["s1"]);
    assert_eq!(played.recorded.values("console.error", "text"), ["[mcp-session] cap eviction request failed:"]);
    assert_eq!(played.recorded.values("eviction.passed-over", "reason"), ["requested", "stream"]);
    assert_eq!(played.recorded.captured(), Vec::<&str>::new());
}

#[test]
fn a_candidate_is_asked_again_when_exactly_15_s_have_passed() {
    for (rest_ms, times) in [(14_999, 1), (15_000, 2)] {
        let rules = vec![Rule::fail(REQUEST, JsError::new("stub unreachable"))];
        let played = play(Setup { rules, ..capped(1) }, move |world| async move {
            world.open(100).await;
            world.at("s2").open(100).await;
            world.at("s2").listen("busy", rest_ms - 100).await;
            world.at("s3").open(100).await;
        });
        let again: Vec<_> = asked(&played).into_iter().filter(|who| *who == "s1").collect();
        assert_eq!(again.len(), times, "{rest_ms}");
    }
}

#[test]
fn an_init_waits_neither_for_a_slow_victim_nor_for_a_dead_one() {
    let rules = || vec![Rule::hold("evict · counts", HELD)];
    let story = |world: std::rc::Rc<World>| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
    };
    let played = play(Setup { rules: rules(), ..capped(1) }, story);
    assert_eq!(played.log, ["open null", "open null"]);
    let awaited = play(Setup { rules: rules(), defects: vec![Defect::EvictionAwaited], ..capped(1) }, story);
    assert_eq!(awaited.log, ["open null"]);
}

#[test]
fn a_victim_that_became_live_since_it_was_picked_stays() {
    // The request takes its time, and meanwhile a stream is opened.
    let rules = vec![Rule::delay(REQUEST, 200)];
    let played = play(Setup { rules, ..capped(1) }, |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        world.listen("stream", 300).await;
        look(&world, "first").await;
    });
    assert_eq!(asked(&played), ["s1"]);
    assert_eq!(disposals(&played), Vec::new());
    assert_eq!(played.log.last().expect("looked"), "first initialized true engine true");
}

#[test]
fn a_host_without_cap_eviction_counts_and_asks_nobody() {
    let setup = Setup { supports_cap_eviction: false, ..capped(1) };
    let played = play(setup, |world| async move {
        world.open(100).await;
        world.at("s2").open(100).await;
        count(&world).await;
    });
    assert_eq!(played.log[2], "2 resident, 0 in flight, []");
    assert_eq!((played.recorded.count("registry.added"), played.recorded.count("eviction.requested")), (0, 0));
}

#[test]
fn a_victim_is_torn_down_in_its_own_context() {
    let evict = |defects| {
        play(Setup { defects, ..capped(1) }, |world| async move {
            world.open(100).await;
            world.at("s2").open(100).await;
            count(&world).await;
        })
    };
    let own = evict(vec![]);
    assert_eq!(own.recorded.count("io.cross-context"), 0);
    assert_eq!(own.log[2], r#"1 resident, 0 in flight, ["s2"]"#);
    let foreign = evict(vec![Defect::EvictedInForeignContext]);
    assert!(foreign.recorded.count("io.cross-context") > 0);
    assert_eq!(foreign.log[2], r#"2 resident, 0 in flight, ["s1", "s2"]"#);
}

#[test]
fn a_condemned_session_is_left_to_its_alarm() {
    let condemn = |defects| {
        play(Setup { defects, ..capped(1) }, |world| async move {
            world.open(100).await;
            world.rpc("condemn", "_cf_scheduleDestroy", serde_json::Value::Null, 100).await;
            world.at("s2").open(2_000).await;
        })
    };
    let kept = condemn(vec![]);
    assert_eq!((kept.recorded.count("destroy.begin"), disposals(&kept).len()), (1, 0));
    // As described: the disposal deletes the one alarm there is, and the wipe never comes.
    let described = condemn(vec![Defect::CondemnedSessionEvicted]);
    assert_eq!((described.recorded.count("destroy.begin"), disposals(&described).len()), (0, 1));
}

#[test]
fn a_session_that_is_condemned_while_it_is_disposed_is_wiped() {
    let condemn = |defects| {
        let rules = vec![Rule::hold("teardown · server.close", HELD)];
        play(Setup { defects, rules, ..capped(1) }, |world| async move {
            world.open(100).await;
            world.rpc("evict", "requestCapEviction", serde_json::Value::Null, 100).await;
            world.rpc("condemn", "_cf_scheduleDestroy", serde_json::Value::Null, 100).await;
            world.handle().release(HELD);
            rt::sleep_ms(2_000).await;
        })
    };
    let kept = condemn(vec![]);
    assert_eq!((kept.recorded.count("destroy.begin"), disposals(&kept).len()), (1, 1));
    let described = condemn(vec![Defect::CondemnedWhileDisposed]);
    assert_eq!((described.recorded.count("destroy.begin"), disposals(&described).len()), (0, 1));
}

#[test]
fn a_connect_after_an_eviction_finds_a_runtime() {
    let connect = |defects| {
        play(Setup { defects, ..capped(1) }, |world| async move {
            world.open(100).await;
            world.at("s2").open(100).await;
            world.listen("stream", 100).await;
            look(&world, "first").await;
        })
    };
    let fixed = connect(vec![]);
    assert_eq!(disposals(&fixed), [("s1", "cap"), ("s2", "cap")]);
    assert_eq!(fixed.log.last().expect("looked"), "first initialized true engine true");
    let described = connect(vec![Defect::ConnectWithoutRuntime]);
    assert_eq!(
        described.log[2..],
        [r#"stream Close(1011, "MCP transport not initialized")"#, "first initialized false engine false"]
    );
}

#[test]
fn a_condemned_session_is_not_started_by_a_connect() {
    let played = play(capped(4), |world| async move {
        world.open(100).await;
        world.rpc("evict", "requestCapEviction", serde_json::Value::Null, 100).await;
        world.rpc("condemn", "_cf_scheduleDestroy", serde_json::Value::Null, 100).await;
        world.listen("stream", 100).await;
    });
    assert_eq!(played.recorded.count("runtime.installed"), 1);
    assert!(played.log.last().expect("closed").starts_with("stream Close(1011"));
}

/// An object that does not know its name is built, learns it and is torn down. What is counted before and after.
fn counted_around_a_late_name(defects: Vec<Defect>) -> Vec<String> {
    let setup = Setup { named: false, timeout_ms: 100_000, defects, ..Setup::default() };
    let played = play(setup, |world| async move {
        world
            .inside("build", 50, |session| async move {
                *session.agent.props.borrow_mut() = Some(props("org-1"));
                init(session).await.expect("built");
            })
            .await;
        count(&world).await;
        world
            .inside("named", 50, |session| async move {
                *session.resolved_session_name.borrow_mut() = Some(name().into());
                teardown::close_runtime(&session, false).run().await;
            })
            .await;
        count(&world).await;
    });
    played.log
}

#[test]
fn a_session_that_learns_its_name_is_released_under_the_key_that_it_was_registered_by() {
    let log = counted_around_a_late_name(Vec::new());
    assert_eq!(log, [r#"1 resident, 0 in flight, ["0f0f"]"#, "0 resident, 0 in flight, []"]);
    let log = counted_around_a_late_name(vec![Defect::RegisteredByPassingName]);
    assert_eq!(log, [r#"1 resident, 0 in flight, ["unresolved"]"#, r#"0 resident, 0 in flight, ["unresolved"]"#]);
}
