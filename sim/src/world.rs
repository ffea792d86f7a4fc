//! The world of one run: the simulated runtime, built for a plan, and what is asked of the model beside its clients.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use madsim::runtime::Runtime;
use model::client::persona;
use model::config::{HostConfig, KeptPause};
use model::defect::{Defect, DefectSet};
use model::deployment::Deployment;
use model::net::{labels, stalls};
use model::rt;
use scenarios::plan::{self, Plan};

use crate::director::Director;
use crate::error::Error;
use crate::habits;
use crate::objects::Objects;
use crate::run::{WorldOptions, WorldResult};
use crate::{callers, driver, faults, objects, planted, recorder};

/// Start of every run, in ms since the Unix epoch.
pub const EPOCH_MS: u64 = rt::EPOCH_MS;

/// The network's own one-way latency: a constant, since every other latency is a named decision.
const NET_LATENCY: Duration = Duration::from_millis(1);

/// Virtual ms since the start of the run of this thread.
pub fn run_ms() -> u64 {
    rt::run_ms()
}

/// The table of the suspension points that the model really has.
///
/// # Errors
/// None today; the table is made from the code.
pub fn operations_table() -> Result<String, Error> {
    Ok(model::operations::markdown())
}

/// Runs a plan in a fresh world. Called first thing on a fresh thread, between `recorder::begin` and `finish`.
pub fn run_world(plan: &Plan, options: &WorldOptions) -> WorldResult {
    let mut runtime = runtime(options.scheduler_seed, options.budget.virtual_ms_max);
    let stopped = match obey(plan, options, &mut runtime) {
        Ok(result) => return result,
        Err(reason) => reason,
    };
    WorldResult { stopped: Some(stopped), ..WorldResult::default() }
}

/// Runs what `make` returns in a fresh world without a host, directed by nobody: what everything else stands on.
pub fn run_bare<Fut: Future>(virtual_ms_max: u64, make: impl FnOnce() -> Fut) -> Fut::Output {
    runtime(0, virtual_ms_max).block_on(async {
        rt::begin_run(None, u64::MAX);
        labels::reset();
        stalls::reset();
        let done = make().await;
        rt::end_run();
        done
    })
}

fn runtime(scheduler_seed: u64, virtual_ms_max: u64) -> Runtime {
    let mut config = madsim::Config::default();
    config.net.send_latency = NET_LATENCY..NET_LATENCY + Duration::from_nanos(1);
    // First of all on its thread: the runtime fixes the keys of std's hash maps there.
    let mut runtime = Runtime::with_seed_and_config(scheduler_seed, config);
    runtime.set_time_limit(Duration::from_millis(virtual_ms_max));
    runtime
}

fn obey(plan: &Plan, options: &WorldOptions, runtime: &mut Runtime) -> Result<WorldResult, String> {
    let config = host_config(plan)?;
    if let Some((what, name)) = faults::unknown_name(&plan.faults) {
        return Err(format!("a fault names the {what} `{name}`, which this host does not have: see `sim operations`"));
    }
    if let Some(method) = callers::unknown_method(plan) {
        return Err(format!("a caller names the method `{method}`, which a session does not have"));
    }
    let director = Director::new(plan)?;
    runtime.block_on(async {
        rt::begin_run(Some(director.clone()), options.budget.step_max);
        labels::reset();
        stalls::reset();
        if let Some(leak) = options.leak {
            planted::leak(leak, plan.seed);
        }
        let (build, switches) = habits::of(plan.world.runtime_build, plan.world.switches);
        let deployment = Deployment::start_with(config, plan.world.isolate_count, build, switches);
        director.connect(deployment.control());
        let objects = Rc::new(Objects::fill(plan, deployment.control()));
        let driver = driver::drive(plan, &director, &objects, deployment.caller()).await;
        let ends_at_ms = run_ms();
        recorder::mute();
        driver.stop();
        deployment.stop().await;
        rt::end_run();
        let (decisions, fault_ledger, mut unknown_pins) = director.results();
        let stopped = director.misfit().filter(|_| !options.are_pins_optional);
        if options.are_pins_optional {
            unknown_pins.extend(director.misfit_names());
        } else if stopped.is_some() {
            // What a void run did not ask for says nothing about the plan.
            unknown_pins.clear();
        }
        let operation_count = director.operation_count();
        Ok(WorldResult { ends_at_ms, operation_count, decisions, fault_ledger, unknown_pins, stopped })
    })
}

/// The defects of a core with these switched on besides.
///
/// # Errors
/// One sentence for a name that no defect has.
pub fn defects_of(names: &[String], core: plan::Core) -> Result<DefectSet, String> {
    let defect = |name: &String| Defect::named(name).ok_or_else(|| format!("no defect is called `{name}`"));
    let named: Result<Vec<Defect>, String> = names.iter().map(defect).collect();
    let described = Defect::described().filter(|_| core == plan::Core::Described);
    Ok(DefectSet::of(described.chain(named?)))
}

fn check_personas(plan: &Plan) -> Result<(), String> {
    let mut named = plan.clients.iter().filter_map(|client| client.persona.as_deref());
    match named.find(|name| persona::find(name).is_none()) {
        Some(name) => Err(format!("no persona is called `{name}`")),
        None => Ok(()),
    }
}

fn host_config(plan: &Plan) -> Result<HostConfig, String> {
    check_personas(plan)?;
    let kept = |stored: &plan::StoredObject| -> Vec<KeptPause> {
        let who = objects::key_of(stored).label();
        let kept = |paused: &plan::PausedPlan| KeptPause {
            session: Arc::clone(&who),
            execution: paused.execution.as_str().into(),
            code: paused.code.as_str().into(),
            is_over: Arc::default(),
        };
        stored.paused.iter().map(kept).collect()
    };
    Ok(HostConfig {
        kept_pauses: plan.storage.iter().flat_map(kept).collect(),
        session_timeout_ms: plan.config.session_timeout_ms,
        max_paused_session_idle_ms: plan.config.max_paused_session_idle_ms,
        resident_runtime_soft_cap: plan.config.resident_runtime_soft_cap,
        supports_cap_eviction: true,
        defects: defects_of(&plan.defects, plan.core)?,
        ..HostConfig::default()
    })
}
