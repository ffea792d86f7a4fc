//! Plays a script: connections and requests at their times, an echo that answers them, and the timers that are left.

use super::Script;
use crate::capture;
use crate::driver::CLIENTS_A_NODE;
use crate::error::Error;
use crate::world;
use bytes::Bytes;
use model::deployment::EDGE;
use model::net::http_client::HttpConnection;
use model::net::server::{self, ExchangeId, Inlet, RequestHead};
use model::net::tap::{HeardExchange, HeardHead};
use model::net::{BodyError, Reply};
use model::rt::{self, Node};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Virtual time beyond the end of the run after which something hangs, in ms.
const SPARE_MS: u64 = 60_000;

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Answers that were read to their end.
    pub answer_count: usize,
    /// Bytes of their bodies.
    pub answer_bytes: usize,
    /// Timers that were armed.
    pub timer_count: u64,
}

thread_local! {
    /// Answers read so far and their bytes; the clients' machines take only what can be sent between threads.
    static READ: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Plays a script in a world of its own, on a thread of its own as a run.
///
/// # Errors
/// A harness error when not every answer of the script was read again.
pub fn play(script: &Arc<Script>) -> Result<Played, Error> {
    let script = Arc::clone(script);
    super::on_fresh_thread(move || {
        let limit_ms = script.ends_at_ms + SPARE_MS;
        let played = capture::guarded(|| world::run_bare(limit_ms, || whole(Arc::clone(&script))));
        let failed = |what: &str| Error::harness(format!("the floor was not played: {what}"));
        let played = played.map_err(|caught| failed(&crate::text::shortened(&caught.message, 200)))?;
        let (asked, read) = (script.answer_count(), played.answer_count);
        if asked != read || script.answer_bytes() != played.answer_bytes {
            return Err(failed(&format!("{read} answers of {asked} came, or not all of their bytes")));
        }
        Ok(played)
    })
}

async fn whole(script: Arc<Script>) -> Played {
    let edge = Node::create("edge", EDGE.ip());
    let echo = Arc::new(Echo::new(Arc::clone(&script)));
    edge.run(move || async move {
        let Err(error) = server::serve(EDGE, echo).await;
        panic!("the echo cannot listen on {EDGE}: {error}");
    });
    let mut machines = vec![edge];
    for (at, connections) in script.connections_by_client().into_iter().enumerate() {
        if at % CLIENTS_A_NODE == 0 {
            let number = u8::try_from(at / CLIENTS_A_NODE + 1).unwrap_or(u8::MAX);
            machines.push(Node::create("clients", IpAddr::V4(Ipv4Addr::new(10, 4, number, 1))));
        }
        let script = Arc::clone(&script);
        if let Some(machine) = machines.last() {
            machine.run(move || play_client(script, connections));
        }
    }
    arm_spare_timers(&script).await;
    wait_until(script.ends_at_ms.max(1)).await;
    machines.iter().for_each(Node::kill);
    rt::sleep_ms(1).await;
    let (answer_count, answer_bytes) = READ.take();
    Played { answer_count, answer_bytes, timer_count: rt::timers() }
}

/// Arms what the run had more timers, one after the other, evenly over its time.
async fn arm_spare_timers(script: &Script) {
    let count = script.spare_timer_count;
    for number in 1..=count {
        rt::sleep_until_ms(rt::EPOCH_MS + script.ends_at_ms * number / (count + 1)).await;
    }
}

/// Sleeps until then; no timer is armed for what is over.
async fn wait_until(at_ms: u64) {
    if rt::run_ms() < at_ms {
        rt::sleep_until_ms(rt::EPOCH_MS + at_ms).await;
    }
}

async fn play_client(script: Arc<Script>, connections: Vec<usize>) {
    for connection in connections {
        rt::spawn("floor.connection", play_connection(Arc::clone(&script), connection));
    }
}

async fn play_connection(script: Arc<Script>, index: usize) {
    let heard = &script.connections[index];
    wait_until(heard.at_ms).await;
    // What does not come about is missed when the answers are counted.
    let Ok(mut connection) = HttpConnection::connect(&heard.label, &index.to_string(), EDGE).await else { return };
    for exchange in &heard.exchanges {
        wait_until(exchange.sent_at_ms).await;
        let Ok(mut response) = connection.send(exchange.request.clone()).await else { return };
        let mut byte_count = 0;
        while let Some(piece) = response.body.next().await {
            let Ok(piece) = piece else { return };
            byte_count += piece.len();
        }
        let (answers, bytes) = READ.get();
        READ.set((answers + 1, bytes + byte_count));
    }
    match heard.closed_at_ms {
        Some(at_ms) => wait_until(at_ms).await,
        None => std::future::pending().await,
    }
}

impl Script {
    /// Indexes of the connections of each client, clients in the order of their names.
    fn connections_by_client(&self) -> Vec<Vec<usize>> {
        let mut of_clients: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, connection) in self.connections.iter().enumerate() {
            of_clients.entry(&connection.label).or_default().push(index);
        }
        of_clients.into_values().collect()
    }
}

