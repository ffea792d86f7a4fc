//! A world in which anything may happen: which kinds of use, client and trouble exist at all is drawn first.
//!
//! Goal: interleavings that no scenario was written for. Method: swarm testing. A seed switches features on and off,
//! then draws their weights, then a dozen or more clients with sixty or more requests, and a few faults aimed at
//! operations that sessions pass.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::make_room;
use crate::catalog::draft::{ClientDraft, Draft, at, operation};
use crate::plan::{Action, Edge, Effect, ErrorKind, Interruptible, Plan, ResetKind, Response};
use crate::rng::Rng;
use crate::seed::Seed;

/// All of it.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a dozen sessions or more, any use, any trouble: what exists in a seed's world is drawn before how often",
    weight: 8,
    sometimes: &["situation/two-builds-at-once", "situation/cap-reached", "situation/served-after-reset"],
    plan,
};

const ID: &str = "swarm/everything";

/// What a client may do; a swarm has some of them.
const USES: &[Use] =
    &[Use::Call, Use::Work, Use::Beside, Use::Ping, Use::Stream, Use::EndStream, Use::Ask, Use::Resume, Use::Reopen];
/// What may go wrong; a swarm has some of them.
const TROUBLES: &[Trouble] = &[
    Trouble::Fail,
    Trouble::Delay,
    Trouble::Hold,
    Trouble::InterruptInit,
    Trouble::InterruptDisposal,
    Trouble::Reset,
    Trouble::Evict,
    Trouble::Deploy,
    Trouble::MakeRoom,
];
/// Operations of the edge worker, where trouble is aimed.
const EDGE_OPERATIONS: &[&str] =
    &["edge · auth.authenticate", "edge · stub.validate", "bridge · stub.set-name", "bridge · stub.fetch"];
/// Operations of sessions, most of which most sessions pass.
const OPERATIONS: &[&str] = &[
    "name · storage.put __ps_name",
    "start · storage.get facet",
    "body · storage.put props",
    "validate · storage.get destroy-pending",
    "validate · start",
    "meta · storage.get session-meta",
    "meta · storage.put session-meta",
    "meta · db.organization",
    "init · db.open",
    "init · join-disposal",
    "init · stub.request-cap-eviction",
    "build · permit",
    "build · import",
    "build · stack",
    "build · describe",
    "build · server",
    "clock · storage.put last-activity-ms",
    "clock · storage.setAlarm idle",
    "rearm · storage.getAlarm",
    "rearm · storage.setAlarm idle",
    "sched · storage.deleteAlarm",
    "alarm · storage.get last-activity-ms",
    "alarm · storage.list stream-reqs",
    "evict · counts",
    "dispose · teardown",
    "teardown · server.close",
    "teardown · db.end",
    "teardown · db.end dialled",
    "dispose · storage.deleteAlarm",
    "dispose · storage.delete last-activity-ms",
    "connect · storage.put stream-reqs",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Call,
    Work,
    Beside,
    Ping,
    Stream,
    EndStream,
    Ask,
    Resume,
    /// Ends the session and opens another.
    Reopen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Fail,
    Delay,
    Hold,
    InterruptInit,
    InterruptDisposal,
    Reset,
    Evict,
    Deploy,
    MakeRoom,
}

/// What exists in this swarm, and how often.
struct Swarm {
    uses: Vec<(u64, Use)>,
    troubles: Vec<(u64, Trouble)>,
    span_ms: u64,
}

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let mut rng = draft.rng("swarm");
    let count = rng.between(12, 14);
    draft.cap(*rng.pick_weighted(&[(2, 32), (1, half(count)), (1, 4)]));
    let swarm = Swarm {
        uses: some_of(&mut rng, USES, Use::Call),
        troubles: some_of(&mut rng, TROUBLES, Trouble::Delay),
        span_ms: *rng.pick(&[5_000, 20_000, 2 * draft.timeout_ms() + 10_000]),
    };
    for number in 1..=count {
        let client = swarm.client(&draft, number);
        draft.client(client);
    }
    for number in 1..=rng.below(7) {
        swarm.trouble(&mut draft, number, count);
    }
    draft.until_ceiling()
}

/// A cap that most of the crowd is beyond.
fn half(count: u64) -> u32 {
    (count / 2) as u32
}

