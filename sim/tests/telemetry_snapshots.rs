//! Snapshots of what the host exported: spans and log lines of a few small seeds of each scenario, as the flush delivered
//! them.
//!
//! Goal: whoever changes the host sees what its telemetry becomes. Method: of the runs together each situation that the
//! scenario is about must be shown, so that a seed which no longer shows it does not pass for one with another snapshot.
//! No value is redacted: a run is deterministic, and a redaction would hide a difference.

use std::collections::BTreeSet;

use scenarios::catalog;
use scenarios::reach::{self, Reached};
use scenarios::seed::Seed;
use scenarios::trace::Stream;
use sim::exit_code::ExitCode;
use sim::report::event_text;
use sim::run::{RunOptions, run_plan};

/// One line a scenario: the seeds whose telemetry is kept.
#[rustfmt::skip]
const SEEDS: &[(&str, &[u64])] = &[
    ("idle/stream-stays-open", &[11, 39]),
    ("idle/touch-around-deadline", &[4, 12]),
    ("idle/live-stream", &[0, 1]),
    ("idle/paused-to-its-ceiling", &[0, 2]),
    ("idle/running-to-its-ceiling", &[22, 39]),
    ("residency/cap-eviction", &[1, 4]),
    ("residency/concurrent-cold-builds", &[3, 13]),
    ("residency/reservation-returned", &[61, 84]),
    ("residency/reset-in-the-queue", &[0, 1]),
    ("residency/nothing-evictable", &[20, 42]),
    ("residency/eviction-request-lost", &[2, 13]),
    ("residency/busy-neighbours", &[17, 63]),
    ("residency/lru-under-touches", &[0, 1]),
    ("restore/single-flight", &[2, 5]),
    ("restore/stale-transport", &[0, 2]),
    ("restore/hibernated-streams", &[13, 21]),
    ("restore/database-down", &[20, 88]),
    ("restore/capability-carried", &[5, 63]),
    ("restore/other-organization", &[5, 8]),
    ("disposal/request-in-mid-disposal", &[4, 32]),
    ("disposal/interrupted", &[7, 56]),
    ("disposal/two-triggers", &[15, 58]),
    ("disposal/interrupted-before-build", &[12, 21]),
    ("disposal/build-failure", &[4, 5]),
    ("deploy/bookkeeping-writes", &[11, 32]),
    ("deploy/meta-write", &[1, 4]),
    ("deploy/unknown-failures", &[19, 54]),
    ("deploy/busy-fleet", &[8, 39]),
    ("alarm/unnamed-with-record", &[1, 30]),
    ("alarm/unnamed-without-record", &[9, 13]),
    ("alarm/unnamed-while-paused", &[2, 5]),
    ("alarm/throws-and-retries", &[3, 13]),
    ("alarm/heartbeat-meets-deadline", &[38, 63]),
    ("approval/decided", &[13, 25]),
    ("approval/expires", &[3, 5]),
    ("approval/decided-as-it-expires", &[3, 18]),
    ("approval/resumed-elsewhere", &[44, 62]),
    ("approval/resumed-twice", &[8, 9]),
    ("approval/after-restart", &[14, 34]),
    ("approval/owner-gone-or-slow", &[0, 50]),
    ("stream/cut-and-resume", &[0, 2]),
    ("stream/undelivered-result", &[9, 13]),
    ("stream/two-listeners", &[1, 4]),
    ("stream/oversize-event", &[17, 19]),
    ("stream/max-age", &[12, 24]),
    ("stream/slow-reader", &[7, 29]),
    ("stream/more-than-a-bridge-holds", &[0, 1]),
    ("destroy/around-delete", &[0, 3]),
    ("identity/foreign-caller", &[9, 17]),
    ("identity/revoked", &[59, 70]),
    ("identity/provider-blip", &[4, 12]),
    ("swarm/everything", &[34, 99]),
];
/// A swarm has too much to tell: its first clients are left of it, and these come to what the swarm is about all the same.
const SWARM_CLIENTS: usize = 3;
/// What so few sessions cannot come to.
const BEYOND_SWARM: &str = "situation/cap-reached";

fn check(group: &str) {
    let of_group = SEEDS.iter().filter(|(id, _)| id.split('/').next() == Some(group));
    for (id, seeds) in of_group {
        let scenario = catalog::find(id).expect("the scenario exists");
        let mut dark: BTreeSet<&str> = scenario.sometimes.iter().copied().collect();
        for &seed in *seeds {
            let mut plan = (scenario.plan)(Seed(seed));
            if group == "swarm" {
                plan.clients.truncate(SWARM_CLIENTS);
                dark.remove(BEYOND_SWARM);
            }
            let options = RunOptions { counts_reach: true, ..RunOptions::default() };
            let result = run_plan(&plan, &options).expect("the harness runs");
            assert_eq!(result.outcome(), ExitCode::Held, "{id} {seed}: {:?}", result.findings);
            for (row, _) in reach::rows().iter().zip(&result.reached).filter(|(_, reached)| **reached == Reached::Yes) {
                dark.remove(row.name);
            }
            let told: String = result.trace.of(Stream::Telemetry).map(|event| event_text(event) + "\n").collect();
            insta::assert_snapshot!(format!("{}-{seed}", id.replace('/', "-")), told);
        }
        assert_eq!(dark, BTreeSet::new(), "{id}: these seeds no longer show it: choose others");
    }
}

#[test]
fn every_scenario_has_its_seeds() {
    let told: Vec<&str> = SEEDS.iter().map(|(id, _)| *id).collect();
    // Those about real clients also tell what the clients did by themselves, in snapshots of their own.
    let others = catalog::all().map(|scenario| scenario.id).filter(|id| !id.starts_with("clients/"));
    let all: Vec<&str> = others.collect();
    assert_eq!(told, all);
}

#[test]
fn idle() {
    check("idle");
}

#[test]
fn residency() {
    check("residency");
}

#[test]
fn restore() {
    check("restore");
}

#[test]
fn disposal() {
    check("disposal");
}

#[test]
fn deploy() {
    check("deploy");
}

#[test]
fn alarm() {
    check("alarm");
}

#[test]
fn approval() {
    check("approval");
}

#[test]
fn stream() {
    check("stream");
}

#[test]
fn destroy() {
    check("destroy");
}

#[test]
fn identity() {
    check("identity");
}

#[test]
fn swarm() {
    check("swarm");
}
