//! What the types of a plan cannot say: limits, names, references, and fields that go together.

mod direct;
mod sessions;

use super::{Action, ClientPlan, Effect, FaultPlan, Plan, PlanError, VERSION, When};
use crate::bad_input::BadInput;
use sessions::Sessions;
use std::collections::BTreeSet;

/// The longest time a plan may name: seven days, in ms.
pub const SPAN_MS_MAX: u64 = 7 * 24 * 60 * 60 * 1000;
/// The most clients a plan may have.
pub const CLIENT_COUNT_MAX: usize = 10_000;
/// The most steps a client may have.
pub const STEP_COUNT_MAX: usize = 10_000;
/// The most calls that one POST may have.
pub const COPY_COUNT_MAX: u32 = 100;
/// The most faults a plan may have.
pub const FAULT_COUNT_MAX: usize = 1_000;
/// The longest code of a call, in bytes.
pub const CODE_BYTES_MAX: usize = 100_000;
/// The most isolates a world may have.
const ISOLATE_COUNT_MAX: u32 = 200;
/// The largest soft cap that can be configured.
const SOFT_CAP_MAX: u32 = 1_000_000;
/// The longest scenario id, account, organisation, operation name or error text, in bytes.
const TEXT_BYTES_MAX: usize = 1_000;

impl Plan {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// The first thing that is wrong: path of the field, what was expected, what to do.
    pub fn validate(&self) -> Result<(), PlanError> {
        if self.version != VERSION {
            return Err(BadInput::new(
                "version",
                format!("expected {VERSION}, found {}", self.version),
                format!("set it to {VERSION}"),
            ));
        }
        text("scenario", &self.scenario)?;
        count("world.isolate_count", self.world.isolate_count, 1, ISOLATE_COUNT_MAX)?;
        positive_span("config.session_timeout_ms", self.config.session_timeout_ms)?;
        positive_span("config.max_paused_session_idle_ms", self.config.max_paused_session_idle_ms)?;
        count("config.resident_runtime_soft_cap", self.config.resident_runtime_soft_cap, 1, SOFT_CAP_MAX)?;
        self.validate_defects()?;
        self.validate_clients()?;
        self.validate_storage()?;
        let sessions = Sessions::of(self);
        self.validate_callers(&sessions)?;
        at_most("faults", self.faults.len(), FAULT_COUNT_MAX)?;
        for (index, fault) in self.faults.iter().enumerate() {
            Self::validate_fault(&sessions, &format!("faults[{index}]"), fault)?;
        }
        span("settle.quiet_ms", self.settle.quiet_ms)?;
        span("settle.quiet_after_ms", self.settle.quiet_after_ms)?;
        for name in self.pins.keys() {
            if crate::decision::DecisionName::parse(name).is_none() {
                return Err(BadInput::new(
                    format!("pins[{:?}]", shortened(name)),
                    "a decision is named <who>/<what>@<step>#<n>",
                    "copy the name from the decisions of a trace",
                ));
            }
        }
        Ok(())
    }

    fn validate_defects(&self) -> Result<(), PlanError> {
        let mut seen = BTreeSet::new();
        for (index, defect) in self.defects.iter().enumerate() {
            let place = format!("defects[{index}]");
            if !is_kebab(defect) {
                return Err(BadInput::new(
                    place,
                    format!("{:?} is not a name in kebab case", shortened(defect)),
                    "write it like idle-alarm-not-rearmed",
                ));
            }
            if !seen.insert(defect) {
                return Err(BadInput::new(place, format!("{defect} stands twice"), "remove one"));
            }
        }
        Ok(())
    }