/// Each of `all` with an even chance, with a weight from 1 to 8; `at_least` if that leaves none.
fn some_of<T: Copy>(rng: &mut Rng, all: &[T], at_least: T) -> Vec<(u64, T)> {
    let mut some: Vec<(u64, T)> = Vec::new();
    for each in all {
        if rng.chance(1, 2) {
            some.push((rng.between(1, 8), *each));
        }
    }
    if some.is_empty() {
        some.push((1, at_least));
    }
    some
}

impl Swarm {
    fn client(&self, draft: &Draft, number: u64) -> ClientDraft {
        let mut rng = draft.rng(&format!("client.{number}"));
        let account = if rng.chance(1, 4) { 1 } else { number };
        let mut client = ClientDraft::new(number, rng.below(self.span_ms / 2)).as_account_of(account);
        client.open();
        for _ in 0..rng.between(3, 6) {
            client.rest(self.gap_ms(draft, &mut rng));
            self.use_it(draft, &mut client, &mut rng);
        }
        if rng.chance(1, 6) {
            client.rest(rng.below(2_000));
            client.close();
        }
        client.reopening(rng.chance(1, 4))
    }

    /// Mostly anything within the time of the swarm, sometimes the timeout to the millisecond.
    fn gap_ms(&self, draft: &Draft, rng: &mut Rng) -> u64 {
        match rng.below(8) {
            0 => draft.timeout_ms() - 12 + rng.below(25),
            1 => draft.timeout_ms() + draft.lateness_ms(),
            2 => rng.below(5),
            _ => rng.below(self.span_ms / 4 + 1),
        }
    }

    fn use_it(&self, draft: &Draft, client: &mut ClientDraft, rng: &mut Rng) {
        match rng.pick_weighted(&self.uses).to_owned() {
            Use::Call => client.call(rng, 0),
            Use::Work => {
                let wait_ms = rng.between(1, draft.timeout_ms().min(20_000));
                client.call(rng, wait_ms);
            }
            Use::Beside => {
                let wait_ms = rng.below(3_000);
                client.call_beside(rng, wait_ms);
            }
            Use::Ping => client.ping(),
            Use::Stream => client.stream(),
            Use::EndStream => client.act(Action::EndStream {}),
            Use::Ask => client.ask(rng),
            Use::Resume => {
                let response = *rng.pick(&[Response::Accept, Response::Decline, Response::Cancel]);
                client.resume(response, None);
            }
            Use::Reopen => {
                client.close();
                client.rest(rng.below(3_000));
                client.open();
            }
        }
    }

    fn trouble(&self, draft: &mut Draft, number: u64, client_count: u64) {
        let mut rng = draft.rng(&format!("trouble.{number}"));
        let session = format!("s{}", rng.between(1, client_count));
        let at_ms = rng.below(2 * self.span_ms);
        let edge = *rng.pick(&[Edge::Begin, Edge::End]);
        let n = rng.between(1, 3) as u32;
        let inside = operation(rng.pick_name(OPERATIONS), edge, n, &session);
        let when = if rng.chance(2, 3) { inside.clone() } else { at(at_ms, &session) };
        let place =
            if rng.chance(1, 8) { operation(rng.pick_name(EDGE_OPERATIONS), edge, n, &session) } else { inside };
        match rng.pick_weighted(&self.troubles).to_owned() {
            Trouble::Fail => {
                let error = *rng.pick(&[ErrorKind::CodeUpdate, ErrorKind::InternalError, ErrorKind::Unknown]);
                draft.fault_by_chance(place, Effect::Fail { error, text: None, flags: None, lasting: false });
            }
            Trouble::Delay => draft.fault_by_chance(place, Effect::Delay { ms: rng.between(1, 5_000) }),
            Trouble::Hold => {
                let held = Effect::Hold { release: None, for_ms: Some(rng.between(1, 5_000)), fail: None };
                draft.fault_by_chance(place, held);
            }
            Trouble::InterruptInit => {
                draft.fault_by_chance(when, Effect::Interrupt { what: Interruptible::Init });
            }
            Trouble::InterruptDisposal => {
                draft.fault_by_chance(when, Effect::Interrupt { what: Interruptible::Disposal });
            }
            Trouble::Reset => {
                let kind = *rng.pick(&[ResetKind::CodeUpdate, ResetKind::Memory, ResetKind::Cpu, ResetKind::Moved]);
                draft.fault_by_chance(when, Effect::Reset { kind });
            }
            Trouble::Evict => draft.fault_by_chance(at(at_ms, &session), Effect::Evict {}),
            Trouble::Deploy => draft.deploy(at_ms),
            Trouble::MakeRoom => draft.call(&format!("neighbour-{number}"), make_room(at_ms, &session)),
        }
    }
}