/// Answers each request as it was answered before.
struct Echo {
    script: Arc<Script>,
    /// As long as the longest piece.
    filler: Bytes,
    state: Mutex<EchoState>,
}

struct EchoState {
    /// Requests taken so far on each connection.
    taken: Vec<usize>,
    /// Requests whose body is on its way: connection and place in it.
    waiting: BTreeMap<ExchangeId, (usize, usize, Reply)>,
    /// Answers that never came: dropping them would end their connection.
    withheld: Vec<Reply>,
}

impl Echo {
    fn new(script: Arc<Script>) -> Self {
        let pieces =
            script.connections.iter().flat_map(|connection| &connection.exchanges).flat_map(|each| &each.pieces);
        let longest = pieces.map(|piece| piece.byte_count).max().unwrap_or(0);
        let state =
            EchoState { taken: vec![0; script.connections.len()], waiting: BTreeMap::new(), withheld: Vec::new() };
        Self { filler: Bytes::from(vec![b'x'; longest]), state: Mutex::new(state), script }
    }

    fn state(&self) -> MutexGuard<'_, EchoState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, connection: usize, place: usize, reply: Reply) {
        let exchange = &self.script.connections[connection].exchanges[place];
        let Some(head) = &exchange.head else {
            self.state().withheld.push(reply);
            return;
        };
        reply.head(head.status, sent_headers(head));
        let is_late = |at_ms: u64| at_ms > head.at_ms;
        let at_once = exchange.pieces.iter().take_while(|piece| !is_late(piece.at_ms));
        let mut given = 0;
        for piece in at_once {
            reply.write(self.filler.slice(..piece.byte_count));
            given += 1;
        }
        if exchange.ended_at_ms.is_some_and(|at_ms| !is_late(at_ms)) && given == exchange.pieces.len() {
            reply.end();
            return;
        }
        let rest = Rest { script: Arc::clone(&self.script), filler: self.filler.clone(), connection, place, given };
        rt::spawn("floor.answer", rest.give(reply, rt::run_ms()));
    }
}

/// Headers of a recorded head, without the framing that hyper adds itself.
fn sent_headers(head: &HeardHead) -> Vec<(String, String)> {
    head.headers.iter().filter(|(name, _)| name != "transfer-encoding").cloned().collect()
}

/// What is still to come of an answer.
struct Rest {
    script: Arc<Script>,
    filler: Bytes,
    connection: usize,
    place: usize,
    given: usize,
}

impl Rest {
    /// Gives the remaining pieces as long after the head as they came then; without an end it is held.
    async fn give(self, reply: Reply, begun_ms: u64) {
        let exchange: &HeardExchange = &self.script.connections[self.connection].exchanges[self.place];
        let head_ms = exchange.head.as_ref().map_or(0, |head| head.at_ms);
        for piece in &exchange.pieces[self.given..] {
            wait_until(begun_ms + piece.at_ms.saturating_sub(head_ms)).await;
            reply.write(self.filler.slice(..piece.byte_count));
        }
        match exchange.ended_at_ms {
            Some(at_ms) => wait_until(begun_ms + at_ms.saturating_sub(head_ms)).await,
            None => std::future::pending().await,
        }
        reply.end();
    }
}

impl Inlet for Echo {
    fn request(&self, exchange: ExchangeId, head: RequestHead, reply: Reply) {
        let connection = head.lane.parse().unwrap_or(usize::MAX);
        let mut state = self.state();
        let Some(taken) = state.taken.get_mut(connection) else {
            panic!("a connection called `{}` is not in the script", head.lane);
        };
        let place = *taken;
        *taken += 1;
        state.waiting.insert(exchange, (connection, place, reply));
    }

    fn body(&self, exchange: ExchangeId, _body: Result<Bytes, BodyError>) {
        let waiting = self.state().waiting.remove(&exchange);
        if let Some((connection, place, reply)) = waiting {
            self.answer(connection, place, reply);
        }
    }

    fn drained(&self, _exchange: ExchangeId, _written: u64) {}

    fn gone(&self, _exchange: ExchangeId) {}
}
