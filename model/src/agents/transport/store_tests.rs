//! The event store by itself: numbers, limits, trips.

use std::rc::Rc;

use serde_json::{Value, json};

use super::testing::{counted, in_session};
use crate::agents::event_store::EventStore;
use crate::js::{call, js};
use crate::platform::{LocalFuture, ObjectContext};

#[test]
fn storing_costs_thirteen_trips_first_and_nine_later() {
    fn trips(ctx: ObjectContext) -> LocalFuture<Value> {
        Box::pin(async move {
            let events = EventStore::new(ctx, Rc::default());
            let mut counts = Vec::new();
            for _ in 0..3 {
                let store = async { drop(js(events.store("c1", json!({}).into())).await) };
                counts.push(counted(store).await);
            }
            json!(counts)
        })
    }
    let log = in_session(&[], Some(trips), |world| async move { world.rpc("trips", Value::Null, 10).await });
    assert_eq!(log, ["trips [13,9,9]"]);
}

#[test]
fn concurrent_first_writers_share_one_read_and_get_numbers_in_order() {
    fn both(ctx: ObjectContext) -> LocalFuture<Value> {
        Box::pin(async move {
            let events = Rc::new(EventStore::new(ctx, Rc::default()));
            let stores = [1, 2].map(|n| {
                let events = Rc::clone(&events);
                call(async move { events.store("c1", json!(n).into()).await })
            });
            let mut ids = Vec::new();
            for store in stores {
                ids.push(store.wait().await.expect("stored"));
            }
            json!(ids)
        })
    }
    let log = in_session(&[], Some(both), |world| async move {
        world.rpc("both", Value::Null, 10).await;
        world.rows().await;
    });
    assert_eq!(log, ["both [c1:01,c1:02]", "rows [event__:c1:01=1,event__:c1:02=2]"]);
}

#[test]
fn fact_197_a_new_store_goes_on_with_the_numbers_of_the_rows() {
    let log = in_session(&[], None, |world| async move {
        for _ in 0..2 {
            world.rpc("store", json!({"stream": "c1", "message": 1}), 10).await;
        }
        world.rows().await;
    });
    assert_eq!(log[2], "rows [event__:c1:01=1,event__:c1:02=1]");
}

#[test]
fn a_colon_in_a_stream_id_is_refused() {
    let log = in_session(&[], None, |world| async move {
        world.rpc("store", json!({"stream": "a:b", "message": 1}), 10).await;
    });
    assert_eq!(log, ["store Error: DurableObjectEventStore: streamId must not contain ':' (got \"a:b\")"]);
}

fn kept(log: &[String]) -> Vec<&str> {
    let rows = log.last().and_then(|line| line.strip_prefix("numbers [")).expect("numbers");
    rows.trim_end_matches(']').split(',').collect()
}

fn numbers(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let events = EventStore::new(ctx, Rc::default());
        let mut ids = Vec::new();
        events.replay_all("c1", |id, _| ids.push(Value::from(&id[id.len() - 2..]))).await.expect("read");
        ids.into_iter().collect()
    })
}

#[test]
fn fact_205_only_the_newest_64_events_of_a_stream_are_kept() {
    let log = in_session(&[], Some(numbers), |world| async move {
        world.rpc("store", json!({"stream": "c1", "message": {}, "times": 70}), 20).await;
        world.rpc("numbers", Value::Null, 10).await;
    });
    let kept = kept(&log);
    assert_eq!((kept.len(), kept[0], kept[63]), (64, "07", "46"));
}

#[test]
fn fact_205_the_oldest_events_over_two_mebibytes_are_dropped_and_never_the_newest() {
    let log = in_session(&[], Some(numbers), |world| async move {
        let message = json!("y".repeat(100 * 1024));
        world.rpc("store", json!({"stream": "c1", "message": message, "times": 25}), 20).await;
        world.rpc("numbers", Value::Null, 10).await;
    });
    let kept = kept(&log);
    assert_eq!((kept.len(), kept[0], kept[19]), (20, "06", "19"));
}
