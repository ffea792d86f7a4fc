//! From a scenario and a seed to a plan, with what a person changes in it; and back from a plan to the command that draws it.

use crate::error::Error;
use crate::text::{did_you_mean, nearest, printable, shortened};
use model::client::persona;
use model::defect::{DEFECTS, DefectSet};
use model::operations::ROOTS;
use scenarios::catalog::{self, Scenario};
use scenarios::plan::{Core, Effect, FaultPlan, HostConfig, Plan, When};
use scenarios::seed::Seed;
use serde_json::{Map, Value as Json};
use std::path::Path;

/// All scenarios, in the order in which they run.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    catalog::all()
}

/// The scenario of that id.
///
/// # Errors
/// A usage error with the nearest ids.
pub fn scenario(id: &str) -> Result<&'static Scenario, Error> {
    catalog::find(id).ok_or_else(|| {
        let hint = did_you_mean(id, scenarios().map(|scenario| scenario.id), "sim list scenarios");
        Error::usage(format!("no scenario is called `{}`: {hint}", shortened(id, 60)))
    })
}

/// Changes to what scenarios draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Defects to switch on.
    defects: Vec<String>,
    /// Fields of the host's configuration and their values.
    settings: Vec<(String, u64)>,
    /// The core to run.
    core: Option<Core>,
}

impl Overrides {
    /// Checks every name and value.
    ///
    /// # Errors
    /// A usage error with the nearest names.
    pub fn read(defects: &[String], settings: &[String], core: Option<Core>) -> Result<Self, Error> {
        let mut known: Vec<String> = Vec::new();
        for defect in defects {
            check_defect(defect)?;
            if !known.contains(defect) {
                known.push(defect.clone());
            }
        }
        let settings = settings.iter().map(|setting| read_setting(setting)).collect::<Result<_, _>>()?;
        Ok(Self { defects: known, settings, core })
    }

    /// The defects of a host with these changes.
    pub fn defect_set(&self) -> DefectSet {
        let set = crate::world::defects_of(&self.defects, self.core.unwrap_or_default());
        set.expect("the names were checked when they were read")
    }

    /// Draws the plan of a seed and changes it.
    ///
    /// # Errors
    /// A usage error when a changed value is out of range.
    pub fn draw(&self, scenario: &Scenario, seed: Seed) -> Result<Plan, Error> {
        self.change((scenario.plan)(seed))
    }

    /// Changes a plan.
    ///
    /// # Errors
    /// A usage error when a changed value is out of range.
    pub fn change(&self, mut plan: Plan) -> Result<Plan, Error> {
        for defect in &self.defects {
            if !plan.defects.contains(defect) {
                plan.defects.push(defect.clone());
            }
        }
        if let Some(core) = self.core {
            plan.core = core;
        }
        if !self.settings.is_empty() {
            plan.config = with(&plan.config, &self.settings)?;
        }
        plan.validate().map_err(|refusal| Error::usage(printable(&refusal.to_string())))?;
        Ok(plan)
    }
}

/// A configuration with some fields changed.
fn with(config: &HostConfig, settings: &[(String, u64)]) -> Result<HostConfig, Error> {
    let mut fields = fields_of(config);
    let mut changed = config.clone();
    for (key, value) in settings {
        fields.insert(key.clone(), Json::from(*value));
        changed = serde_json::from_value(Json::Object(fields.clone()))
            .map_err(|_| Error::usage(format!("`--set {key}={value}` is too large for `{key}`: make it smaller")))?;
    }
    Ok(changed)
}

fn fields_of(config: &HostConfig) -> Map<String, Json> {
    match serde_json::to_value(config) {
        Ok(Json::Object(fields)) => fields,
        other => unreachable!("a configuration is a JSON object, not {other:?}"),
    }
}

fn read_setting(setting: &str) -> Result<(String, u64), Error> {
    let form = "write it like `session-timeout-ms=60000`";
    let Some((key, value)) = setting.split_once('=') else {
        return Err(Error::usage(format!("`--set {}` has no `=`: {form}", shortened(setting, 60))));
    };
    let field = match key {
        "cap" => "resident_runtime_soft_cap".to_owned(),
        _ => key.replace('-', "_"),
    };
    let fields = fields_of(&HostConfig::default());
    if !fields.contains_key(&field) {
        let known: Vec<&str> = fields.keys().map(String::as_str).collect();
        let near = nearest(&field, known.iter().copied());
        let hint = match near.is_empty() {
            true => format!("there is `{}`", known.join("`, `")),
            false => format!("did you mean `{}`?", near.join("` or `")),
        };
        return Err(Error::usage(format!("an operator has no `{}` to set: {hint}", shortened(key, 60))));
    }
    let digits: String = value.chars().filter(|each| *each != '_').collect();
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let number = number
        .ok_or_else(|| Error::usage(format!("`{}` is no whole number for `{key}`: {form}", shortened(value, 60))))?;
    Ok((field, number))
}

