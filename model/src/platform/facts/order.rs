//! In which order calls arrive (platform facts 38, 39, 208), and the clock that code reads meanwhile (228).

use super::*;
use crate::js::call;

/// Marks of calls that were made in the order of `kinds`, each delayed by its number of ms; `stubs` of them.
fn arrivals(stubs: usize, kinds: &'static [(&'static str, u64)], expected: &'static str) {
    play(
        |ctx, method, told| async move {
            match method {
                "fetch" => mark(format!("fetch{}", told.as_str().unwrap_or(""))),
                "one" | "two" | "three" => mark(method),
                _ => return common(ctx, method).await,
            }
            Ok(Value::Null)
        },
        move |world| async move {
            let delays = RefCell::new(kinds.iter().map(|(_, ms)| *ms).rev().collect::<Vec<_>>());
            let delay = move |_: &str, what: &str| match what {
                "latency.rpc" | "latency.fetch" => delays.borrow_mut().pop().unwrap_or(0),
                _ => 0,
            };
            direct(Script { delay: Some(Box::new(delay)), ..Script::default() });
            world.post(move || {
                Box::pin(async move {
                    let made: Vec<Rc<Stub>> = (0..stubs).map(|_| Rc::new(Stub::new(key("p")))).collect();
                    for (index, (kind, _)) in kinds.iter().enumerate() {
                        let stub = Rc::clone(&made[index % stubs]);
                        drop(call(async move {
                            match *kind {
                                "fetch" => drop(stub.fetch(&CALL, FetchRequest::new("/", Vec::new())).await),
                                method => drop(stub.rpc(&CALL, method, Value::Null).await),
                            }
                        }));
                    }
                })
            });
            pause(200).await;
            assert_eq!(marks(), expected);
        },
    );
}

#[test]
fn fact_38_calls_of_a_kind_on_one_stub_keep_their_order_and_the_kinds_overtake_each_other() {
    arrivals(1, &[("one", 50), ("two", 20), ("three", 0)], "one two three");
    arrivals(1, &[("one", 50), ("fetch", 20)], "fetch/ one");
}

#[test]
fn fact_39_208_calls_of_several_stubs_arrive_in_any_order() {
    arrivals(3, &[("one", 50), ("two", 20), ("three", 0)], "three two one");
    arrivals(3, &[("one", 0), ("two", 20), ("three", 50)], "one two three");
}

#[test]
fn fact_228_the_clock_stands_still_between_one_wait_for_other_io_and_the_next() {
    play(
        |ctx, method, _| async move {
            if method != "read" {
                return common(ctx, method).await;
            }
            let first = clock();
            for _ in 0..300 {
                ctx.storage().put(&PUT, "x", Value::from(1)).await?;
            }
            let second = clock();
            timer(5).wait().await;
            Ok(Value::from(vec![second - first, clock() - second]))
        },
        |world| async move { assert_eq!(ask(&world, "p", "read").await, Ok(Value::from(vec![0, 5]))) },
    );
}
