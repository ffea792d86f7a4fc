//! What the probes have an agent do, of either class, and the snapshot of its state.

use super::super::front::{Answer, sleep, told, undefined};
use super::super::memory::{self, Entry};
use super::super::object::{GET, GET_ALARM, LIST, PUT, SET_ALARM};
use model::agents::schedule::{self, KeepAlive};
use model::agents::{AgentHost, AgentState, NAME_KEY, mcp_agent, party_server, tables};
use model::js::{EventLoop, hops, js};
use model::platform::{JsError, ListRange, module_scope};
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How many agents the isolate has constructed.
#[derive(Default)]
struct Constructed(Cell<u64>);

/// What the probes' classes have in common.
pub trait Probed: AgentHost + Sized {
    /// Number of this incarnation in the isolate.
    fn instance(&self) -> u64;
    /// How often `onStart` ran.
    fn start_count(&self) -> u64;
    /// References that were taken and not given back, the oldest first.
    fn kept(&self) -> &RefCell<Vec<KeepAlive<Self>>>;
}

/// The number of the next incarnation; it is written down as constructed.
pub fn construct(state: &AgentState) -> u64 {
    let constructed = module_scope::<Constructed>();
    constructed.0.set(constructed.0.get() + 1);
    log(state, "ctor", json!({ "idName": state.ctx.id_name().as_deref() }));
    constructed.0.get()
}

/// Writes a line of the log.
pub fn log(state: &AgentState, tag: &'static str, what: Value) {
    memory::log(Entry { tag, who: state.ctx.key().name.to_string(), what });
}

/// A number as JSON has it: whole where it is.
pub fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// A time as seconds from now, to a tenth; null for none.
pub fn relative(at_ms: Option<u64>) -> Value {
    let now_ms = EventLoop::current().now_ms();
    #[expect(clippy::cast_precision_loss, reason = "times of a run are far below 2^53")]
    let seconds = |at_ms: u64| ((at_ms as f64 - now_ms as f64) / 100.0 + 0.5).floor() / 10.0;
    at_ms.map_or(Value::Null, |at_ms| number(seconds(at_ms)))
}

/// The value of a key, or null.
pub async fn stored(state: &AgentState, key: &str) -> Answer {
    Ok(state.ctx.storage().get(&GET, key).await?.map_or(Value::Null, |value| (*value).clone()))
}

/// `setAlarm(Date.now() + ms)`.
pub async fn set_alarm(state: &AgentState, ms: u64) -> Result<(), JsError> {
    let at_ms = EventLoop::current().now_ms() + ms;
    state.ctx.storage().set_alarm(&SET_ALARM, i64::try_from(at_ms).unwrap_or(i64::MAX)).await
}

/// `getAlarm()`, as seconds from now.
pub async fn alarm_in(state: &AgentState) -> Answer {
    Ok(relative(state.ctx.storage().get_alarm(&GET_ALARM).await?))
}

async fn snap<H: Probed>(o: &Rc<H>) -> Answer {
    let state = o.agent();
    let rows = state.ctx.storage().list(&LIST, ListRange::default()).await?;
    let keys: Vec<&str> = rows.iter().map(|(key, _)| &**key).collect();
    let schedules = schedule::scheduled(state).map_or(json!("no table"), |rows| json!(rows));
    let name = party_server::name(state).map_or_else(|error| told(Err(error)), |name| json!(&*name));
    let alarm_in = alarm_in(state).await?;
    Ok(json!({
        "alarmInSec": alarm_in, "keys": keys, "psName": stored(state, NAME_KEY).await?, "schedules": schedules,
        "tables": tables::names(state), "refs": state.keep_alive_refs.get(), "name": name,
        "idName": state.ctx.id_name().as_deref(), "webSockets": state.ctx.sockets().len(), "instance": o.instance(),
    }))
}

