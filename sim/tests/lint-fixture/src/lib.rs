//! One use of each thing that the workspace forbids. A comment at the end of a line says what must be complained about there.

use std::cell::RefCell;
use std::time::Duration;

/// Uses of banned macros.
pub async fn macros() {
    tokio::select! { () = async {} => {} } // disallowed_macros
    futures::select! { () = futures_util::future::ready(()) => {} } // disallowed_macros
}

/// Uses of banned functions of the standard library.
pub fn of_std(from: &std::sync::mpsc::Receiver<u8>) {
    std::thread::spawn(|| {}); // disallowed_methods
    std::thread::sleep(Duration::ZERO); // disallowed_methods
    let _ = std::time::Instant::now(); // disallowed_methods
    let _ = std::time::SystemTime::now(); // disallowed_methods
    let _ = std::sync::mpsc::Receiver::recv_timeout(from, Duration::ZERO); // disallowed_methods
}

/// Uses of banned functions of the runtime, under the name by which the workspace calls it.
pub async fn of_tokio(later: tokio::time::Instant) {
    drop(tokio::spawn(async {})); // disallowed_methods
    drop(tokio::task::spawn(async {})); // disallowed_methods
    drop(tokio::task::spawn_local(async {})); // disallowed_methods
    tokio::time::sleep(Duration::ZERO).await; // disallowed_methods
    let _ = tokio::time::timeout(Duration::ZERO, async {}).await; // disallowed_methods
    tokio::time::sleep_until(later).await; // disallowed_methods
    drop(tokio::sync::watch::channel(1)); // disallowed_methods
}

/// Uses of banned functions of the simulator.
#[cfg(madsim)]
pub async fn of_madsim(later: tokio::time::Instant) {
    drop(madsim::task::spawn(async {})); // disallowed_methods
    drop(madsim::task::spawn_local(async {})); // disallowed_methods
    madsim::time::sleep(Duration::ZERO).await; // disallowed_methods
    madsim::time::sleep_until(later).await; // disallowed_methods
    let _ = madsim::time::timeout(Duration::ZERO, async {}).await; // disallowed_methods
    let _ = madsim::net::TcpStream::connect("10.0.0.1:1").await; // disallowed_methods
    let _ = tokio::time::Instant::now(); // disallowed_methods
    let _ = madsim::rand::thread_rng(); // disallowed_methods
}

/// Uses of banned types.
pub fn types() {
    let _: Option<std::collections::HashMap<u8, u8>> = None; // disallowed_types
    let _: Option<std::collections::HashSet<u8>> = None; // disallowed_types
    let _: Option<hashbrown::HashMap<u8, u8, ()>> = None; // disallowed_types
}

/// A borrow held across an await.
pub async fn borrow(cell: &RefCell<u8>) {
    let held = cell.borrow_mut(); // await_holding_refcell_ref
    std::future::ready(()).await;
    drop(held);
}

/// Something of clippy's own list.
pub fn of_the_list(text: String) -> bool {
    text.len() == 0 // len_zero
}

/// Code that the compiler cannot check.
pub fn unchecked(from: *const u8) -> u8 {
    // SAFETY: never called.
    unsafe { *from } // unsafe_code
}

/// A name that no build knows.
#[cfg(madsimm)] // unexpected_cfgs
pub fn misspelt() {}

pub fn undocumented() {} // missing_docs

/// More lines than a function may have.
pub fn long() -> u64 { // too_many_lines
    let mut sum = 0;
    sum += 1;
    sum += 2;
    sum += 3;
    sum += 4;
    sum += 5;
    sum += 6;
    sum += 7;
    sum += 8;
    sum += 9;
    sum += 10;
    sum += 11;
    sum += 12;
    sum += 13;
    sum += 14;
    sum += 15;
    sum += 16;
    sum += 17;
    sum += 18;
    sum += 19;
    sum += 20;
    sum += 21;
    sum += 22;
    sum += 23;
    sum += 24;
    sum += 25;
    sum += 26;
    sum += 27;
    sum += 28;
    sum += 29;
    sum += 30;
    sum += 31;
    sum += 32;
    sum += 33;
    sum += 34;
    sum += 35;
    sum += 36;
    sum += 37;
    sum += 38;
    sum += 39;
    sum += 40;
    sum += 41;
    sum += 42;
    sum += 43;
    sum += 44;
    sum += 45;
    sum += 46;
    sum += 47;
    sum += 48;
    sum += 49;
    sum += 50;
    sum += 51;
    sum += 52;
    sum += 53;
    sum += 54;
    sum += 55;
    sum += 56;
    sum += 57;
    sum += 58;
    sum += 59;
    sum += 60;
    sum += 61;
    sum += 62;
    sum += 63;
    sum += 64;
    sum += 65;
    sum += 66;
    sum += 67;
    sum += 68;
    sum += 69;
    sum += 70;
    sum
}
