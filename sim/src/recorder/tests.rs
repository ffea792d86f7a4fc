//! What the recorder promises: typed fields, aliases, relative times, silence where told, digests that do not depend on keeping.

use super::*;
use serde_json::json;

fn recorded(keep: Keep, speak: impl FnOnce()) -> Recording {
    install().expect("no other collector in this test binary");
    begin(keep, 1_000);
    speak();
    finish()
}

fn kept(speak: impl FnOnce()) -> Vec<Event> {
    recorded(Keep::Trace, speak).events
}

fn speak_of_everything() {
    tracing::info!(target: "platform", event = "session.minted", who = "s1", session = "abc123");
    tracing::debug!(target: "platform", event = "alarm.set", who = "abc123", due_at_ms = world::EPOCH_MS + 4008, by = "init");
    tracing::info!(target: "telemetry", event = "mcp.session", who = "abc123", what = "span", attributes_json = r#"{"n":1}"#);
    record(Stream::History, "request.begin", Some("s1"), vec![("request".into(), 1u64.into())]);
}

#[test]
fn an_event_of_the_model_becomes_a_typed_event_of_the_trace() {
    let events = kept(|| {
        tracing::info!(target: "state", event = "gauge", who = "i1", residents = 3u64, is_full = false, change = -1i64);
    });
    let [event] = &events[..] else { panic!("one event, not {events:?}") };
    assert!(event.is(Stream::State, "gauge"));
    assert_eq!((event.ordinal, event.who()), (0, Some("i1")));
    let fields = [("residents", Value::Uint(3)), ("is_full", Value::Bool(false)), ("change", Value::Int(-1))];
    assert_eq!(event.fields, fields.map(|(name, value)| (name.into(), value)));
}

#[test]
fn each_session_of_a_client_has_an_alias_of_its_own() {
    let events = kept(|| {
        for id in ["abc123", "def456"] {
            tracing::info!(target: "platform", event = "session.minted", who = "s1", session = id);
        }
        for id in ["abc123", "def456", "s1"] {
            tracing::debug!(target: "state", event = "activity", who = id);
        }
        assert_eq!(["s1", "s1.2"].map(session_of), ["abc123", "def456"].map(|id| Some(id.to_owned())));
    });
    let aliases: Vec<_> = events.iter().filter_map(|event| event.text("alias")).collect();
    assert_eq!(aliases, ["s1", "s1.2"]);
    let who: Vec<_> = events[2..].iter().map(|event| event.who().expect("who")).collect();
    assert_eq!(who, ["s1", "s1.2", "s1"]);
}

#[test]
fn a_session_id_is_shown_as_its_client_once_it_was_minted() {
    let events = kept(|| {
        tracing::info!(target: "platform", event = "object.constructed", who = "abc123");
        speak_of_everything();
    });
    let who: Vec<_> = events.iter().map(|event| event.who().expect("who")).collect();
    assert_eq!(who, ["abc123", "s1", "s1", "s1", "s1"]);
}

#[test]
fn times_since_the_epoch_become_times_since_the_start() {
    let events = kept(|| {
        tracing::info!(target: "state", event = "x", due_at_ms = world::EPOCH_MS + 7, before_at_ms = world::EPOCH_MS - 7, idle_ms = 9u64);
    });
    let values: Vec<_> = events[0].fields.iter().map(|(_, value)| value.clone()).collect();
    assert_eq!(values, [Value::Uint(7), Value::Int(-7), Value::Uint(9)]);
}

#[test]
fn json_fields_become_structured_and_a_json_object_of_fields_is_spread() {
    let events = kept(|| {
        tracing::info!(target: "telemetry", event = "x", attributes_json = r#"{"a":[1]}"#, fields_json = r#"{"idleMs":5,"why":"cap"}"#, broken_json = "{");
    });
    assert_eq!(events[0].json("attributes"), Some(&json!({"a": [1]})));
    assert_eq!((events[0].number("idleMs"), events[0].text("why")), (Some(5), Some("cap")));
    assert_eq!(events[0].text("broken_json"), Some("{"));
}

#[test]
fn other_targets_spans_and_what_is_said_while_muted_leave_nothing() {
    let recording = recorded(Keep::Trace, || {
        tracing::error!(target: "madsim::task", event = "x");
        let _entered = tracing::error_span!(target: "platform", "span").entered();
        tracing::info!(target: "platform", event = "seen");
        mute();
        tracing::info!(target: "platform", event = "unseen");
        record(Stream::Phase, "unseen", None, Vec::new());
    });
    assert_eq!(recording.event_count, 1);
    assert_eq!(recording.events[0].name, "seen");
}

#[test]
fn a_kept_and_a_digested_run_have_the_same_digests() {
    // Times are digested too, and outside of a simulation they would be those of the clock on the wall.
    let in_a_world = |keep| {
        let runtime = madsim::runtime::Runtime::with_seed_and_config(0, madsim::Config::default());
        runtime.block_on(async move {
            recorded(keep, || {
                model::rt::begin_run(None, u64::MAX);
                speak_of_everything();
            })
        })
    };
    let (kept, digested) = (in_a_world(Keep::Trace), in_a_world(Keep::DigestOnly));
    assert_eq!((kept.events.len(), digested.events.len()), (4, 0));
    assert_eq!(kept.event_count, digested.event_count);
    assert_eq!((kept.telemetry_digest, kept.run_digest), (digested.telemetry_digest, digested.run_digest));
    assert_eq!(scenarios::trace::digest_of_events(&kept.events), (kept.telemetry_digest, kept.run_digest));
}

#[test]
fn a_field_that_itself_speaks_is_recorded_before_its_event() {
    struct Speaks;
    impl std::fmt::Debug for Speaks {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            tracing::info!(target: "state", event = "inner");
            out.write_str("spoke")
        }
    }
    let events = kept(|| tracing::info!(target: "state", event = "outer", field = ?Speaks));
    let names: Vec<_> = events.iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["inner", "outer"]);
}

#[test]
#[should_panic(expected = "more than its 3 events")]
fn an_endless_stream_of_events_ends_the_run() {
    begin(Keep::DigestOnly, 3);
    for _ in 0..4 {
        record(Stream::Phase, "again", None, Vec::new());
    }
}

#[test]
fn what_is_said_outside_a_recording_is_ignored() {
    install().expect("no other collector in this test binary");
    record(Stream::Phase, "unheard", None, Vec::new());
    assert_eq!(finish().event_count, 0);
}
