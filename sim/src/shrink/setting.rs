//! The settings of a plan that are not numbers: each has a plainer state, and a plan is the simpler the fewer stand otherwise.

use super::kind;
use scenarios::plan::{Action, Core, Edge, Effect, Elicitation, Plan, RuntimeBuild, Severity, When};
use scenarios::seed::Seed;

/// A setting that stands otherwise than in the plainest plan; indexes are those of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The seed that it was drawn from: a run takes nothing from it.
    Seed,
    /// How far latencies stray, made milder.
    Severity(Severity),
    /// The newer runtime.
    Build,
    /// A habit of the platform, by the name of its switch.
    Switch(&'static str),
    /// The core as described.
    Core,
    /// Touches at the end.
    Touch,
    /// A client that opens its stream again.
    Reopen(usize),
    /// A client with the habits of a real one.
    Persona(usize),
    /// A client whose people decide in the browser.
    Browser(usize),
    /// A call that the next step does not wait for.
    Overlap(usize, usize),
    /// A resume of what another client was told.
    Of(usize, usize),
    /// A connection that the client drops.
    Cut(usize, usize),
    /// A GET without the cursor that the client has.
    Fresh(usize, usize),
    /// A call of a caller that the next does not wait for.
    CallOverlap(usize, usize),
    /// A stored object whose id never had a name.
    Nameless(usize),
    /// A trigger for one session only.
    FaultSession(usize),
    /// A trigger for one root only.
    FaultRoot(usize),
    /// A trigger at the end of an operation.
    FaultEnd(usize),
    /// A failure of all later matches too.
    Lasting(usize),
    /// A failure with a text of its own.
    Text(usize),
    /// A failure with flags of its own.
    Flags(usize),
    /// A hold that fails in the end.
    HoldFails(usize),
    /// A fault that may find nothing.
    MayMiss(usize),
}

/// The settings that stand otherwise.
pub fn settings(plan: &Plan) -> Vec<Setting> {
    let milder = [Severity::Calm, Severity::Usual].into_iter().filter(|each| *each < plan.world.severity);
    let mut list: Vec<Setting> = milder.map(Setting::Severity).collect();
    let mut add = |is_set: bool, setting: Setting| list.extend(is_set.then_some(setting));
    add(plan.seed != Seed(0), Setting::Seed);
    add(plan.world.runtime_build != RuntimeBuild::default(), Setting::Build);
    plan.world.switches.moved().for_each(|switch| add(true, Setting::Switch(switch)));
    add(plan.core != Core::default(), Setting::Core);
    add(plan.settle.touch, Setting::Touch);
    for (at, client) in plan.clients.iter().enumerate() {
        add(client.reopen_stream, Setting::Reopen(at));
        add(client.persona.is_some(), Setting::Persona(at));
        add(client.elicitation != Elicitation::default(), Setting::Browser(at));
        for (step, each) in client.steps.iter().enumerate() {
            of_action(&each.action, (at, step), &mut add);
        }
    }
    for (at, caller) in plan.callers.iter().enumerate() {
        for (call, each) in caller.calls.iter().enumerate() {
            add(each.overlap, Setting::CallOverlap(at, call));
        }
    }
    for (at, stored) in plan.storage.iter().enumerate() {
        add(!stored.named, Setting::Nameless(at));
    }
    for (at, fault) in plan.faults.iter().enumerate() {
        add(fault.may_miss, Setting::MayMiss(at));
        if let When::Operation { root, edge, session, .. } = &fault.when {
            add(session.is_some(), Setting::FaultSession(at));
            add(root.is_some(), Setting::FaultRoot(at));
            add(*edge == Edge::End, Setting::FaultEnd(at));
        }
        match &fault.effect {
            Effect::Fail { text, flags, lasting, .. } => {
                add(*lasting, Setting::Lasting(at));
                add(text.is_some(), Setting::Text(at));
                add(flags.is_some(), Setting::Flags(at));
            }
            Effect::Hold { fail, .. } => add(fail.is_some(), Setting::HoldFails(at)),
            _ => {}
        }
    }
    list
}