    fn validate_clients(&self) -> Result<(), PlanError> {
        at_most("clients", self.clients.len(), CLIENT_COUNT_MAX)?;
        let mut names = BTreeSet::new();
        for (index, client) in self.clients.iter().enumerate() {
            let place = format!("clients[{index}]");
            if !is_name(&client.name) {
                return Err(BadInput::new(
                    format!("{place}.name"),
                    format!(
                        "{:?} is not a small letter followed by up to 31 small letters, digits or -",
                        shortened(&client.name)
                    ),
                    "write it like s1",
                ));
            }
            if !names.insert(&client.name) {
                return Err(BadInput::new(
                    format!("{place}.name"),
                    format!("two clients are called {}", client.name),
                    "give each its own name",
                ));
            }
            validate_client(&place, client)?;
        }
        self.validate_others()
    }

    fn validate_others(&self) -> Result<(), PlanError> {
        let names: BTreeSet<&str> = self.clients.iter().map(|client| &*client.name).collect();
        for (index, client) in self.clients.iter().enumerate() {
            for (step, each) in client.steps.iter().enumerate() {
                if let Some(name) = each.action.other()
                    && !names.contains(&**name)
                {
                    return Err(BadInput::new(
                        format!("clients[{index}].steps[{step}].action.of"),
                        format!("no client is called {:?}", shortened(name)),
                        "name one of the clients, or leave the step or the field out",
                    ));
                }
            }
        }
        Ok(())
    }

    fn validate_fault(sessions: &Sessions<'_>, place: &str, fault: &FaultPlan) -> Result<(), PlanError> {
        validate_when(sessions, &format!("{place}.when"), &fault.when)?;
        let needs_operation = match &fault.effect {
            Effect::Fail { text: message, .. } => {
                if let Some(message) = message {
                    text(&format!("{place}.effect.text"), message)?;
                }
                true
            }
            Effect::Delay { ms } => {
                span(&format!("{place}.effect.ms"), *ms)?;
                true
            }
            Effect::Hold { release, for_ms, fail: _ } => {
                match (release, for_ms) {
                    (Some(when), None) => {
                        validate_when(sessions, &format!("{place}.effect.release"), when)?;
                    }
                    (None, Some(ms)) => span(&format!("{place}.effect.for_ms"), *ms)?,
                    _ => {
                        return Err(BadInput::new(
                            format!("{place}.effect"),
                            "a hold has exactly one of release and for_ms",
                            "keep one of the two",
                        ));
                    }
                }
                true
            }
            Effect::Interrupt { .. } | Effect::Reset { .. } | Effect::Evict {} => false,
        };
        let is_timed = matches!(fault.when, When::At { .. });
        if needs_operation && is_timed {
            return Err(BadInput::new(
                format!("{place}.when"),
                "fail, delay and hold act on an operation, and at_ms names none",
                "name the operation, or use interrupt or reset",
            ));
        }
        if matches!(fault.effect, Effect::Evict {}) && !is_timed {
            return Err(BadInput::new(
                format!("{place}.when"),
                "an eviction happens to an idle object, and an operation is none",
                "give `at_ms` and `session`",
            ));
        }
        if !needs_operation && matches!(fault.when, When::At { session: None, .. }) {
            return Err(BadInput::new(
                format!("{place}.when"),
                "an interrupt, a reset or an eviction at a time needs the session it happens to",
                "add `session` beside `at_ms`",
            ));
        }
        Ok(())
    }

    /// Whether a session of this alias is stored before the run or can be opened in it.
    pub fn has_session(&self, alias: &str) -> bool {
        Sessions::of(self).has(alias)
    }
}

fn validate_when(sessions: &Sessions<'_>, place: &str, when: &When) -> Result<(), PlanError> {
    let (When::At { session, .. } | When::Operation { session, .. }) = when;
    if let Some(name) = session.as_ref().filter(|name| !sessions.has(name)) {
        return Err(BadInput::new(
            format!("{place}.session"),
            format!("no client opens a session {:?}", shortened(name)),
            "name a client for its first session, `s1.2` for the second of s1, or leave the field out",
        ));
    }
    match when {
        When::At { at_ms, .. } => span(&format!("{place}.at_ms"), *at_ms),
        When::Operation { operation, root, n, .. } => {
            text(&format!("{place}.operation"), operation)?;
            if let Some(root) = root {
                text(&format!("{place}.root"), root)?;
            }
            count(&format!("{place}.n"), *n, 1, 1_000_000)
        }
    }
}

