//! Eviction of idle objects and the sockets that stay (platform facts 13, 14, 140).

use super::*;
use crate::platform::{FetchRequest, SocketEvent};

/// Evicts the object `p`, and marks whether that found it idle.
async fn evict(world: &TestWorld) {
    Control::new(world.cluster.clone()).evict(&key("p"), || mark("evicted"));
    pause(10).await;
}

#[test]
fn fact_140_an_accepted_socket_survives_eviction_and_its_frame_constructs_the_object_by_name() {
    play(
        |ctx, method, _| async move {
            let (name, sockets) = (ctx.id_name(), ctx.sockets());
            let kept: Vec<Value> = sockets.iter().map(Socket::attachment).collect();
            mark(format!("{method}:{}:{kept:?}", name.as_deref().unwrap_or("nameless")));
            sockets.iter().for_each(|socket| socket.set_attachment(Value::from(method)));
            Ok(Value::from("answer"))
        },
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(key("p"));
                    let opened = stub.fetch(&CALL, FetchRequest::new("/socket", Vec::new())).await.expect("a socket");
                    let socket = stub.socket(opened.socket.expect("its number"));
                    socket.listen(|event| match event {
                        SocketEvent::Message(text) => mark(format!("got {text}")),
                        SocketEvent::Close(code, _) => mark(format!("closed {code}")),
                    });
                    socket.send("one").expect("it is open");
                    timer(100).wait().await;
                    socket.send("two").expect("it is open");
                })
            });
            pause(50).await;
            evict(&world).await;
            pause(100).await;
            assert_eq!(marks(), r#"message:p:[Null] got "answer" evicted message:p:[String("message")] got "answer""#);
        },
    );
}

#[test]
fn fact_143_a_reset_drops_the_sockets_of_an_object_that_was_evicted() {
    play(
        |ctx, method, _| async move { common(ctx, method).await },
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(key("p"));
                    let opened = stub.fetch(&CALL, FetchRequest::new("/socket", Vec::new())).await.expect("a socket");
                    let socket = stub.socket(opened.socket.expect("its number"));
                    socket.listen(|event| mark(format!("{event:?}")));
                    timer(200).wait().await;
                })
            });
            pause(50).await;
            evict(&world).await;
            let control = Control::new(world.cluster.clone());
            assert!(control.reset(&key("p"), JsError::code_updated(), || mark("reset")));
            pause(50).await;
            assert_eq!(marks(), r#"evicted reset Close(1006, "")"#);
        },
    );
}

#[test]
fn fact_14_18_an_object_with_a_call_in_progress_is_not_evicted() {
    play(
        |ctx, method, _| async move { common(ctx, method).await },
        |world| async move {
            world.post(|| Box::pin(async { drop(call_other("p", "sleep300").await) }));
            pause(50).await;
            evict(&world).await;
            assert_eq!(marks(), "");
            pause(400).await;
            evict(&world).await;
            assert_eq!(marks(), "evicted");
        },
    );
}