/// The settings of one step.
fn of_action(action: &Action, (at, step): (usize, usize), add: &mut impl FnMut(bool, Setting)) {
    let goes_on = matches!(action, Action::Call { overlap: true, .. } | Action::Resume { overlap: true, .. });
    add(goes_on, Setting::Overlap(at, step));
    let of_other = matches!(action, Action::Resume { of: Some(_), .. } | Action::Decide { of: Some(_), .. });
    add(of_other, Setting::Of(at, step));
    let is_cut = matches!(action, Action::Post { cut: Some(_), .. } | Action::Recover { cut: Some(_), .. });
    add(is_cut, Setting::Cut(at, step));
    add(matches!(action, Action::Recover { fresh: true, .. }), Setting::Fresh(at, step));
}

/// How many settings stand otherwise; a severity counts by its grade, and so does each word that has simpler ones.
pub fn count(plan: &Plan) -> u64 {
    (settings(plan).len() + kind::simpler(plan).len()) as u64
}

/// The plan with that setting at its plainest.
pub fn plain(plan: &Plan, setting: &Setting) -> Option<Plan> {
    let mut changed = plan.clone();
    match setting {
        Setting::Seed => changed.seed = Seed(0),
        Setting::Severity(severity) => changed.world.severity = *severity,
        Setting::Build => changed.world.runtime_build = RuntimeBuild::default(),
        Setting::Switch(switch) => changed.world.switches = changed.world.switches.without(switch),
        Setting::Core => changed.core = Core::default(),
        Setting::Touch => changed.settle.touch = false,
        Setting::Reopen(client) => changed.clients.get_mut(*client)?.reopen_stream = false,
        Setting::Persona(client) => changed.clients.get_mut(*client)?.persona = None,
        Setting::Browser(client) => changed.clients.get_mut(*client)?.elicitation = Elicitation::default(),
        Setting::Overlap(client, step)
        | Setting::Of(client, step)
        | Setting::Cut(client, step)
        | Setting::Fresh(client, step) => {
            let action = &mut changed.clients.get_mut(*client)?.steps.get_mut(*step)?.action;
            match (setting, action) {
                (Setting::Overlap(..), Action::Call { overlap, .. } | Action::Resume { overlap, .. }) => {
                    *overlap = false
                }
                (Setting::Of(..), Action::Resume { of, .. } | Action::Decide { of, .. }) => *of = None,
                (Setting::Cut(..), action) => *action.cut_mut()? = None,
                (Setting::Fresh(..), Action::Recover { fresh, .. }) => *fresh = false,
                _ => return None,
            }
        }
        Setting::MayMiss(fault) => changed.faults.get_mut(*fault)?.may_miss = false,
        Setting::Nameless(stored) => changed.storage.get_mut(*stored)?.named = true,
        Setting::CallOverlap(caller, call) => changed.callers.get_mut(*caller)?.calls.get_mut(*call)?.overlap = false,
        Setting::FaultSession(fault) | Setting::FaultRoot(fault) | Setting::FaultEnd(fault) => {
            let When::Operation { root, edge, session, .. } = &mut changed.faults.get_mut(*fault)?.when else {
                return None;
            };
            match setting {
                Setting::FaultSession(_) => *session = None,
                Setting::FaultRoot(_) => *root = None,
                _ => *edge = Edge::Begin,
            }
        }
        Setting::Lasting(fault) | Setting::Text(fault) | Setting::Flags(fault) | Setting::HoldFails(fault) => {
            match (setting, &mut changed.faults.get_mut(*fault)?.effect) {
                (Setting::Lasting(_), Effect::Fail { lasting, .. }) => *lasting = false,
                (Setting::Text(_), Effect::Fail { text, .. }) => *text = None,
                (Setting::Flags(_), Effect::Fail { flags, .. }) => *flags = None,
                (Setting::HoldFails(_), Effect::Hold { fail, .. }) => *fail = None,
                _ => return None,
            }
        }
    }
    Some(changed)
}
