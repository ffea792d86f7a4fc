//! The recorder: turns what the model says through `tracing`, and what the driver reports, into the events of a trace.
//!
//! One layer is installed once a process; what it hears goes to a buffer of the thread that speaks, since a run is one
//! thread. It never draws, waits or hands out ids, so that observing a run does not change it, and a kept trace has
//! the same digests as one that was only digested.

mod fields;

use crate::error::Error;
use crate::world;
use scenarios::plan::session_alias;
use scenarios::trace::{Event, Name, Stream, TraceDigest, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tracing::{Metadata, Subscriber, subscriber::Interest};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use xxhash_rust::xxh3::xxh3_64;

/// What becomes of the events of a run once they are digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// They are kept, to be judged, told and written.
    Trace,
    /// They are dropped: enough to compare runs.
    DigestOnly,
}

/// What was recorded between [`begin`] and [`finish`].
#[derive(Debug, Default)]
pub struct Recording {
    /// All events in order; none when they were only digested.
    pub events: Vec<Event>,
    /// How many events there were, kept or not.
    pub event_count: u64,
    /// Digest of the telemetry stream.
    pub telemetry_digest: u64,
    /// Digest of all events.
    pub run_digest: u64,
}

struct Buffer {
    keep: Keep,
    is_muted: bool,
    event_limit: u32,
    event_count: u32,
    events: Vec<Event>,
    digest: TraceDigest,
    /// What speaks, as the trace names it: session ids by their alias, everything else as it is.
    aliases: BTreeMap<String, Alias>,
    /// The one that spoke last speaks again more often than not.
    last_alias: Option<(String, Alias)>,
    /// The other way round: the session id behind each alias.
    sessions: BTreeMap<Arc<str>, String>,
    /// Sessions that were minted for each client.
    minted: BTreeMap<Arc<str>, u64>,
}

/// How the trace names someone.
#[derive(Clone)]
struct Alias {
    name: Arc<str>,
    /// Hash of the name.
    hash: u64,
}

impl From<Arc<str>> for Alias {
    fn from(name: Arc<str>) -> Self {
        Alias { hash: xxh3_64(name.as_bytes()), name }
    }
}

thread_local! {
    static BUFFER: RefCell<Option<Buffer>> = const { RefCell::new(None) };
}

/// Makes the recorder the collector of this process; later calls do nothing.
///
/// # Errors
/// A harness error when the process already has another collector.
pub fn install() -> Result<(), Error> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        let collector = tracing_subscriber::registry().with(Recorder);
        tracing::subscriber::set_global_default(collector).map_err(|error| error.to_string())
    });
    installed.clone().map_err(|reason| Error::harness(format!("the recorder cannot be installed: {reason}")))
}

/// Begins to record what this thread says; more than `event_limit` events end the run with a panic.
pub fn begin(keep: Keep, event_limit: u32) {
    BUFFER.set(Some(Buffer {
        keep,
        is_muted: false,
        event_limit,
        event_count: 0,
        events: Vec::new(),
        digest: TraceDigest::new(),
        aliases: BTreeMap::new(),
        last_alias: None,
        sessions: BTreeMap::new(),
        minted: BTreeMap::new(),
    }));
}

/// Ignores what this thread says from now on: the world is being buried, and that is not part of the run.
pub fn mute() {
    BUFFER.with(|buffer| {
        // A panic may come out of the recorder itself, while it holds the buffer; nothing more can be recorded then.
        if let Ok(mut buffer) = buffer.try_borrow_mut()
            && let Some(buffer) = buffer.as_mut()
        {
            buffer.is_muted = true;
        }
    });
}

/// Ends the recording of this thread and gives it back; an empty one when none was begun.
pub fn finish() -> Recording {
    BUFFER.take().map_or_else(Recording::default, |buffer| Recording {
        event_count: u64::from(buffer.event_count),
        telemetry_digest: buffer.digest.telemetry(),
        run_digest: buffer.digest.run(),
        events: buffer.events,
    })
}

/// How the trace of this thread's run names `who`: a session id by its alias, anything else as it is.
pub fn alias_of(who: &str) -> Arc<str> {
    BUFFER.with_borrow_mut(|buffer| match buffer {
        Some(buffer) => Arc::clone(&buffer.alias(who).name),
        None => who.into(),
    })
}

/// Hash of the name that the trace of this thread's run has for `who`: for digests, which need no name.
pub fn alias_hash_of(who: &str) -> u64 {
    BUFFER.with_borrow_mut(|buffer| match buffer {
        Some(buffer) => buffer.alias(who).hash,
        None => xxh3_64(who.as_bytes()),
    })
}

