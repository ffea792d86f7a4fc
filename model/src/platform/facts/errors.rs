//! The texts and flags of the platform's errors (platform facts 96, 97, 102, 147-161).

use super::*;

/// What says so, its exact text, and its flags: retryable, overloaded, durableObjectReset.
type Row = (JsError, &'static str, [bool; 3]);

fn rows() -> [Row; 6] {
    [
        (JsError::connection_lost(), "Network connection lost.", [true, false, false]),
        (JsError::code_updated(), "Durable Object reset because its code was updated.", [false, false, true]),
        (
            JsError::storage_timeout(),
            "Durable Object storage operation exceeded timeout which caused object to be reset.",
            [false, true, true],
        ),
        (
            JsError::memory_exceeded(),
            "Durable Object's isolate exceeded its memory limit and was reset.",
            [false, true, true],
        ),
        (JsError::cpu_exceeded(), "Durable Object exceeded its CPU time limit and was reset.", [false, true, true]),
        (
            JsError::moved(),
            "cannot access storage because object has moved to a different machine",
            [true, false, true],
        ),
    ]
}

#[test]
fn fact_96_97_102_147_149_156_157_159_each_failure_of_the_platform_has_its_text_and_flags() {
    for (error, text, flags) in rows() {
        assert_eq!(&*error.message, text);
        assert_eq!([error.retryable, error.overloaded, error.durable_object_reset], flags, "{text}");
        assert!(!error.remote && error.name == "Error");
    }
}

#[test]
fn fact_96_a_reset_reaches_its_callers_with_these_flags() {
    for (error, text, _) in rows() {
        play(
            |ctx, method, _| common(ctx, method),
            move |world| async move {
                let running = ask(&world, "p", "sleep300");
                let resetting = async {
                    pause(50).await;
                    assert!(Control::new(world.cluster.clone()).reset(&key("p"), error.clone(), || ()));
                    Ok(Value::Null)
                };
                assert_eq!(both(running, resetting).await, [Err(error.clone()), Ok(Value::Null)], "{text}");
            },
        );
    }
}
