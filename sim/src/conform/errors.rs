//! Errors as callers see them (platform facts 92-100).

use super::front::{Answer, Peer, attempt, described, sleep};
use super::memory;
use super::object::Probe;
use super::probe::Probe as Entry;
use super::probe::front;
use super::verdict::LeftOut;
use model::platform::JsError;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[front!("E1", thrown()), front!("E8", over_two_hops())];

const NO_OWN: &str = "an error of the model has a name, a message and flags, and neither a class nor own properties";
const NO_OBJECT: &str = "the model throws errors only: a plain object cannot keep being one";
const NO_ID: &str = "the newer build tells an object the id of the one that threw; nothing of the host reads it";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut { id: "E1", path: "throwCustom.error.ctor", why: NO_OWN },
    LeftOut { id: "E1", path: "throwCustom.error.isError", why: NO_OWN },
    LeftOut { id: "E1", path: "throwCustom.error.ownKeys", why: NO_OWN },
    LeftOut { id: "E1", path: "throwObject", why: NO_OBJECT },
    LeftOut { id: "E8", path: "custom.A.ctor", why: NO_OWN },
    LeftOut { id: "E8", path: "custom.A.isError", why: NO_OWN },
    LeftOut { id: "E8", path: "custom.A.ownKeys", why: NO_OWN },
    LeftOut { id: "E8", path: "custom.worker.error.ctor", why: NO_OWN },
    LeftOut { id: "E8", path: "custom.worker.error.isError", why: NO_OWN },
    LeftOut { id: "E8", path: "custom.worker.error.ownKeys", why: NO_OWN },
    LeftOut { id: "E8", path: "*.A.flags.durableObjectId", why: NO_ID },
];

/// An error of a class of the application's own.
fn custom() -> JsError {
    JsError { name: "CustomError", ..JsError::new("custom boom") }
}

async fn thrown() -> Answer {
    let mut out = Map::new();
    let errors = [
        ("throwError", JsError::new("plain boom")),
        ("throwType", JsError::type_error("type boom")),
        ("throwCustom", custom()),
        ("throwString", JsError::new("a string")),
    ];
    for (what, error) in errors {
        out.insert(what.to_owned(), attempt(Peer::fresh().run(|_| async { Err(error) })).await);
    }
    out.insert("fetchThrow".to_owned(), attempt(Peer::fresh().status("/throw")).await);
    out.insert("missingMethod".to_owned(), attempt(Peer::fresh().rpc("nope", Value::Null)).await);
    let s = Peer::fresh();
    let first = s.ping().wait().await?;
    attempt(s.run(|_| async { Err(JsError::new("plain boom")) })).await;
    let survives = s.ping().wait().await? == first;
    out.insert("instanceSurvivesThrow".to_owned(), json!(survives));
    Ok(Value::Object(out))
}

async fn over_two_hops() -> Answer {
    let mut out = Map::new();
    for how in ["throw", "abort", "custom"] {
        let worker = attempt(Peer::fresh().run(move |_| hop(how))).await;
        let seen = memory::take_note("hopSaw").unwrap_or(Value::Null);
        out.insert(how.to_owned(), json!({ "A": seen, "worker": worker }));
    }
    // The objects that were reset have no timers left.
    sleep(0).await;
    Ok(Value::Object(out))
}

/// Calls another object, which fails, and throws what it got.
async fn hop(how: &'static str) -> Answer {
    let b = Peer::fresh();
    let failing = move |o: Rc<Probe>| async move {
        match how {
            "abort" => o.abort("B aborted").await,
            "custom" => Err(custom()),
            _ => Err(JsError::type_error("type boom")),
        }
    };
    let answer = b.run(failing).wait().await;
    if let Err(error) = &answer {
        memory::note("hopSaw", described(error));
    }
    answer
}
