//! Entries from bytes: size, encoding, versions, shape, then validation; each refusal is one sentence.

use super::{Entry, VERSION};
use scenarios::bad_input::{BadInput, PLAN_BYTES_MAX, text_of};
use scenarios::document::{typed, typed_value};
use scenarios::plan::{self, Plan};
use serde::Deserialize;
use serde_json::Value as Json;

impl Entry {
    /// Reads an entry and validates it, its plan included.
    ///
    /// # Errors
    /// Anything that is not a valid entry, with place, problem and remedy.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadInput> {
        if bytes.len() > PLAN_BYTES_MAX {
            return Err(BadInput::new(
                format!("{} bytes", bytes.len()),
                format!("an entry has at most {PLAN_BYTES_MAX} bytes (16 MiB)"),
                "check that it is an entry",
            ));
        }
        let text = text_of(bytes, "entry")?;
        let head = Head::of(text)?;
        head.check()?;
        let is_current = head.plan.as_ref().and_then(|plan| plan.get("version")) == Some(&Json::from(plan::VERSION));
        let entry: Self = if is_current {
            // Straight from the text, so that errors keep line and column.
            typed(text, "entry")?
        } else {
            with_upgraded_plan(text, head.plan)?
        };
        entry.validate()?;
        Ok(entry)
    }

    /// Whether a file that may be a plan is an entry.
    pub fn is_one(bytes: &[u8]) -> bool {
        let head = std::str::from_utf8(bytes).ok().and_then(|text| serde_json::from_str::<Head>(text).ok());
        head.is_some_and(|head| head.entry.is_some())
    }
}

/// What is read before the whole: the versions.
#[derive(Deserialize)]
struct Head {
    entry: Option<Json>,
    plan: Option<Json>,
}

impl Head {
    fn of(text: &str) -> Result<Self, BadInput> {
        if !text.trim_start().starts_with('{') {
            return Err(BadInput::new(
                "line 1 column 1",
                "an entry is a JSON object and begins with {",
                "check that it is an entry",
            ));
        }
        typed(text, "entry")
    }

    fn check(&self) -> Result<(), BadInput> {
        match self.entry.as_ref().map(Json::as_u64) {
            Some(Some(version)) if version == u64::from(VERSION) => Ok(()),
            Some(Some(newer)) if newer > u64::from(VERSION) => Err(BadInput::new(
                "entry",
                format!("entry is version {newer}, this build reads {VERSION}"),
                "use the sim that wrote it",
            )),
            Some(_) => Err(BadInput::new("entry", format!("expected the version, {VERSION}"), "correct the number")),
            None => Err(BadInput::new(
                "entry",
                "the version is missing, so this is no entry of a corpus",
                "add a plan with `sim corpus add FILE --name SLUG`",
            )),
        }
    }
}

/// An entry whose plan is of another version: the plan's own reader brings it to this one, or says why not.
fn with_upgraded_plan(text: &str, plan: Option<Json>) -> Result<Entry, BadInput> {
    let Some(plan) = plan else {
        return Err(BadInput::new("plan", "an entry holds a plan, and this has none", "check that it is an entry"));
    };
    let plan = Plan::parse(plan.to_string().as_bytes())
        .map_err(|refusal| BadInput { place: format!("plan: {}", refusal.place), ..refusal })?;
    let mut raw: Json = typed(text, "entry")?;
    raw["plan"] = serde_json::to_value(plan).expect("a plan is plain data");
    typed_value(raw, "entry")
}
