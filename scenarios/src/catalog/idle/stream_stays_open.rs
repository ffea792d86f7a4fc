//! Seed document 000: an idle session gives its runtime back while its client still holds a stream open.
//!
//! Goal: the idle alarm survives the framework that recomputes the alarm slot after every call, so that an idle
//! session is disposed, says so in an exported span, and serves the next call as if nothing had happened.
//! Method: handshake, a held GET stream, calls, silence beyond the timeout, one more call; up to five neighbours do
//! similar things. Whether the stream counts for the idle policy follows from platform facts 199 and 206: the first GET
//! replays what was undelivered and ends, so only a client that opens it again has a live connection.

#[cfg(test)]
mod tests;

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::invariants::limits::LEASE_MS;
use crate::plan::{Action, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// The scenario of seed document 000.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an idle session gives its runtime back while its client holds a stream open, and the next call is served as if nothing had happened",
    weight: 10,
    sometimes: &[
        "situation/stream-held-while-idle",
        "situation/idle-alarm-rearmed",
        "situation/call-meets-cold",
        "situation/start-joined",
        "alarm/dispose-quiet",
        "alarm/extend-stream",
        "alarm/extend-running",
        "span/dispose/idle",
        "life-cycle/cold-to-starting",
    ],
    plan,
};

const ID: &str = "idle/stream-stays-open";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    for number in 1..=neighbour_count(&draft) + 1 {
        let client = client(&draft, number);
        draft.client(client);
    }
    draft.until_idle()
}

/// Mostly none or one: the story needs one session, and a crowd costs time.
fn neighbour_count(draft: &Draft) -> u64 {
    let mut rng = draft.rng("neighbours");
    let (least, most) = *rng.pick_weighted(&[(12, (0, 0)), (3, (1, 1)), (2, (2, 3)), (1, (4, 5))]);
    rng.between(least, most)
}

/// Client 1 tells the story; the others are its neighbours.
fn client(draft: &Draft, number: u64) -> ClientDraft {
    let mut rng = draft.rng(&format!("client.{number}"));
    let is_neighbour = number > 1;
    let account = if is_neighbour && rng.chance(1, 3) { 1 } else { number };
    let begin_ms = if is_neighbour { rng.below(3_000) } else { 0 };
    let mut client = ClientDraft::new(number, begin_ms).as_account_of(account);
    let has_stream = !is_neighbour || rng.chance(2, 3);
    client.open();
    if has_stream {
        client.rest(rng.between(5, 60));
        client.stream();
    }
    if !is_neighbour && draft.rng("reader").chance(1, 3) {
        // It reads nothing for a while: it believes its stream to be open, whatever the host made of it.
        let silence_ms = idle_ms(draft, 0);
        client.act(Action::Stall { ms: silence_ms });
        client.rest(silence_ms);
    }
    let (least, most) = *rng.pick_weighted(&[(4, (1, 1)), (4, (2, 2)), (2, (3, 5))]);
    for _ in 0..rng.between(least, most) {
        client.rest(gap_ms(draft, &mut rng));
        if is_neighbour && rng.chance(1, 5) {
            client.ping();
        } else {
            let overlap = is_neighbour && rng.chance(1, 6);
            call(draft, &mut client, &mut rng, overlap);
        }
    }
    client.rest(idle_ms(draft, client.busy_ms()));
    if rng.chance(1, 3) {
        // Two requests meet at the cold session.
        call(draft, &mut client, &mut rng, true);
    }
    call(draft, &mut client, &mut rng, false);
    if is_neighbour && rng.chance(1, 8) {
        client.rest(rng.between(100, 2_000));
        client.close();
    }
    client.reopening(has_stream && rng.chance(1, 4))
}

/// The gap before a call: mostly below the timeout, sometimes around it, so that call and alarm meet.
fn gap_ms(draft: &Draft, rng: &mut Rng) -> u64 {
    let timeout = draft.timeout_ms();
    if rng.chance(1, 6) {
        return timeout - 12 + rng.below(25);
    }
    rng.between(1, timeout * 9 / 10)
}

/// Silence that ends after the disposal of a session without a live connection.
fn idle_ms(draft: &Draft, busy_ms: u64) -> u64 {
    let lease = if busy_ms + draft.latency_ms() >= draft.timeout_ms() { LEASE_MS } else { 0 };
    busy_ms + draft.disposed_after_ms() + lease
}

fn call(draft: &Draft, client: &mut ClientDraft, rng: &mut Rng, overlap: bool) {
    let mark = client.mark(rng);
    let wait_ms = match rng.below(20) {
        0..=13 => 0,
        14..=18 => rng.between(1, 200),
        // Rarely beyond a short timeout: running work then holds the runtime for a lease.
        _ => rng.between(200, (2 * draft.timeout_ms()).min(20_000)),
    };
    client.call_marked(&mark, rng, wait_ms, overlap);
}
