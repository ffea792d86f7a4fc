//! Tests of what the plans of `idle/stream-stays-open` have in common and in what they vary.

use super::*;
use crate::expect::evaluate;
use crate::plan::{Action, Severity};

fn plans() -> impl Iterator<Item = Plan> {
    (0..400).map(|seed| plan(Seed(seed)))
}

#[test]
fn the_first_client_opens_holds_a_stream_calls_rests_and_calls() {
    for plan in plans() {
        let steps = &plan.clients[0].steps;
        // Some read nothing for a while before they call.
        let names: Vec<&str> = steps.iter().map(|step| step.action.name()).filter(|name| *name != "stall").collect();
        assert_eq!(names[..3], ["open", "stream", "call"], "{}", plan.seed);
        assert!(names.ends_with(&["call"]) && names.len() >= 4);
        let last = steps.last().map_or(0, |step| step.at_ms);
        let idle_from = steps.iter().filter(|step| step.at_ms < last).map(|step| step.at_ms).max();
        let idle = last - idle_from.unwrap_or(0);
        assert!(idle >= plan.config.session_timeout_ms + 4_000, "{}", plan.seed);
    }
}

#[test]
fn every_call_can_be_judged() {
    for plan in plans() {
        for client in &plan.clients {
            for (index, step) in client.steps.iter().enumerate() {
                if let Action::Call { code, .. } = &step.action {
                    assert!(evaluate(code).is_some(), "{code}");
                    assert!(code.contains(&format!("{}-{index}-", client.name)), "{code}");
                }
            }
        }
    }
}

#[test]
fn the_seeds_vary_what_the_scenario_says_they_vary() {
    let reached = |what: &dyn Fn(&Plan) -> bool| plans().filter(|plan| what(plan)).count();
    let production = reached(&|plan| plan.config.session_timeout_ms == 300_000);
    let shortest = reached(&|plan| plan.config.session_timeout_ms == 1_000);
    let alone = reached(&|plan| plan.clients.len() == 1);
    let crowded = reached(&|plan| plan.clients.len() == 6);
    let reopening = reached(&|plan| plan.clients[0].reopen_stream);
    let calm = reached(&|plan| plan.world.severity == Severity::Calm);
    let hostile = reached(&|plan| plan.world.severity == Severity::Hostile);
    for count in [production, shortest, reopening, hostile] {
        assert!((20..200).contains(&count), "{count} of 400");
    }
    assert!((200..320).contains(&alone), "{alone} of 400");
    assert!((4..40).contains(&crowded), "{crowded} of 400");
    assert!((140..260).contains(&calm), "{calm} of 400");
}

#[test]
fn gaps_meet_the_deadline_in_some_seeds() {
    let meeting = plans().filter(|plan| {
        let timeout = plan.config.session_timeout_ms;
        let steps = &plan.clients[0].steps;
        steps.windows(2).any(|pair| (pair[1].at_ms - pair[0].at_ms).abs_diff(timeout) <= 12)
    });
    assert!(meeting.count() > 40);
}
