//! How the sessions of a program are before it.

use model::stand::{SessionSetup, Setup, StartStatus, StoredSetup};
use scenarios::bad_input::BadInput;

use super::fields::Fields;

/// Reads the configuration of a program.
///
/// # Errors
/// A field that is missing, unknown or of another kind, a count that is not that of the sessions, an id given twice.
pub fn read(fields: &Fields<'_>) -> Result<Setup, BadInput> {
    fields.only(&["n", "cap", "timeout", "maxPaused", "hasDir", "theme", "prod", "sessions"])?;
    fields.text("theme")?;
    is_production(fields)?;
    let cap = fields.whole("cap")?;
    let cap = u32::try_from(cap).map_err(|_| {
        fields.wrong("cap", &format!("is {cap}, more than there can be sessions"), "choose a smaller one")
    })?;
    let mut sessions: Vec<SessionSetup> = Vec::new();
    for told in fields.objects("sessions")? {
        let session = session(&told)?;
        if let Some(first) = sessions.iter().position(|other| other.id == session.id) {
            let problem = format!("is that of session {first} too");
            return Err(told.wrong("id", &problem, "give each session an id of its own"));
        }
        sessions.push(session);
    }
    if sessions.is_empty() {
        return Err(fields.wrong("sessions", "is empty", "a program has at least one session"));
    }
    let count = fields.whole("n")?;
    if usize::try_from(count) != Ok(sessions.len()) {
        let problem = format!("is {count}, and `sessions` has {}", sessions.len());
        return Err(fields.wrong("n", &problem, "correct the number"));
    }
    Ok(Setup {
        cap,
        timeout: fields.whole("timeout")?,
        max_paused: fields.whole("maxPaused")?,
        has_dir: fields.flag("hasDir")?,
        sessions,
    })
}

/// Whether runtimes start through `onStart` only, as in production.
///
/// # Errors
/// When the flag is none.
pub fn is_production(fields: &Fields<'_>) -> Result<bool, BadInput> {
    fields.flag("prod")
}

fn session(fields: &Fields<'_>) -> Result<SessionSetup, BadInput> {
    let known = ["id", "named", "supportsCap", "propsInMemory", "start", "props", "storage", "data"];
    fields.only(&known)?;
    let storage = fields.object("storage")?;
    storage.only(&["alarm", "data"])?;
    let data = storage.object("data")?;
    if fields.has("data") {
        // The one who recorded wrote some stored rows beside the storage too.
        let stands = fields.object("data")?.all().iter().all(|(key, value)| data.all().get(key) == Some(value));
        if !stands {
            let problem = "has what `storage.data` has not";
            return Err(fields.wrong("data", problem, "remove it, since what is stored stands in `storage`"));
        }
    }
    let start = match fields.word("start", &["zero", "started"])? {
        "zero" => StartStatus::Zero,
        _ => StartStatus::Started,
    };
    Ok(SessionSetup {
        id: fields.text("id")?.to_owned(),
        named: fields.flag("named")?,
        supports_cap: fields.flag("supportsCap")?,
        props_in_memory: fields.flag("propsInMemory")?,
        start,
        props: fields.any("props")?.clone(),
        storage: StoredSetup {
            alarm: storage.number_or_null("alarm")?,
            data: data.all().iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        },
    })
}
