//! The operations of programs: which fields each has, and what is done for it.

use model::stand::{Act, Failure};
use scenarios::bad_input::BadInput;
use serde_json::Value;

use super::fields::Fields;
use super::program::{Doing, Step};
use crate::text::near_names;

/// What a field of an operation is.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Word(&'static [&'static str]),
    /// The number of an earlier step with this operation.
    Since(&'static str),
}
use Kind::{Flag, Since, Text, Word};

const WHO: (&str, Kind) = ("who", Word(&["owner", "user", "org"]));
const ACTION: (&str, Kind) = ("action", Word(&["accept", "decline", "cancel"]));
const EXECUTION: (&str, Kind) = ("e", Text);

/// What is done to a session: name, and fields beside `s`, which is not there where an earlier step says the session.
const ACTS: &[(&str, &[(&str, Kind)])] = &[
    ("init", &[]),
    ("onStart", &[("props", Flag)]),
    ("alarm", &[]),
    ("validate", &[WHO]),
    ("evict", &[]),
    ("pause", &[EXECUTION]),
    ("toolResume", &[EXECUTION, ACTION]),
    ("modelResume", &[EXECUTION, ACTION, WHO]),
    ("getPaused", &[EXECUTION, WHO]),
    ("approve", &[EXECUTION, ACTION, WHO]),
    ("wait", &[EXECUTION]),
    ("take", &[EXECUTION]),
    ("abortWait", &[("i", Since("wait"))]),
    ("apps", &[("v", Flag)]),
    ("touch", &[]),
    ("ka+", &[]),
    ("ka-", &[("i", Since("ka+"))]),
    ("conn+", &[]),
    ("conn-", &[]),
    ("req+", &[("k", Text)]),
    ("req-", &[("k", Text)]),
    ("condemn", &[]),
    ("dropName", &[]),
    ("restoreName", &[]),
    ("abortInit", &[]),
    ("abortDispose", &[]),
];

/// What is done to gates and clock.
const OTHERS: [&str; 4] = ["release", "fail", "drain", "advance"];

const FAILURES: &[&str] = &["code_update", "storage_timeout", "unknown"];

/// What a step does, after those before it.
///
/// # Errors
/// An operation that there is not, fields that are not its own, or a session, gate or step that there is not.
pub fn doing(fields: &Fields<'_>, before: &[Step], sessions: usize) -> Result<Doing, BadInput> {
    let name = fields.text("op")?;
    match name {
        "drain" => fields.only(&["op"]).map(|()| Doing::Drain),
        "advance" => {
            fields.only(&["op", "d"])?;
            Ok(Doing::Advance { ms: fields.whole("d")? })
        }
        "release" => {
            fields.only(&["op", "g", "then"])?;
            let pauses = fields.has("then");
            if pauses {
                fields.word("then", &["pause"])?;
            }
            Ok(Doing::Release { gate: gate(fields, before)?, pauses })
        }
        "fail" => {
            fields.only(&["op", "g", "kind"])?;
            let failure = match fields.word("kind", FAILURES)? {
                "code_update" => Failure::CodeUpdate,
                "storage_timeout" => Failure::StorageTimeout,
                _ => Failure::Unknown,
            };
            Ok(Doing::Fail { gate: gate(fields, before)?, failure })
        }
        _ => act(name, fields, before, sessions),
    }
}

fn act(name: &str, fields: &Fields<'_>, before: &[Step], sessions: usize) -> Result<Doing, BadInput> {
    let Some((_, own)) = ACTS.iter().find(|(act, _)| *act == name) else {
        let names = ACTS.iter().map(|(act, _)| *act).chain(OTHERS);
        let near = near_names(name, names.clone());
        let expected = near.unwrap_or_else(|| names.collect::<Vec<_>>().join(", "));
        let problem = format!("is {}, which is no operation", super::fields::shown(&name.into()));
        return Err(fields.wrong("op", &problem, &format!("write one that there is: {expected}")));
    };
    let since = own.iter().find_map(|(field, kind)| if let Since(begun) = kind { Some((field, begun)) } else { None });
    let known: Vec<&str> =
        ["op"].into_iter().chain(since.is_none().then_some("s")).chain(own.iter().map(|it| it.0)).collect();
    fields.only(&known)?;
    for (field, kind) in *own {
        match kind {
            Text => drop(fields.text(field)?),
            Flag => drop(fields.flag(field)?),
            Word(words) => drop(fields.word(field, words)?),
            Since(_) => drop(fields.whole(field)?),
        }
    }
    let session = match since {
        Some((field, begun)) => session_of(fields, field, begun, before)?,
        None => usize::try_from(fields.whole("s")?).unwrap_or(usize::MAX),
    };
    if session >= sessions {
        let problem = format!("is session {session}, and there are {sessions}, counted from 0");
        return Err(fields.wrong("s", &problem, "name one that `cfg.sessions` has"));
    }
    let act: Act = serde_json::from_value(Value::Object(fields.all().clone()))
        .map_err(|_| fields.wrong("op", "cannot be carried out", "take the recording again"))?;
    Ok(Doing::Act { session, act })
}

/// The session of the earlier step that began what this one ends.
fn session_of(fields: &Fields<'_>, field: &str, begun: &str, before: &[Step]) -> Result<usize, BadInput> {
    let number = fields.whole(field)?;
    let step = usize::try_from(number).ok().and_then(|number| before.get(number));
    match step.map(|step| (step.operation.as_str(), &step.doing)) {
        Some((operation, Doing::Act { session, .. })) if operation == begun => Ok(*session),
        found => {
            let found = found.map_or("no step before this one".to_owned(), |(name, _)| format!("an `{name}`"));
            let problem = format!("is {number}, which is {found}, expected the number of an earlier `{begun}`");
            Err(fields.wrong(field, &problem, "name the step that began it"))
        }
    }
}

/// The gate that a step names: one that was open after the step before.
fn gate(fields: &Fields<'_>, before: &[Step]) -> Result<u64, BadInput> {
    let gate = fields.whole("g")?;
    let open = before.last().map_or(&[][..], |step| &step.open);
    if open.contains(&gate) {
        return Ok(gate);
    }
    let problem = format!("is {gate}, and no such gate is open after the step before");
    Err(fields.wrong("g", &problem, "name one of its `open`"))
}
