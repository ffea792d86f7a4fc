//! Tests of decisions: names, streams, pins and calm defaults.

use super::*;
use crate::plan::sample;
use crate::seed::Seed;

fn source(change: impl FnOnce(&mut Plan)) -> DecisionSource {
    let mut plan = sample();
    plan.entropy = Some(Entropy::of("test", Seed(1)));
    plan.world.severity = Severity::Hostile;
    change(&mut plan);
    DecisionSource::new(&plan).expect("the names of the pins are well formed")
}

fn four(source: &mut DecisionSource) -> Vec<u64> {
    (0..4).map(|_| source.decide("s1", "pick", 1_000).expect("in range")).collect()
}

#[test]
fn a_name_reads_back_as_it_was_written() {
    let text = "s1/order.rpc:edge>s1@3#12";
    let name = DecisionName::parse(text).expect("well formed");
    assert_eq!((&*name.what, name.step), ("order.rpc:edge>s1", 3));
    assert_eq!(name.to_string(), text);
    for wrong in ["", "s1", "s1/a", "s1/a@1", "s1/@1#0", "/a@1#0", "s1/a@x#0", "s1/a@+1#0", "s 1/a@1#0"] {
        assert_eq!(DecisionName::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn other_questions_and_actors_never_shift_a_draw() {
    let alone = four(&mut source(|_| {}));
    let mut busy = source(|_| {});
    for _ in 0..3 {
        busy.decide("s2", "pick", 9).expect("in range");
        busy.decide("s1", "other", 9).expect("in range");
    }
    assert_eq!(four(&mut busy), alone);
}

#[test]
fn each_step_has_a_stream_of_its_own() {
    let mut one = source(|_| {});
    four(&mut one);
    one.begin_step("s1", 1);
    let mut other = source(|_| {});
    other.begin_step("s1", 1);
    assert_eq!(four(&mut one), four(&mut other));
    assert_eq!(one.record()[4].name.to_string(), "s1/pick@1#0");
}

#[test]
fn a_pin_overrules_its_draw_and_no_other() {
    let free = four(&mut source(|_| {}));
    let mut pinned = source(|plan| {
        plan.pins.insert("s1/pick@0#1".into(), 7);
        plan.pins.insert("s1/never@0#0".into(), 7);
    });
    let values = four(&mut pinned);
    assert_eq!(values[1], 7);
    assert_eq!((values[0], &values[2..]), (free[0], &free[2..]));
    let unused: Vec<String> = pinned.unused_pins().map(ToString::to_string).collect();
    assert_eq!(unused, ["s1/never@0#0"]);
}

#[test]
fn a_pin_out_of_range_is_an_error_that_names_it() {
    let mut pinned = source(|plan| {
        plan.pins.insert("s1/pick@0#0".into(), 5);
        plan.pins.insert("i1/alarm.late@0#0".into(), 60_001);
    });
    let error = pinned.decide("s1", "pick", 5).expect_err("5 is not below 5");
    assert!(error.to_string().contains("pins s1/pick@0#0 to 5"));
    pinned.decide_delay("i1", "alarm.late").expect_err("too late");
}

#[test]
fn without_entropy_everything_is_calm() {
    let mut calm = source(|plan| plan.entropy = None);
    assert_eq!(four(&mut calm), [0; 4]);
    assert_eq!(calm.decide_delay("s1", "latency.rpc"), Ok(0));
    assert_eq!(calm.round_up_ms(), Ok(2));
}

#[test]
fn a_run_can_be_pinned_to_what_it_drew() {
    let mut free = source(|_| {});
    let drawn = four(&mut free);
    let delay = free.decide_delay("s1", "latency.rpc");
    let mut pinned = source(|plan| {
        plan.entropy = None;
        plan.pins = free.record().iter().map(|each| (each.name.to_string(), each.value)).collect();
    });
    assert_eq!(four(&mut pinned), drawn);
    assert_eq!(pinned.decide_delay("s1", "latency.rpc"), delay);
    assert_eq!(pinned.unused_pins().count(), 0);
}

#[test]
fn only_a_hostile_world_makes_events_meet() {
    assert!((2..=10).contains(&source(|_| {}).round_up_ms().expect("in range")));
    let mut usual = source(|plan| plan.world.severity = Severity::Usual);
    assert_eq!(usual.round_up_ms(), Ok(1));
    assert!(usual.record().is_empty());
}

#[test]
fn a_stray_is_asked_only_where_something_else_than_0_can_be_answered() {
    let asked = |adjust: fn(&mut Plan)| {
        let mut source = source(adjust);
        let drawn: Vec<u64> = (0..200).map(|_| source.decide_stray("s1", "alarm.nameless").expect("no pin")).collect();
        (source.record().len(), drawn.iter().any(|value| *value > 0))
    };
    assert_eq!(asked(|plan| plan.world.severity = Severity::Calm), (0, false));
    assert_eq!(asked(|plan| (plan.world.severity, plan.entropy) = (Severity::Hostile, None)), (0, false));
    assert_eq!(asked(|plan| plan.world.severity = Severity::Hostile), (200, true));
}

#[test]
fn a_pinned_stray_is_asked_in_a_calm_world_too() {
    let mut source = source(|plan| {
        plan.world.severity = Severity::Calm;
        plan.pins.insert("s1/reset@0#1".to_owned(), 7);
    });
    let mut ask = |what| source.decide_stray("s1", what).expect("it fits");
    assert_eq!([ask("reset"), ask("reset"), ask("reset"), ask("eviction")], [0, 7, 0, 0]);
    assert_eq!(source.record().len(), 3);
}

#[test]
fn the_ranges_of_each_stray_hold_what_is_drawn() {
    for stray in STRAYS {
        for severity in [Severity::Usual, Severity::Hostile] {
            let mut rng = Rng::named(&Entropy::of("test", Seed(5)), stray.what);
            let drawn: Vec<u64> = (0..2_000).map(|_| stray.draw(severity, &mut rng)).collect();
            assert!(drawn.iter().all(|value| *value <= stray.most()), "{}", stray.what);
            assert!(drawn.contains(&0) && drawn.iter().any(|value| *value > 0), "{}", stray.what);
        }
        assert!(is_stray(stray.what) && stray.ranges().iter().all(|range| range.contains("% 0")));
    }
}
