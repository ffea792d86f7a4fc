//! The table of what varies on the platform (`model/PLATFORM.md`) against the tables that decisions are drawn from, and against runs.

use std::collections::BTreeSet;

use model::platform::fact_list::DECISIONS;
use scenarios::decision::{STRAYS, delay_ranges, is_stray};
use scenarios::plan::Severity;
use scenarios::seed::Seed;
use sim::run::{RunOptions, run_plan};

#[test]
fn the_ranges_of_the_table_are_those_that_are_drawn_from() {
    for stray in STRAYS {
        assert!(DECISIONS.iter().any(|decision| decision.name == stray.what), "{} is not in the table", stray.what);
    }
    for decision in DECISIONS {
        let stray = STRAYS.iter().find(|stray| stray.what == decision.name);
        let ranges = match decision.name {
            "alarm.late" | "commit" | "latency.rpc" => delay_ranges(decision.name),
            _ => match stray {
                Some(stray) => stray.ranges(),
                None => continue,
            },
        };
        assert_eq!(ranges, [decision.usual, decision.hostile], "{}", decision.name);
    }
}

/// Questions that runs of the swarm with that severity ask.
fn asked(is_meant: impl Fn(Severity) -> bool) -> BTreeSet<String> {
    let scenario = scenarios::catalog::find("swarm/everything").expect("it is in the catalog");
    let plans = (0..24).map(|seed| (scenario.plan)(Seed(seed))).filter(|plan| is_meant(plan.world.severity));
    let runs = plans.map(|plan| run_plan(&plan, &RunOptions::default()).expect("the harness runs"));
    runs.flat_map(|run| run.trace.decisions.into_iter().map(|drawn| drawn.name.what.to_string())).collect()
}

#[test]
fn a_calm_world_is_asked_for_nothing_that_strays_and_any_other_is() {
    let calm = asked(|severity| severity == Severity::Calm);
    assert!(!calm.is_empty() && !calm.iter().any(|what| is_stray(what)), "{calm:?}");
    let others = asked(|severity| severity != Severity::Calm);
    for decision in DECISIONS {
        // These wait for what few runs come to.
        if ["alarm.stuck", "alarm.retry-jitter", "alarm.count-lost", "flags.kept", "reset.zombie"]
            .contains(&decision.name)
        {
            continue;
        }
        let is_it = |what: &String| {
            decision.name.strip_suffix('*').map_or(what == decision.name, |lane| what.starts_with(lane))
        };
        assert!(others.iter().any(is_it), "{} is never asked", decision.name);
    }
}