fn check_defect(name: &str) -> Result<(), Error> {
    if DEFECTS.iter().any(|defect| defect.name == name) {
        return Ok(());
    }
    let hint = did_you_mean(name, DEFECTS.iter().map(|defect| defect.name), "sim list defects");
    Err(Error::usage(format!("no defect is called `{}`: {hint}", shortened(name, 60))))
}

/// A usage error for a persona that no client of this build has, with the nearest names.
///
/// # Errors
/// As said.
pub fn check_persona(name: &str) -> Result<(), Error> {
    if persona::find(name).is_some() {
        return Ok(());
    }
    let hint = did_you_mean(name, persona::PERSONAS.iter().map(|persona| persona.name), "sim list personas");
    Err(Error::usage(format!("no persona is called `{}`: {hint}", shortened(name, 60))))
}

/// A reset happens to an object; the edge worker's requests are none.
fn check_reset(fault: &FaultPlan) -> Result<(), Error> {
    let (When::Operation { operation, .. }, Effect::Reset { .. }) = (&fault.when, &fault.effect) else {
        return Ok(());
    };
    if !model::operations::is_of_edge(operation) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`{operation}` is an operation of the edge worker, which is no object to reset: name one of the session's, or give `at_ms` and `session`"
    )))
}

/// Checks the names in a plan from a file that only this build can know.
///
/// # Errors
/// A usage error that names file and field.
pub fn check_names(plan: &Plan, file: &Path) -> Result<(), Error> {
    for (at, defect) in plan.defects.iter().enumerate() {
        check_defect(defect).map_err(|error| in_field(file, &format!("defects[{at}]"), &error))?;
    }
    for (at, client) in plan.clients.iter().enumerate() {
        let checked = client.persona.as_deref().map_or(Ok(()), check_persona);
        checked.map_err(|error| in_field(file, &format!("clients[{at}].persona"), &error))?;
    }
    if let Some(method) = crate::callers::unknown_method(plan) {
        let near = crate::text::near_names(method, model::METHODS.iter().copied());
        let hint = near.unwrap_or_else(|| format!("it has {}", model::METHODS.join(", ")));
        let told = format!("callers: a session has no method `{}`: {hint}", shortened(method, 60));
        return Err(Error::usage(format!("{}: {told}", crate::files::shown(file))));
    }
    let operations = model::operations::names();
    for (at, fault) in plan.faults.iter().enumerate() {
        let place = format!("faults[{at}]");
        check_operation(&fault.when, &operations).map_err(|error| in_field(file, &format!("{place}.when"), &error))?;
        check_reset(fault).map_err(|error| in_field(file, &format!("{place}.when"), &error))?;
        if let Effect::Hold { release: Some(release), .. } = &fault.effect {
            let place = format!("{place}.effect.release");
            check_operation(release, &operations).map_err(|error| in_field(file, &place, &error))?;
        }
    }
    Ok(())
}

fn in_field(file: &Path, field: &str, error: &Error) -> Error {
    Error::usage(format!("{}: {field}: {error}", crate::files::shown(file)))
}