/// Runs the behaviour of that name.
pub async fn behave<H: Probed>(o: Rc<H>, what: &str, argument: Value) -> Answer {
    let state = o.agent();
    let refs = || json!(state.keep_alive_refs.get());
    let ms = argument.as_u64().unwrap_or(0);
    match what {
        "snap" => return snap(&o).await,
        "ping" => return Ok(json!(o.instance())),
        "onStarts" => return Ok(json!(o.start_count())),
        "schedule" => {
            let (after_s, callback) = (argument[0].as_u64().unwrap_or(0), argument[1].as_str().unwrap_or_default());
            return schedule::schedule(Rc::clone(&o), after_s, callback, Value::Null).await.map(Value::from);
        }
        "cancel" => {
            let id = argument.as_str().unwrap_or_default();
            return schedule::cancel(Rc::clone(&o), id).await.map(Value::from);
        }
        "keepAlive" => {
            let kept = js(schedule::keep_alive(Rc::clone(&o))).await?;
            o.kept().borrow_mut().push(kept);
            return Ok(refs());
        }
        "dispose" => {
            let kept = o.kept().borrow_mut().pop().expect("one was taken");
            kept.give_back();
            return Ok(refs());
        }
        "doubleDispose" => return double_dispose(&o).await,
        "keepAliveWhile" => {
            js(schedule::keep_alive_while(Rc::clone(&o), sleep(ms))).await?;
            return Ok(refs());
        }
        "kaThenSet" => keep_then_set(&o, argument.as_str().unwrap_or_default()).await?,
        "setThenKaInside" => {
            let inside = async {
                sleep(5).await;
                set_alarm(state, 300_000).await
            };
            js(schedule::keep_alive_while(Rc::clone(&o), inside)).await??;
        }
        "destroy" => {
            js(Rc::clone(&o).destroy()).await?;
            return Ok(json!("returned"));
        }
        "scheduleDestroy" | "_cf_scheduleDestroy" => mcp_agent::condemn(Rc::clone(&o)).await?,
        "initialise" => party_server::ensure_initialized(Rc::clone(&o)).await?,
        "setName" => set_name(Rc::clone(&o), argument).await?,
        "setAlarm" => set_alarm(state, ms).await?,
        "put" => {
            let key = argument[0].as_str().unwrap_or_default().to_owned();
            state.ctx.storage().put(&PUT, key, argument[1].clone()).await?;
        }
        "abort" => {
            state.ctx.abort(argument.as_str().unwrap_or_default())?;
            return std::future::pending().await;
        }
        _ => return Err(JsError::new(format!("no behaviour `{what}`"))),
    }
    Ok(undefined())
}

async fn set_name<H: Probed>(o: Rc<H>, argument: Value) -> Result<(), JsError> {
    let name = argument["name"].as_str().unwrap_or_default();
    let props = argument.get("props").filter(|props| !props.is_null()).cloned();
    party_server::set_name(o, name.into(), props).await
}

async fn double_dispose<H: Probed>(o: &Rc<H>) -> Answer {
    let refs = || o.agent().keep_alive_refs.get();
    let one = js(schedule::keep_alive(Rc::clone(o))).await?;
    let other = js(schedule::keep_alive(Rc::clone(o))).await?;
    (0..3).for_each(|_| one.give_back());
    let between = refs();
    other.give_back();
    Ok(json!([between, refs()]))
}

async fn keep_then_set<H: Probed>(o: &Rc<H>, gap: &str) -> Result<(), JsError> {
    js(schedule::keep_alive_while(Rc::clone(o), sleep(5))).await?;
    match gap {
        "timer" => sleep(0).await,
        "tick" => hops(1).await,
        _ => {}
    }
    set_alarm(o.agent(), 300_000).await
}

/// These fields of a snapshot, under these names.
pub fn pick(snapshot: &Value, fields: &[(&str, &str)]) -> Value {
    let picked = fields.iter().map(|(to, from)| ((*to).to_owned(), snapshot[*from].clone()));
    Value::Object(picked.collect::<Map<_, _>>())
}
