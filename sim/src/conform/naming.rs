//! Names: who knows them, and what an alarm finds (platform facts 1-11).

use super::front::{Answer, Peer, sleep};
use super::memory;
use super::probe::Probe as Entry;
use super::probe::front;
use super::verdict::LeftOut;
use model::js::Promise;
use model::platform::ObjectKey;
use serde_json::{Value, json};

/// The probes.
pub const PROBES: &[Entry] = &[front!("I1", who_knows_the_name()), front!("A25", names_in_alarms())];

const NO_IDS: &str =
    "an object of the model is addressed by its key: there are no texts of ids to read, compare or refuse";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut { id: "I1", path: "badHex", why: NO_IDS },
    LeftOut { id: "I1", path: "badHex64", why: NO_IDS },
    LeftOut { id: "I1", path: "equals", why: NO_IDS },
    LeftOut { id: "I1", path: "hexLen", why: NO_IDS },
    LeftOut { id: "I1", path: "stubName", why: NO_IDS },
    LeftOut { id: "I1", path: "stubIdName", why: NO_IDS },
    LeftOut { id: "I1", path: "uniqueStubName", why: NO_IDS },
];

/// `ctx.id.name`, or null.
fn name_of(peer: &Peer) -> Promise<Answer> {
    peer.run(|o| async move { Ok(json!(o.ctx.id_name().as_deref())) })
}

/// A stub of an object with a unique id.
fn unique() -> Peer {
    let number = memory::count("unique");
    Peer::of(ObjectKey::unique("Probe", format!("{number:064x}")))
}

async fn who_knows_the_name() -> Answer {
    let word = |name: Value, peer: &Peer| if name == json!(*peer.key.name) { json!("name") } else { name };
    let by_name = Peer::fresh();
    let hex_first = name_of(&by_name.by_id()).wait().await?;
    let then_by_name = name_of(&by_name.again()).wait().await?;
    let other = Peer::fresh();
    let by_name_first = name_of(&other).wait().await?;
    let then_hex = name_of(&other.by_id()).wait().await?;
    Ok(json!({
        "hexFirst": hex_first, "thenByName": word(then_by_name, &by_name),
        "byNameFirst": word(by_name_first, &other), "thenHex": word(then_hex, &other),
        "unique": name_of(&unique()).wait().await?,
    }))
}

async fn names_in_alarms() -> Answer {
    let (named, unique, hex) = (Peer::fresh(), unique(), Peer::fresh().by_id());
    for peer in [&named, &unique, &hex] {
        peer.set_alarm_in(20).wait().await?;
    }
    sleep(300).await;
    let first = |peer: &Peer| peer.alarms().first().map_or(Value::Null, |alarm| alarm["name"].clone());
    Ok(json!({
        "byName": first(&named) == json!(*named.key.name), "unique": first(&unique), "hexFirst": first(&hex),
    }))
}
