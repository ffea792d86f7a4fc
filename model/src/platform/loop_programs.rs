//! The loop against the real runtime: 975 recorded programs must go through in the recorded order.
//!
//! Operations: `k` awaits a settled value; `nX` an async function that calls itself X times more, each level awaiting
//! the next; `g p a D` storage get, put, setAlarm, deleteAlarm; `pg` put and get called, then awaited in turn; `all` and
//! `race` over a get and an async function that awaits two settled values; `c` the `catch` derivative of an async function
//! that awaits one; `f` try { return await settled } finally { mark }; `s` an unawaited async function: get, mark,
//! settled, mark; `t` a 0 ms timer; `y` sync; `b`/`bt` blockConcurrencyWhile around a get / a 0 ms timer.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::test_world::{TestWorld, mark, marks, run};
use super::*;
use crate::js::{EventLoop, all, call, hops, js, race, timer};

crate::operations! {
    GET = "program · storage.get", Storage, 3; "storage"
    PUT = "program · storage.put", Storage, 3; "storage"
    ALARM = "program · storage.setAlarm", Storage, 3; "storage"
    DELETE = "program · storage.deleteAlarm", Storage, 3; "storage"
    SYNC = "program · storage.sync", Section, 1; "storage"
    CALL = "program · call", Io, 0; "the probe"
}

#[derive(serde::Deserialize)]
struct Program {
    set: String,
    n: u32,
    builds: Vec<String>,
    chains: Vec<Vec<String>>,
    order: String,
}

async fn settled() {
    hops(1).await;
}

async fn nested(levels: u32) {
    if levels > 0 {
        Box::pin(js(nested(levels - 1))).await;
    }
}

async fn two_settled() -> Result<(), JsError> {
    settled().await;
    settled().await;
    Ok(())
}

fn get_promise(storage: &Storage) -> crate::js::Promise<Result<(), JsError>> {
    let promise = storage.get(&GET, "x").promise();
    let done = crate::js::Promise::new();
    let result = done.clone();
    // The call's own promise, without its value: same place in the queue.
    drop(promise);
    result.settle_after(2, Ok(()));
    done
}

async fn background(storage: Storage, token: String) {
    let _ = storage.get(&GET, "x").await;
    mark(format!("{token}bg"));
    settled().await;
    mark(format!("{token}bg2"));
}

async fn section(with_timer: bool, storage: Storage, token: String) {
    let callback = move || async move {
        mark(format!("{token}cb"));
        if with_timer {
            timer(0).wait().await;
        } else {
            let _ = storage.get(&GET, "x").await;
        }
        mark(format!("{token}cb2"));
    };
    EventLoop::current().section(callback).wait().await;
}

async fn operation(storage: &Storage, op: &str, token: &str) {
    match op {
        "k" => settled().await,
        "n0" | "n1" | "n3" => js(nested(op[1..].parse().unwrap_or(0))).await,
        "g" => drop(storage.get(&GET, "x").await),
        "p" => drop(storage.put(&PUT, "x", Value::from(1)).await),
        "a" => drop(storage.set_alarm(&ALARM, i64::MAX).await),
        "D" => drop(storage.delete_alarm(&DELETE).await),
        "pg" => {
            let put = storage.put(&PUT, "x", Value::from(1));
            let get = storage.get(&GET, "x");
            let _ = put.await;
            let _ = get.await;
        }
        "all" => drop(all(vec![get_promise(storage), call(two_settled())]).wait().await),
        "race" => drop(race(vec![get_promise(storage), call(two_settled())]).wait().await),
        "c" => {
            let inner = call(settled());
            call(async move { inner.wait().await }).wait().await;
        }
        "f" => {
            js(async {
                settled().await;
                mark(format!("{token}fin"));
            })
            .await;
        }
        "s" => drop(call(background(storage.clone(), token.to_owned()))),
        "t" => timer(0).wait().await,
        "y" => drop(storage.sync(&SYNC).await),
        "b" | "bt" => section(op == "bt", storage.clone(), token.to_owned()).await,
        other => panic!("unknown operation {other}"),
    }
}

async fn chain(storage: Storage, number: usize, operations: Vec<String>) {
    for (index, op) in operations.iter().enumerate() {
        let token = format!("{number}.{index}");
        operation(&storage, op, &token).await;
        mark(token);
    }
}

fn handler(chains: Vec<Vec<String>>) -> super::test_world::Handler {
    Arc::new(move |ctx, _, _| {
        let chains = chains.clone();
        Box::pin(async move {
            let started: Vec<_> = chains
                .into_iter()
                .enumerate()
                .map(|(number, operations)| call(chain(ctx.storage(), number, operations)))
                .collect();
            all(started).wait().await;
            Ok(Value::Null)
        })
    })
}

fn order_of(program: &Program, build: RuntimeBuild) -> String {
    let chains = program.chains.clone();
    let (send, receive) = std::sync::mpsc::channel();
    run(move || async move {
        let world = TestWorld::new(build, handler(chains));
        let start = || -> LocalFuture<()> {
            Box::pin(async {
                let stub = Rc::new(Stub::new(ObjectKey::named("Probe", "p")));
                let _ = stub.rpc(&CALL, "go", Value::Null).await;
            })
        };
        world.request(40, start).await;
        world.stop().await;
        send.send(marks()).expect("the test waits");
    });
    receive.recv().expect("the world answered")
}

#[test]
fn the_loop_goes_through_all_recorded_programs_in_the_order_of_the_real_runtime() {
    let programs: Vec<Program> =
        serde_json::from_str(include_str!("../../tests/data/loop-programs.json")).expect("the fixture is JSON");
    assert_eq!(programs.len(), 975);
    assert_eq!(TABLE.len(), 6, "the programs use these operations");
    let mut wrong = Vec::new();
    for program in &programs {
        for build in &program.builds {
            let build = if build == "2026-05-26" { RuntimeBuild::May2026 } else { RuntimeBuild::November2026 };
            let order = order_of(program, build);
            if order != program.order {
                wrong.push(format!(
                    "{} {} {build:?}\n  {:?}\n  real {}\n  here {order}",
                    program.set, program.n, program.chains, program.order
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n")
    );
}
