//! A world in which anything may happen: which kinds of use, client and trouble exist at all is drawn first.
//!
//! Goal: interleavings that no scenario was written for. Method: swarm testing. A seed switches features on and off,
//! then draws their weights, then a dozen or more clients with sixty or more requests, sessions from before the run with
//! or without their names, and a few faults aimed at operations that sessions pass.

use super::others::others;
use super::troubles::{TROUBLES, Trouble, trouble};
use super::uses::{USES, Use, use_it};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::Plan;
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

/// What exists in this swarm, and how often.
pub(super) struct Swarm {
    uses: Vec<(u64, Use)>,
    pub(super) troubles: Vec<(u64, Trouble)>,
    pub(super) span_ms: u64,
    pub(super) client_count: u64,
}

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let mut rng = draft.rng("swarm");
    let client_count = rng.between(12, 14);
    draft.cap(*rng.pick_weighted(&[(2, 32), (1, half(client_count)), (1, 4)]));
    let swarm = Swarm {
        uses: some_of(&mut rng, USES, Use::Call),
        troubles: some_of(&mut rng, TROUBLES, Trouble::Delay),
        span_ms: *rng.pick(&[5_000, 20_000, 2 * draft.timeout_ms() + 10_000]),
        client_count,
    };
    for number in 1..=client_count {
        let client = swarm.client(&draft, number);
        draft.client(client);
    }
    if draft.rng("others").chance(1, 2) {
        others(&mut draft, swarm.span_ms);
    }
    for number in 1..=rng.below(7) {
        trouble(&swarm, &mut draft, number);
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
        client = client.in_browser(rng.chance(1, 4));
        client.open();
        for _ in 0..rng.between(3, 6) {
            client.rest(self.gap_ms(draft, &mut rng));
            let what = rng.pick_weighted(&self.uses).to_owned();
            use_it(what, draft, &mut client, &mut rng, self.client_count);
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
}
