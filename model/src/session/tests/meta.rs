//! The stored identity: offered for the same organisation only, carried over restores, never made up.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::script::Rule;
use super::world::{Played, Setup, log, play};
use crate::defect::Defect;
use crate::fx::Fiber;
use crate::operation::{Kind, Operation};
use crate::platform::JsError;
use crate::session::apps::persist_apps_enabled;
use crate::session::meta::{META_KEY, resolve_and_store};
use crate::telemetry::Span;

static PUT: Operation = Operation { name: "test · put", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };
static GET: Operation = Operation { name: "test · get", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };

fn stored(organization: &str, apps: Option<bool>) -> Value {
    let mut record = json!({
        "organizationId": organization,
        "organizationName": "Stored",
        "userId": "user-1",
        "resource": {"kind": "default"},
    });
    if let Some(apps) = apps {
        record["appsEnabled"] = apps.into();
    }
    record
}

/// Stores `record`, persists `apps` if given, then resolves for `org-1` if asked; logs the record at the end.
fn with_record(rules: Vec<Rule>, record: Option<Value>, apps: Option<bool>, resolves: bool) -> Played {
    let record = Rc::new(record);
    let record = (*record).clone();
    play(Setup { rules, ..Setup::default() }, move |world| async move {
        world
            .inside("work", 5_000, move |session| {
                let record = record.clone();
                async move {
                    let storage = session.ctx().storage();
                    if let Some(record) = record {
                        storage.put(&PUT, META_KEY, record).await.expect("stored");
                    }
                    let span = Span::root("test");
                    if let Some(apps) = apps {
                        drop(persist_apps_enabled(&session, apps, Some(&span)).await);
                    }
                    if resolves {
                        let token = json!({"organizationId": "org-1", "userId": "user-1"});
                        let token: Map<String, Value> = serde_json::from_value(token).expect("an object");
                        match resolve_and_store(&session, &token, &Fiber::new(), Some(&span)).await {
                            Ok(meta) => log(format_args!("name {}", meta.record["organizationName"])),
                            Err(cause) => log(cause.into_error()),
                        }
                    }
                    let kept = storage.get(&GET, META_KEY).await.expect("read");
                    log(kept.map_or("none".to_owned(), |kept| kept["appsEnabled"].to_string()));
                }
            })
            .await;
    })
}

#[test]
fn a_negotiated_capability_is_saved_with_the_rest_intact_and_so_is_its_loss() {
    for (before, now) in [(None, true), (Some(true), false)] {
        let played = with_record(Vec::new(), Some(stored("org-1", before)), Some(now), false);
        assert_eq!(played.log, [now.to_string()]);
    }
}

#[test]
fn an_equal_value_and_a_missing_record_write_nothing() {
    let equal = with_record(Vec::new(), Some(stored("org-1", Some(true))), Some(true), false);
    assert_eq!(equal.recorded.count("storage.put"), 1);
    let missing = with_record(Vec::new(), None, Some(true), false);
    assert_eq!((missing.log, missing.recorded.count("storage.put")), (vec!["none".to_owned()], 0));
}

#[test]
fn a_capability_that_cannot_be_saved_fails_nobody() {
    let rules = vec![Rule::fail("meta · storage.put session-meta", JsError::new("no storage"))];
    let played = with_record(rules, Some(stored("org-1", None)), Some(true), false);
    assert_eq!((played.log, played.recorded.captured().len()), (vec!["null".to_owned()], 0));
}

#[test]
fn a_resolve_carries_the_capability_over_and_never_invents_one() {
    let kept = with_record(Vec::new(), Some(stored("org-1", Some(true))), None, true);
    assert_eq!(kept.log, ["name \"Stored\"", "true"]);
    let absent = with_record(Vec::new(), Some(stored("org-1", None)), None, true);
    assert_eq!(absent.log, ["name \"Stored\"", "null"]);
}

#[test]
fn the_historical_defect_loses_the_capability() {
    let played =
        play(Setup { defects: vec![Defect::AppsCapabilityForgotten], ..Setup::default() }, |world| async move {
            world.open(50).await;
            world
                .inside("negotiate", 50, |session| async move {
                    drop(persist_apps_enabled(&session, true, None).await);
                })
                .await;
            world.open(50).await;
            world
                .inside("restore", 50, |session| async move {
                    crate::session::start::on_start(session.clone(), None).await.expect("started");
                    let kept = session.ctx().storage().get(&GET, META_KEY).await.expect("read").expect("a record");
                    log(&kept["appsEnabled"]);
                })
                .await;
        });
    assert_eq!(played.log.last().map(String::as_str), Some("null"));
}

fn unreachable() -> Vec<Rule> {
    (1..=3).map(|nth| Rule::fail("meta · db.organization", JsError::new("down")).nth(nth)).collect()
}

#[test]
fn a_restore_with_a_record_of_the_same_organisation_needs_no_directory() {
    let played = with_record(unreachable(), Some(stored("org-1", None)), None, true);
    assert_eq!(played.log[0], "name \"Stored\"");
}

#[test]
fn a_record_of_another_organisation_is_not_offered_and_an_unreachable_directory_fails_after_three_tries() {
    let played = with_record(unreachable(), Some(stored("org-2", None)), None, true);
    let text = "Error: mcp_session_meta_unavailable: organization directory unavailable (down) after 3 attempts";
    assert_eq!(played.log[0], text);
    let fresh = with_record(Vec::new(), None, None, true);
    assert_eq!(fresh.log[0], "name \"Organization org-1\"");
}
