//! What storage calls answer (platform facts 51-63).

use super::*;

/// Runs `method` in an object and gives its answer as text.
fn answers(method: &'static str, expected: &'static str) {
    play(
        |ctx, method, _| calling(ctx, method),
        move |world| async move {
            let answer = ask(&world, "p", method).await.expect("it answers");
            assert_eq!(answer.as_str().unwrap_or("no text"), expected);
        },
    );
}

async fn calling(ctx: ObjectContext, method: &'static str) -> Answer {
    let storage = ctx.storage();
    let mut said = Vec::new();
    match method {
        "missing" => {
            said.push(format!("{:?}", storage.get(&GET, "none").await?));
            said.push(storage.delete(&DELETE, "none").await?.to_string());
            for key in ["a", "b"] {
                storage.put(&PUT, key, Value::from(1)).await?;
            }
            said.push(storage.delete(&DELETE, "a").await?.to_string());
            said.push(storage.delete_many(&DELETE, vec!["a".into(), "b".into(), "c".into()]).await?.to_string());
        }
        "unawaited" => {
            let (first, second) = (storage.put(&PUT, "a", Value::from(1)), storage.put(&PUT, "a", Value::from(2)));
            said.push(format!("{:?}", storage.get(&GET, "a").await?.as_deref()));
            first.await?;
            second.await?;
            said.push(format!("{:?}", storage.get(&GET, "a").await?.as_deref()));
        }
        "list" => {
            for key in ["b", "é", "a", "9", "😀", "B", "10"] {
                storage.put(&PUT, key, Value::from(1)).await?;
            }
            for range in [
                ListRange::default(),
                ListRange { start_after: Some("B".into()), ..ListRange::default() },
                ListRange { reverse: true, ..ListRange::default().limit(2) },
                ListRange::prefix("1"),
            ] {
                let keys = storage.list(&LIST, range).await?;
                said.push(keys.iter().map(|(key, _)| &**key).collect::<Vec<_>>().join(","));
            }
        }
        "wipe" => {
            storage.put(&PUT, "a", Value::from(1)).await?;
            storage.set_alarm(&SET_ALARM, 1_900_000_000_000).await?;
            storage.delete_all(&WIPE).await?;
            said.push(storage.list(&LIST, ListRange::default()).await?.len().to_string());
            said.push(format!("{:?}", storage.get_alarm(&GET_ALARM).await?));
        }
        _ => return common(ctx, method).await,
    }
    Ok(Value::from(said.join(" ")))
}

#[test]
fn fact_51_a_missing_key_reads_as_nothing_and_deletes_tell_what_existed() {
    answers("missing", "None false true 1");
}

#[test]
fn fact_53_a_read_sees_the_last_write_of_its_turn() {
    answers("unawaited", "Some(Number(2)) Some(Number(2))");
}

#[test]
fn fact_56_a_list_is_in_the_order_of_bytes_within_its_bounds() {
    answers("list", "10,9,B,a,b,é,😀 a,b,é,😀 😀,é 10");
}

#[test]
fn fact_62_deleting_everything_keeps_the_alarm() {
    answers("wipe", "0 Some(1900000000000)");
}
