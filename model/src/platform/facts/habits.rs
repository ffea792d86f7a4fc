//! Habits that builds and settings of the runtime do not share (platform facts 22-24, 109, 110).

use super::*;

const UPDATED: &str = "Durable Object reset because its code was updated.";

fn update(world: &TestWorld) {
    assert!(Control::new(world.cluster.clone()).reset(&key("p"), JsError::code_updated(), || mark("update")));
}

/// Works for 100 ms, then tries its storage, calls another object, and answers.
async fn working(ctx: ObjectContext, method: &'static str) -> Answer {
    if method != "work" {
        return common(ctx, method).await;
    }
    timer(100).wait().await;
    match ctx.storage().get(&GET, "x").await {
        Ok(_) => mark("storage"),
        Err(error) => mark(format!("rejected:{}", error.message)),
    }
    assert_eq!(call_other("q", "mark").await, Ok(Value::Null));
    Ok(Value::from("done"))
}

/// What a call that is reset by a code update after 50 ms comes to, and what was marked.
fn updated(switches: Switches, answer: Answer, marked: &'static str) {
    play_with(
        switches,
        |ctx, method, _| working(ctx, method),
        move |world| async move {
            let successor = async {
                pause(50).await;
                update(&world);
                pause(10).await;
                ask(&world, "p", "put").await
            };
            assert_eq!(both(ask(&world, "p", "work"), successor).await, [answer, Ok(Value::Null)]);
            assert_eq!(marks(), marked);
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("x")));
        },
    );
}

#[test]
fn fact_22_23_109_217_219_a_zombie_goes_on_beside_its_successor_and_only_its_storage_rejects() {
    let zombies = Switches { leaves_zombies: true, ..Switches::default() };
    let marked = "update rejected:Durable Object reset because its code was updated. mark";
    updated(zombies, Ok(Value::from("done")), marked);
}

#[test]
fn fact_110_otherwise_it_is_cut_off_and_its_caller_gets_the_error() {
    updated(Switches::default(), Err(JsError::code_updated()), "update");
}

#[test]
fn fact_22_a_zombie_ends_after_30_s() {
    play_with(
        Switches { leaves_zombies: true, ..Switches::default() },
        |ctx, method, _| async move {
            if method == "long" {
                timer(60_000).wait().await;
                mark("ended by itself");
            }
            common(ctx, method).await
        },
        |world| async move {
            send(&world, "p", "long");
            pause(50).await;
            update(&world);
            pause(29_000).await;
            assert_eq!(marks(), "update");
            pause(2_000).await;
            assert_eq!(marks(), format!("long!{UPDATED}"));
            assert_eq!(ask(&world, "p", "mark").await, Ok(Value::Null), "its successor is not reset");
        },
    );
}

#[test]
fn fact_24_234_a_deferred_update_waits_until_its_object_is_idle_or_300_s() {
    let long = "update long!Durable Object reset because its code was updated.";
    for (ms, expected, is_drawn) in
        [(5_000, "update", false), (400_000, long, false), (5_000, "update", true), (400_000, long, true)]
    {
        play_with(
            Switches { defers_updates: !is_drawn, ..Switches::default() },
            move |ctx, method, _| async move {
                if method == "long" {
                    timer(ms).wait().await;
                }
                common(ctx, method).await
            },
            move |world| async move {
                direct(straying("update.deferred", u64::from(is_drawn)));
                let first = ask(&world, "p", "incarnation").await;
                send(&world, "p", "long");
                pause(50).await;
                update(&world);
                pause(2_000).await;
                assert_eq!((marks().as_str(), ask(&world, "p", "incarnation").await), ("", first.clone()));
                pause(310_000).await;
                assert_eq!(marks(), expected);
                assert_ne!(ask(&world, "p", "incarnation").await, first);
            },
        );
    }
}
