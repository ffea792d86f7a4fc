//! Random programs under random trouble: nothing panics, no caller is lost, no event passes a shut gate, no alarm is
//! lost, what was acknowledged is durable, and a second run gives the same marks.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::js::{EventLoop, IoContext, Promise, call, hops, race};

mod programs;
use programs::{Op, Plan};

/// The next number of a small generator (SplitMix64).
pub(super) fn next(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A generator.
struct Dice(Cell<u64>);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(Cell::new(next(seed)))
    }

    fn below(&self, below: u64) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x1234_5678_9abc_def1));
        next(self.0.get()) % below
    }
}

/// From here on nobody makes trouble and no alarm is set any more.
const CALM_FROM_MS: u64 = 4_000;
const OBJECTS: [&str; 3] = ["a", "b", "c"];

thread_local! {
    /// Calls that wait for their answer, with the context that waits.
    static WAITING: RefCell<BTreeMap<u64, std::rc::Weak<IoContext>>> = const { RefCell::new(BTreeMap::new()) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// The step at which a context was first seen dead.
    static DEATHS: RefCell<BTreeMap<(IsolateId, u64), u64>> = const { RefCell::new(BTreeMap::new()) };
    /// Acknowledged work: object and key.
    static ACKNOWLEDGED: RefCell<Vec<(&'static str, String)>> = const { RefCell::new(Vec::new()) };
}

/// Where a program runs.
#[derive(Clone)]
struct Place {
    ctx: ObjectContext,
    plan: Arc<Plan>,
    token: Arc<str>,
}

#[derive(Default)]
struct Deferreds(RefCell<BTreeMap<u8, Promise<()>>>);

fn deferred(number: u8) -> Promise<()> {
    module_scope::<Deferreds>().0.borrow_mut().entry(number).or_default().clone()
}

impl Place {
    /// Whoever runs must be alive; the rest of the turn of its death is allowed.
    fn check_alive(&self) {
        if self.ctx.io().is_dead() {
            let who = (Isolate::current(|isolate| isolate.id), self.ctx.io().number);
            let died = DEATHS.with_borrow_mut(|deaths| *deaths.entry(who).or_insert_with(rt::steps));
            assert_eq!(died, rt::steps(), "{}: code of a dead incarnation runs", self.token);
        }
    }

    fn run(self, operations: Arc<[Op]>) -> LocalFuture<Answer> {
        Box::pin(async move {
            for (index, operation) in operations.iter().enumerate() {
                self.check_alive();
                let inner = Place { token: format!("{}.{index}", self.token).into(), ..self.clone() };
                let token = Arc::clone(&inner.token);
                inner.perform(operation).await?;
                self.check_alive();
                mark(token.to_string());
            }
            Ok(Value::Null)
        })
    }

    async fn perform(self, operation: &Op) -> Result<(), JsError> {
        let storage = self.ctx.storage();
        match operation {
            Op::Get(key) => drop(storage.get(&GET, format!("k{key}")).await?),
            Op::Put(key) => storage.put(&PUT, format!("k{key}"), Value::from(1)).await?,
            Op::PutUnawaited(key) => drop(storage.put(&PUT, format!("k{key}"), Value::from(1))),
            Op::Delete(key) => drop(storage.delete(&DELETE, format!("k{key}")).await?),
            Op::List => drop(storage.list(&LIST, ListRange::prefix("k")).await?),
            Op::SetAlarm(ms) if clock() < CALM_FROM_MS => {
                storage.set_alarm(&SET_ALARM, gate::at_ms(i64::from(*ms))).await?
            }
            Op::SetAlarm(_) => {}
            Op::GetAlarm => drop(storage.get_alarm(&GET_ALARM).await?),
            Op::DeleteAlarm => storage.delete_alarm(&DELETE_ALARM).await?,
            Op::Sync => storage.sync(&SYNC).await?,
            Op::Hops(count) => hops(u32::from(*count)).await,
            Op::Timer(ms) => timer(u64::from(*ms)).wait().await,
            Op::Callback(ms) => self.callback(u64::from(*ms)),
            Op::Call(object, program) => drop(self.call(OBJECTS[usize::from(*object)], *program).await?),
            Op::Section(inside) => {
                let (ctx, inside) = (self.ctx.clone(), Arc::clone(inside));
                drop(section(&ctx, move || self.run(inside)).await?);
            }
            Op::Transaction(inside) => {
                let inside = Arc::clone(inside);
                drop(storage.transaction(&TRANSACTION, move |_| self.run(inside)).await?);
            }
            Op::Spawn(inside) => drop(call(self.run(Arc::clone(inside)))),
            Op::Throw => return Err(JsError::new("thrown")),
            Op::Abort => drop(abort(&self.ctx, "aborted by a program").await?),
            Op::Settle(number) => deferred(*number).settle(()),
            Op::Wait(number) => race(vec![deferred(*number), timer(60)]).wait().await,
        }
        Ok(())
    }

    /// A timer that checks the gate when it fires.
    fn callback(self, ms: u64) {
        let outside = EventLoop::current().ctx().section == 0;
        let fires = move || {
            self.check_alive();
            assert!(!outside || !self.ctx.io().is_gated(), "{}: a timer came through a shut gate", self.token);
            mark(format!("{}t", self.token));
        };
        EventLoop::current().set_timer(ms, Box::new(fires));
    }

    async fn call(&self, object: &'static str, program: u8) -> Answer {
        if usize::from(program) >= self.plan.programs.len() {
            return Ok(Value::Null);
        }
        ask_program(object, program).await
    }
}

/// Calls a program of an object and keeps the books on the call and its acknowledgement.
async fn ask_program(object: &'static str, program: u8) -> Answer {
    let number = CALLS.get();
    CALLS.set(number + 1);
    let waiter = Rc::downgrade(&EventLoop::current().ctx().context);
    WAITING.with_borrow_mut(|waiting| waiting.insert(number, waiter));
    let argument = serde_json::json!({ "program": program, "call": number });
    let answer = Stub::new(key(object)).rpc(&CALL, "run", argument).await;
    WAITING.with_borrow_mut(|waiting| waiting.remove(&number));
    if answer.is_ok() {
        ACKNOWLEDGED.with_borrow_mut(|all| all.push((object, format!("ack{number}"))));
    }
    answer
}

async fn object(plan: Arc<Plan>, ctx: ObjectContext, method: &'static str, told: Value) -> Answer {
    let token = match method {
        "alarm" => format!("{}!{}", ctx.label(), told["retryCount"]),
        "run" => format!("{}{}", ctx.label(), told["call"]),
        _ => return common(ctx, method).await,
    };
    assert!(!ctx.io().is_gated(), "{token}: an event came in through a shut gate");
    mark(&*token);
    let program = if method == "alarm" { plan.alarm } else { told["program"].as_u64().unwrap_or(0) };
    let program = Arc::clone(&plan.programs[usize::try_from(program).unwrap_or(0)]);
    let place = Place { ctx: ctx.clone(), plan, token: token.as_str().into() };
    place.run(program).await?;
    ctx.storage().put(&PUT, format!("ack{}", told["call"]), Value::from(1)).await?;
    mark(format!("{token}end"));
    Ok(Value::Null)
}

/// Trouble by dice: latencies, orders, failures, delays, holds, resets.
fn trouble(seed: u64) -> Script {
    let (dice, decisions, latencies) = (Dice::new(seed), Dice::new(seed ^ 1), Dice::new(seed ^ 2));
    let resets = Dice::new(seed ^ 3);
    let at = move |point: &OperationPoint<'_>| {
        if point.now_ms - rt::EPOCH_MS > CALM_FROM_MS {
            return Disturbance::None;
        }
        match dice.below(60) {
            0 => Disturbance::Fail(JsError::new("failed by dice")),
            1 if point.who != "w" && resets.below(3) == 0 => Disturbance::Fail(JsError::cpu_exceeded()),
            2..=4 => Disturbance::Delay(dice.below(80)),
            5..=7 => Disturbance::Hold(dice.below(3)),
            _ => Disturbance::None,
        }
    };
    let delay = move |_: &str, what: &str| match what {
        "commit" if latencies.below(3) == 0 => latencies.below(40),
        "alarm.late" if latencies.below(4) == 0 => latencies.below(300),
        what if what.starts_with("latency") => latencies.below(6),
        _ => 0,
    };
    let decide = move |_: &str, _: &str, below: u64| decisions.below(below);
    Script { at: Some(Box::new(at)), delay: Some(Box::new(delay)), decide: Some(Box::new(decide)), ..Script::default() }
}

/// One world: its marks, and how often each platform event was seen.
fn world(seed: u64) -> (String, BTreeMap<String, u32>) {
    let plan = Arc::new(Plan::draw(seed));
    let build = if seed.is_multiple_of(2) { RuntimeBuild::May2026 } else { RuntimeBuild::November2026 };
    let (told, result) = std::sync::mpsc::channel();
    let inside = Arc::clone(&plan);
    play_in(
        1 + u32::try_from(seed / 2 % 3).unwrap_or(0),
        build,
        move |ctx, method, told| object(Arc::clone(&inside), ctx, method, told),
        move |world| async move {
            let _listening = tracing::subscriber::set_default(witness::Witness);
            witness::begin();
            direct(trouble(seed));
            disturb(&world, &plan, seed).await;
            while rt::run_ms() < CALM_FROM_MS + 1_000 {
                (0..3).for_each(|number| Control::new(world.cluster.clone()).release(number));
                pause(200).await;
            }
            pause(600_000).await;
            check(&world, seed).await;
            told.send((marks(), witness::seen())).expect("the test waits");
        },
    );
    result.recv().expect("the world came to its end")
}

/// The calls of the plan, and trouble from outside, until the calm.
async fn disturb(world: &TestWorld, plan: &Plan, seed: u64) {
    let dice = Dice::new(seed ^ 4);
    let control = Control::new(world.cluster.clone());
    for (object, program) in plan.calls.clone() {
        let object = OBJECTS[usize::from(object)];
        world.post(move || Box::pin(async move { drop(ask_program(object, program).await) }));
        pause(dice.below(120)).await;
        control.release(dice.below(3));
        match dice.below(30) {
            0 => {
                let object = key(OBJECTS[usize::try_from(dice.below(3)).unwrap_or(0)]);
                let _ = control.reset(&object, JsError::code_updated(), || ());
            }
            1 if plan.ends_isolates => {
                let isolates = world.cluster.isolates();
                let which = usize::try_from(dice.below(3)).unwrap_or(0) % isolates.len();
                world.cluster.end_isolate(isolates[which]);
            }
            _ => {}
        }
    }
}

/// What must hold when the world has come to rest.
async fn check(world: &TestWorld, seed: u64) {
    let lost =
        WAITING.take().into_iter().filter(|(_, waiter)| waiter.upgrade().is_some_and(|waiter| !waiter.is_dead()));
    let lost: Vec<u64> = lost.map(|(number, _)| number).collect();
    assert!(lost.is_empty(), "seed {seed}: calls {lost:?} were never answered; {}", marks());
    assert_eq!(witness::armed(), BTreeMap::new(), "seed {seed}: alarms that were set and never fired");
    let acknowledged = ACKNOWLEDGED.take();
    for name in OBJECTS {
        assert_eq!(ask(world, name, "alarm?").await, Ok(Value::Null), "seed {seed}: the alarm of {name} is lost");
        let keys = ask(world, name, "keys").await.expect("it answers");
        let keys: Vec<&str> = keys.as_str().unwrap_or("").split(' ').collect();
        let gone = acknowledged.iter().find(|(object, ack)| *object == name && !keys.contains(&ack.as_str()));
        assert_eq!(gone, None, "seed {seed}: acknowledged and not durable");
    }
    DEATHS.take();
    CALLS.set(0);
}

#[test]
fn random_programs_under_random_trouble_lose_nothing_and_repeat() {
    const SEEDS: u64 = 300;
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..SEEDS {
        let first = world(seed);
        assert_eq!(first, world(seed), "seed {seed} does not repeat");
        for (event, times) in first.1 {
            *seen.entry(event).or_default() += times;
        }
    }
    for event in ["object.reset", "object.constructed", "alarm.fired", "alarm.deleted", "isolate.ended", "storage.put"]
    {
        assert!(seen.get(event).is_some_and(|times| *times > 10), "{event} hardly ever happened: {seen:?}");
    }
}