fn check_operation(when: &When, known: &[&'static str]) -> Result<(), Error> {
    let When::Operation { operation, root, .. } = when else {
        return Ok(());
    };
    if !known.contains(&operation.as_str()) {
        let hint = did_you_mean(operation, known.iter().copied(), "sim operations");
        return Err(Error::usage(format!("no operation is called `{}`: {hint}", shortened(operation, 60))));
    }
    match root {
        Some(root) if !ROOTS.contains(&root.as_str()) => {
            let hint = did_you_mean(root, ROOTS.iter().copied(), "sim operations");
            Err(Error::usage(format!("no operation runs for a root `{}`: {hint}", shortened(root, 60))))
        }
        _ => Ok(()),
    }
}

/// The arguments of `sim` that draw this very plan, if a scenario of this build does.
pub fn arguments_of(plan: &Plan) -> Option<Vec<String>> {
    let scenario = catalog::find(&plan.scenario)?;
    let drawn = (scenario.plan)(plan.seed);
    let (before, after) = (fields_of(&drawn.config), fields_of(&plan.config));
    let mut changed = Overrides { defects: plan.defects.clone(), settings: Vec::new(), core: None };
    changed.defects.retain(|defect| !drawn.defects.contains(defect));
    changed.core = (plan.core != drawn.core).then_some(plan.core);
    for (key, value) in &after {
        if before.get(key) != Some(value) {
            changed.settings.push((key.clone(), value.as_u64()?));
        }
    }
    if changed.draw(scenario, plan.seed).ok()? != *plan {
        return None;
    }
    let mut arguments =
        vec!["--scenario".to_owned(), plan.scenario.clone(), "--seed".to_owned(), plan.seed.to_string()];
    for defect in changed.defects {
        arguments.extend(["--defect".to_owned(), defect]);
    }
    for (key, value) in changed.settings {
        arguments.extend(["--set".to_owned(), format!("{key}={value}")]);
    }
    if let Some(core) = changed.core {
        arguments.extend(["--core".to_owned(), serde_json::to_value(core).ok()?.as_str()?.to_owned()]);
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first() -> &'static Scenario {
        scenarios().next().expect("the catalog is not empty")
    }

    fn strings(values: &[&str]) -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_drawn_plan_could_be_read_from_a_file() {
        for scenario in scenarios() {
            for seed in (0..200).map(Seed) {
                let checked = check_names(&(scenario.plan)(seed), Path::new("drawn"));
                assert!(checked.is_ok(), "{} {seed}: {checked:?}", scenario.id);
            }
        }
    }

    #[test]
    fn settings_are_read_in_snake_and_kebab_case() {
        let snake = Overrides::read(&[], &strings(&["session_timeout_ms=60_000"]), None).expect("known");
        let kebab = Overrides::read(&[], &strings(&["session-timeout-ms=60000"]), None).expect("known");
        assert_eq!(snake, kebab);
        let plan = snake.draw(first(), Seed(1)).expect("in range");
        assert_eq!(plan.config.session_timeout_ms, 60_000);
    }

    #[test]
    fn wrong_settings_are_refused_with_what_to_do() {
        for (setting, told) in [
            ("session_timeout_ms", "has no `=`"),
            ("session-timeout=5", "did you mean `session_timeout_ms`?"),
            ("zzz=5", "there is `max_paused_session_idle_ms`"),
            ("session_timeout_ms=x", "no whole number"),
            ("session_timeout_ms=-1", "no whole number"),
            ("session_timeout_ms=", "no whole number"),
            ("session_timeout_ms=99999999999999999999", "no whole number"),
        ] {
            let refusal = Overrides::read(&[], &strings(&[setting]), None).expect_err(setting).to_string();
            assert!(refusal.contains(told), "{setting}: {refusal}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused_when_the_plan_is_drawn() {
        for setting in
            ["session_timeout_ms=0", "resident_runtime_soft_cap=99999999999", "session_timeout_ms=18446744073709551615"]
        {
            let changes = Overrides::read(&[], &strings(&[setting]), None).expect("a number");
            let refusal = changes.draw(first(), Seed(1)).expect_err(setting);
            assert_eq!(refusal.exit_code(), crate::exit_code::ExitCode::Usage, "{refusal}");
        }
    }

    #[test]
    fn what_is_predicted_is_predicted_of_each_defect_there_is() {
        let known: Vec<&str> = DEFECTS.iter().map(|defect| defect.name).collect();
        let predicted: Vec<&str> = scenarios::strength::STRENGTH.iter().map(|row| row.defect).collect();
        assert_eq!(known, predicted);
    }

    #[test]
    fn a_changed_plan_knows_the_command_that_draws_it() {
        let defect = DEFECTS[0].name;
        let changes =
            Overrides::read(&strings(&[defect]), &strings(&["resident_runtime_soft_cap=3"]), Some(Core::Described));
        let plan = changes.expect("known").draw(first(), Seed(7)).expect("in range");
        let arguments = arguments_of(&plan).expect("a scenario draws it").join(" ");
        let id = first().id;
        let short = Overrides::read(&strings(&[defect]), &strings(&["cap=3"]), Some(Core::Described));
        assert_eq!(short.expect("known").draw(first(), Seed(7)), Ok(plan));
        assert_eq!(
            arguments,
            format!("--scenario {id} --seed 7 --defect {defect} --set resident_runtime_soft_cap=3 --core described")
        );
    }

    #[test]
    fn a_plan_that_was_edited_by_hand_is_drawn_by_no_command() {
        let mut plan = Overrides::default().draw(first(), Seed(7)).expect("in range");
        assert!(arguments_of(&plan).is_some());
        plan.settle.quiet_ms += 1;
        assert_eq!(arguments_of(&plan), None);
        plan.scenario = "made/by-hand".to_owned();
        assert_eq!(arguments_of(&plan), None);
    }
}
