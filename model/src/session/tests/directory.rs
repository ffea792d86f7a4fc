//! The directory's object: whom it gives out, what it forgets by itself, and what it does not take.

use serde_json::{Value, json};

use super::world::{Setup, World, play};
use crate::iso_time::to_iso;
use crate::platform::ObjectKey;
use crate::rt;
use crate::session::owner_object::OWNER_CLASS;

fn record(id: &str, expires_at: &str) -> Value {
    json!({
        "executionId": id,
        "owner": {"sessionId": "s1"},
        "accountId": "user-1",
        "organizationId": "org-1",
        "expiresAt": expires_at,
        "ttlMs": 1_000,
    })
}

fn soon() -> String {
    to_iso(rt::now_ms() + 1_000)
}

impl World {
    /// Calls the object of `exec_1`.
    async fn owner(&self, method: &'static str, arguments: Value) {
        self.rpc_of(ObjectKey::named(OWNER_CLASS, "exec_1"), method, method, arguments, 20).await;
    }

    async fn get_owner(&self, id: &str) {
        self.owner("get", json!({"executionId": id})).await;
    }
}

fn story<F, Fut>(story: F) -> Vec<String>
where
    F: FnOnce(std::rc::Rc<World>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let short = |line: String| if line.contains("executionId") { "get the record".to_owned() } else { line };
    play(Setup::default(), story).log.into_iter().map(short).collect()
}

#[test]
fn an_owner_is_given_out_until_its_window_is_over_and_then_forgotten_by_an_alarm() {
    let played = play(Setup::default(), |world| async move {
        world.owner("put", json!({"record": record("exec_1", &soon())})).await;
        world.get_owner("exec_1").await;
        world.get_owner("exec_2").await;
        rt::sleep_ms(1_000).await;
        world.get_owner("exec_1").await;
    });
    let forgotten = played.recorded.values("storage.deleted", "key").iter().filter(|key| **key == "owner").count();
    assert!(played.log[1].contains(r#""sessionId":"s1""#), "{:?}", played.log);
    assert_eq!((&*played.log[2], &*played.log[3], forgotten), ("get null", "get null", 1));
    assert_eq!(played.recorded.values("alarm.ended", "outcome"), ["ok"]);
}

#[test]
fn a_record_without_a_finite_end_is_not_kept() {
    let log = story(|world| async move {
        world.owner("put", json!({"record": record("exec_1", "soon")})).await;
        world.get_owner("exec_1").await;
    });
    assert_eq!(log, ["put null", "get null"]);
}

#[test]
fn only_its_own_execution_deletes_a_record() {
    let log = story(|world| async move {
        world.owner("put", json!({"record": record("exec_1", &soon())})).await;
        world.owner("delete", json!({"executionId": "exec_2"})).await;
        world.get_owner("exec_1").await;
        world.owner("delete", json!({"executionId": "exec_1"})).await;
        world.get_owner("exec_1").await;
        world.owner("forget", Value::Null).await;
    });
    assert_eq!(log[..5], ["put null", "delete null", "get the record", "delete null", "get null"]);
    assert!(log[5].contains("does not implement the method"), "{log:?}");
}

#[test]
fn a_record_whose_alarm_is_late_is_deleted_by_who_asks() {
    let played = play(Setup::default(), |world| async move {
        let past = to_iso(rt::now_ms() - 1);
        world.owner("put", json!({"record": record("exec_1", &past)})).await;
        world.get_owner("exec_1").await;
    });
    assert_eq!(played.log, ["put null", "get null"]);
}