fn validate_client(place: &str, client: &ClientPlan) -> Result<(), PlanError> {
    text(&format!("{place}.account"), &client.account)?;
    text(&format!("{place}.organization"), &client.organization)?;
    positive_span(&format!("{place}.request_timeout_ms"), client.request_timeout_ms)?;
    if let Some(persona) = client.persona.as_ref().filter(|persona| !is_versioned(persona)) {
        return Err(BadInput::new(
            format!("{place}.persona"),
            format!("{:?} is not a name of small letters, digits, - and .", shortened(persona)),
            "write it like rmcp-3.11.0, or leave the field out",
        ));
    }
    at_most(&format!("{place}.steps"), client.steps.len(), STEP_COUNT_MAX)?;
    for (index, step) in client.steps.iter().enumerate() {
        let place = format!("{place}.steps[{index}]");
        span(&format!("{place}.at_ms"), step.at_ms)?;
        if let Some(code) = step.action.code() {
            validate_code(&format!("{place}.action.code"), code)?;
        }
        if let Action::Stall { ms } = &step.action {
            span(&format!("{place}.action.ms"), *ms)?;
        }
        if let Action::Post { copies, .. } = &step.action {
            count(&format!("{place}.action.copies"), *copies, 1, COPY_COUNT_MAX)?;
        }
        if let Action::Post { cut: Some(cut), .. } | Action::Recover { cut: Some(cut), .. } = &step.action {
            span(&format!("{place}.action.cut.ms"), cut.ms)?;
        }
    }
    Ok(())
}

fn validate_code(place: &str, code: &str) -> Result<(), PlanError> {
    if code.len() > CODE_BYTES_MAX {
        let problem = format!("{} bytes, at most {CODE_BYTES_MAX} are allowed", code.len());
        return Err(BadInput::new(place, problem, "shorten the code"));
    }
    crate::expect::waits(code).try_for_each(|ms| span(place, ms))
}

fn span(place: &str, ms: u64) -> Result<(), PlanError> {
    if ms > SPAN_MS_MAX {
        return Err(BadInput::new(
            place,
            format!("{ms} ms, at most {SPAN_MS_MAX} (seven days) are allowed"),
            "make it smaller",
        ));
    }
    Ok(())
}

fn positive_span(place: &str, ms: u64) -> Result<(), PlanError> {
    if ms == 0 {
        return Err(BadInput::new(place, "0 ms, at least 1 is needed", "make it larger"));
    }
    span(place, ms)
}

fn count(place: &str, found: u32, least: u32, most: u32) -> Result<(), PlanError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(BadInput::new(place, format!("{found}, expected {least} to {most}"), "choose a number in that range"))
}

fn at_most(place: &str, found: usize, most: usize) -> Result<(), PlanError> {
    if found <= most {
        return Ok(());
    }
    Err(BadInput::new(place, format!("{found} of them, at most {most} are allowed"), "take some out"))
}

fn text(place: &str, value: &str) -> Result<(), PlanError> {
    if value.is_empty() || value.len() > TEXT_BYTES_MAX {
        return Err(BadInput::new(
            place,
            format!("{} bytes of text, expected 1 to {TEXT_BYTES_MAX}", value.len()),
            "write a short text",
        ));
    }
    if value.chars().any(char::is_control) {
        return Err(BadInput::new(place, "control characters in the text", "write it without them"));
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.len() <= 32 && is_lower(name) && name.bytes().all(|byte| byte != b'_')
}

fn is_kebab(name: &str) -> bool {
    name.len() <= 64 && is_lower(name) && !name.ends_with('-') && !name.contains("--")
}

fn is_versioned(name: &str) -> bool {
    is_kebab(&name.replace('.', "0")) && !name.starts_with('.')
}

fn is_lower(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The beginning of a text from outside, so that a sentence stays a sentence.
fn shortened(name: &str) -> String {
    name.chars().take(40).collect()
}
