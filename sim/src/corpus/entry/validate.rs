//! What the types of an entry cannot say: limits, and fields that go together.

use super::{Entry, Keeps, Provenance, Shown, broken};
use crate::exit_code::ExitCode;
use scenarios::bad_input::BadInput;
use scenarios::seed::Seed;

/// The longest reason, in bytes.
const TEXT_BYTES_MAX: usize = 1_000;
/// The most other signatures that are expected of a run.
const ALSO_COUNT_MAX: usize = 100;

impl Entry {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), BadInput> {
        self.plan.validate().map_err(|refusal| BadInput { place: format!("plan.{}", refusal.place), ..refusal })?;
        if self.plan.entropy.is_some() {
            return Err(BadInput::new(
                "plan.entropy",
                "a plan that is kept draws nothing",
                "add the plan with `sim corpus add`, which pins what it draws",
            ));
        }
        self.validate_keeps()?;
        self.validate_provenance()?;
        shown("expected.as_it_is", &self.expected.as_it_is)?;
        match (&self.expected.broken, self.keeps.has_broken_run()) {
            (Some(broken), true) if broken.signature.is_some() => shown("expected.broken", broken)?,
            (None, false) => {}
            _ => {
                return Err(BadInput::new(
                    "expected.broken",
                    "it tells what a run with the defects or the core of `keeps` shows, and is there with them only",
                    "write both or neither",
                ));
            }
        }
        self.validate_point()
    }

    fn validate_keeps(&self) -> Result<(), BadInput> {
        let Keeps { core, finding, why, .. } = &self.keeps;
        for (place, value) in [("keeps.finding", finding), ("keeps.why", why), ("retired", &self.retired)] {
            value.as_ref().map_or(Ok(()), |value| text(place, value))?;
        }
        if !self.keeps.has_broken_run() && finding.is_none() && why.is_none() {
            return Err(BadInput::new(
                "keeps",
                "nothing says what the entry is kept for",
                "give defects, finding or why",
            ));
        }
        if core.is_some_and(|core| core == self.plan.core) {
            return Err(BadInput::new("keeps.core", "it is the core of the plan itself", "remove it"));
        }
        // The plan itself is valid: only its defects can be wrong now.
        let switched_on = broken(&self.plan, &self.keeps);
        switched_on.validate().map_err(|refusal| BadInput { place: "keeps.defects".to_owned(), ..refusal })
    }

    fn validate_provenance(&self) -> Result<(), BadInput> {
        let Provenance { scenario, seed, build, plan } = &self.provenance;
        // Shrinking takes the seed out of a plan, and where it came from is still known.
        let is_its_own = *seed == self.plan.seed || self.plan.seed == Seed(0);
        if *scenario != self.plan.scenario || !is_its_own {
            return Err(BadInput::new(
                "provenance",
                "scenario and seed are not those of the plan",
                "write the plan's own",
            ));
        }
        hexadecimal("provenance.build", build, 16)?;
        hexadecimal("provenance.plan", plan, 8)
    }

    fn validate_point(&self) -> Result<(), BadInput> {
        let (told, faults) = (self.point.deliveries.len(), self.plan.faults.len());
        if told != faults {
            return Err(BadInput::new(
                "point.deliveries",
                format!("{told} of them, but the plan has {faults} faults"),
                "give each fault its number",
            ));
        }
        hexadecimal("point.telemetry_digest", &self.point.telemetry_digest, 16)
    }
}

fn shown(place: &str, shown: &Shown) -> Result<(), BadInput> {
    let code = shown.code();
    if shown.outcome != code.word() {
        return Err(BadInput::new(
            format!("{place}.outcome"),
            format!("its signatures are of the outcome `{}`", code.word()),
            "write that outcome, or correct the signatures",
        ));
    }
    let voids = [ExitCode::Harness, ExitCode::Nondeterminism];
    if shown.signatures().any(|signature| voids.contains(&signature.outcome)) {
        return Err(BadInput::new(
            place,
            "a run that proves nothing is expected",
            "add a plan whose runs can be judged",
        ));
    }
    if shown.signature.is_none() && !shown.also.is_empty() || shown.also.len() > ALSO_COUNT_MAX {
        return Err(BadInput::new(
            format!("{place}.also"),
            format!("expected at most {ALSO_COUNT_MAX} signatures beside `signature`"),
            "take some out, or name the first one in `signature`",
        ));
    }
    Ok(())
}

fn text(place: &str, value: &str) -> Result<(), BadInput> {
    if value.trim().is_empty() || value.len() > TEXT_BYTES_MAX || value.chars().any(char::is_control) {
        return Err(BadInput::new(
            place,
            format!("expected 1 to {TEXT_BYTES_MAX} bytes of text on one line"),
            "write a short text",
        ));
    }
    Ok(())
}

fn hexadecimal(place: &str, value: &str, digits: usize) -> Result<(), BadInput> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if value.len() == digits && value.bytes().all(is_digit) {
        return Ok(());
    }
    Err(BadInput::new(place, format!("expected {digits} hexadecimal digits in small letters"), "copy them again"))
}