/// Shows what speaks as `label` under this alias; other than a session that a client opens it is known beforehand.
pub fn name(label: &str, alias: &str) {
    BUFFER.with_borrow_mut(|buffer| {
        if let Some(buffer) = buffer {
            buffer.aliases.insert(label.to_owned(), Arc::<str>::from(alias).into());
        }
    });
}

/// The session id that an alias stands for, once it was minted.
pub fn session_of(alias: &str) -> Option<String> {
    BUFFER.with_borrow(|buffer| buffer.as_ref().and_then(|buffer| buffer.sessions.get(alias).cloned()))
}

/// Records one event of the harness itself: history, faults, phases. Times in `fields` are already relative to the run.
pub fn record(stream: Stream, name: impl Into<Name>, who: Option<&str>, fields: Vec<(Name, Value)>) {
    push(stream, name.into(), who.map(alias_of), fields);
}

/// `who` as the trace names it.
fn push(stream: Stream, name: Name, who: Option<Arc<str>>, fields: Vec<(Name, Value)>) {
    let exceeded = BUFFER.with_borrow_mut(|buffer| {
        let buffer = buffer.as_mut().filter(|buffer| !buffer.is_muted)?;
        if buffer.event_count == buffer.event_limit {
            return Some(buffer.event_limit);
        }
        buffer.push(stream, name, who, fields);
        None
    });
    if let Some(limit) = exceeded {
        panic!("a run recorded more than its {limit} events");
    }
}

impl Buffer {
    fn push(&mut self, stream: Stream, name: Name, who: Option<Arc<str>>, mut fields: Vec<(Name, Value)>) {
        if stream == Stream::Platform && name == "session.minted" {
            let alias = self.learn_alias(who.clone(), &fields);
            fields.extend(alias.map(|alias| ("alias".into(), Value::Text(alias))));
        }
        let event = Event { at_ms: world::run_ms(), ordinal: self.event_count, stream, name, who, fields };
        self.event_count += 1;
        self.digest.push(&event);
        if self.keep == Keep::Trace {
            self.events.push(event);
        }
    }

    /// `session.minted {who: client, session: id}`: from now on that id is shown under an alias of its own, which for
    /// the client's first session is the client's name.
    fn learn_alias(&mut self, client: Option<Arc<str>>, fields: &[(Name, Value)]) -> Option<Arc<str>> {
        let session = fields.iter().find(|(name, _)| name == "session").and_then(|(_, value)| value.as_text())?;
        let client = client?;
        let number = self.minted.entry(client.clone()).or_default();
        *number += 1;
        let alias: Arc<str> = if *number == 1 { client } else { session_alias(&client, *number).into() };
        self.sessions.insert(alias.clone(), session.to_owned());
        self.aliases.insert(session.to_owned(), alias.clone().into());
        self.last_alias = None;
        Some(alias)
    }

    fn alias(&mut self, who: &str) -> &Alias {
        let is_last = self.last_alias.as_ref().is_some_and(|(last, _)| last == who);
        if !is_last {
            let alias = self.aliases.get(who).cloned().unwrap_or_else(|| {
                let label = Alias::from(Arc::from(who));
                self.aliases.insert(who.to_owned(), label.clone());
                label
            });
            // The text of the one before makes room for this one's.
            let mut last = self.last_alias.take().map_or_else(String::new, |(last, _)| last);
            who.clone_into(&mut last);
            self.last_alias = Some((last, alias));
        }
        let (_, alias) = self.last_alias.as_ref().expect("it was put there if it was not there");
        alias
    }
}

struct Recorder;

/// The stream that events of a `tracing` target belong to; other targets are never enabled, so they cost nothing.
fn stream_of(target: &str) -> Option<Stream> {
    match target {
        "telemetry" => Some(Stream::Telemetry),
        "platform" => Some(Stream::Platform),
        "state" => Some(Stream::State),
        "harness" => Some(Stream::Phase),
        _ => None,
    }
}

impl<S: Subscriber> Layer<S> for Recorder {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.is_event() && stream_of(metadata.target()).is_some() {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        stream_of(metadata.target()).is_some()
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let Some(stream) = stream_of(event.metadata().target()) else {
            return;
        };
        if BUFFER.with_borrow(|buffer| buffer.as_ref().is_none_or(|buffer| buffer.is_muted)) {
            return;
        }
        // The fields are read before the buffer is borrowed: what they print may itself speak.
        let mut read = fields::Reader::with_room_for(event.metadata().fields().len());
        event.record(&mut read);
        let name = read.event.unwrap_or(Name::Borrowed(event.metadata().name()));
        push(stream, name, read.who, read.fields);
    }
}

#[cfg(test)]
mod tests;
