//! The event store of a session's SSE streams: what was sent on a stream, numbered, so that it can be sent again.
//!
//! Rows are `__mcp_event__:<stream>:<sequence>` with 16 lower-case hex digits from 1; the id on the wire is what
//! follows the prefix. A store belongs to one transport; its sequences are read back from the rows at first use.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::config::{
    DELETE_CHUNK, HostConfig, MAX_BYTES_PER_STREAM, MAX_EVENTS_PER_STREAM, MAX_STORABLE_EVENT_BYTES, REPLAY_LIMIT,
};
use crate::defect::defect;
use crate::js::{Promise, call, js};
use crate::mcp;
use crate::operation::Operation;
use crate::platform::{JsError, ListAnswer, ListRange, ObjectContext, Storage, StorageCall, micro};
use crate::telemetry::log_event;

// Hops are those of the whole row: the trips of the functions around a call that makes up a row of its own are added
// by the functions themselves, so such a call waits for its promise only.
crate::operations! {
    EVENT_LAST_SEQ = "event · storage.list last-seq", Storage, 5; "storage; shared by concurrent first writers; a known sequence costs one trip"
    EVENT_PUT = "event · storage.put", Storage, 3; "storage; the sequence has advanced already"
    EVENT_TRIM_LIST = "event · storage.list trim", Storage, 5; "storage"
    EVENT_TRIM_DELETE = "event · storage.delete trim", Storage, 3; "storage; 128 keys a call"
    GET_STREAM_OF = "get · event.stream-of", Micro, 1; "a settled value, before the resume and before its list"
    GET_LIST_AFTER = "get · storage.list events after", Storage, 3; "storage; then one trip a frame"
    GET_LIST_ALL = "get · storage.list events all", Storage, 4; "storage; then one trip a frame"
    GET_FRAME = "get · frame", Micro, 1; "a settled value, after each replayed frame"
    ACK_LIST_EVENTS = "ack · storage.list events", Storage, 3; "storage; again after each delete until none is left"
    ACK_DELETE_EVENTS = "ack · storage.delete events", Storage, 3; "storage; 128 keys a call"
}

/// Storage key prefix of events.
pub const EVENT_PREFIX: &str = "__mcp_event__:";
/// Digits of a sequence number.
const SEQUENCE_DIGITS: usize = 16;

/// Id of a stored event: stream, colon, sequence.
pub type EventId = String;

/// The stream that an event id names by its shape: what stands before the last colon.
pub fn stream_of(event_id: &str) -> Option<&str> {
    event_id.rsplit_once(':').map(|(stream, _)| stream).filter(|stream| !stream.is_empty())
}

type Loading = Promise<Result<(), JsError>>;

/// The store.
pub struct EventStore {
    ctx: ObjectContext,
    config: Rc<HostConfig>,
    /// The last number of each stream that was written to or read.
    sequences: Rc<RefCell<BTreeMap<Arc<str>, u64>>>,
    loading: RefCell<BTreeMap<Arc<str>, Loading>>,
    /// Bytes of events by their keys. The original writes every event of a stream as text again for each one that is
    /// stored; an event never changes, so it is measured once.
    lengths: RefCell<BTreeMap<Arc<str>, usize>>,
}

impl EventStore {
    /// A store over the object's storage that knows no sequence yet.
    pub fn new(ctx: ObjectContext, config: Rc<HostConfig>) -> Self {
        EventStore { ctx, config, sequences: Rc::default(), loading: RefCell::default(), lengths: RefCell::default() }
    }

    /// Stores a message and trims its stream. None, and nothing stored, for one that is too large to be a value.
    ///
    /// # Errors
    /// A colon in the stream id, or a storage failure. The event may be stored although trimming failed.
    pub async fn store(&self, stream: &str, message: Arc<Value>) -> Result<Option<EventId>, JsError> {
        if stream.contains(':') {
            let shown = Value::from(stream);
            return Err(JsError::new(format!("DurableObjectEventStore: streamId must not contain ':' (got {shown})")));
        }
        let message_bytes = mcp::text_length(&message);
        if message_bytes > MAX_STORABLE_EVENT_BYTES {
            log_event!(
                warn,
                "mcp_event_store_skipped_oversize",
                self.ctx.label(),
                streamId = stream,
                messageBytes = message_bytes,
                limit = MAX_STORABLE_EVENT_BYTES,
            );
            return Ok(None);
        }
        js(self.ensure_sequence(stream)).await?;
        let id = self.next_id(stream);
        let rpc = mcp::is_response(&message).then(|| message["id"].as_str().map(str::to_owned)).flatten();
        let key: Arc<str> = format!("{EVENT_PREFIX}{id}").into();
        self.lengths.borrow_mut().insert(Arc::clone(&key), message_bytes);
        self.storage().put(&EVENT_PUT, key, message).await?;
        state_event!("event.stored", self.ctx.label(), id = &*id, rpc = rpc.as_deref());
        js(self.trim(stream)).await?;
        Ok(Some(id))
    }

    /// Gives every event of the cursor's stream strictly after it to `send`, in order.
    ///
    /// # Errors
    /// A storage failure before the first of them.
    pub async fn replay_after(&self, cursor: &str, send: impl FnMut(&str, &Value)) -> Result<(), JsError> {
        micro(&GET_STREAM_OF).await?;
        let Some(stream) = stream_of(cursor) else { return Ok(()) };
        let after: Arc<str> = format!("{EVENT_PREFIX}{cursor}").into();
        let range = ListRange { start_after: Some(after), ..events_of(stream) };
        let rows = self.list(&GET_LIST_AFTER, range.limit(REPLAY_LIMIT)).await?;
        replay(&rows, send).await;
        Ok(())
    }

    /// Gives every event of a stream to `send`, in order.
    ///
    /// # Errors
    /// A storage failure before the first of them.
    pub async fn replay_all(&self, stream: &str, send: impl FnMut(&str, &Value)) -> Result<(), JsError> {
        let rows = self.list(&GET_LIST_ALL, events_of(stream).limit(REPLAY_LIMIT)).await?;
        replay(&rows, send).await;
        Ok(())
    }

    /// Deletes all events of a stream; its numbers start again at 1.
    ///
    /// # Errors
    /// A storage failure; some may be left.
    pub async fn clear(&self, stream: &str) -> Result<(), JsError> {
        loop {
            let rows = self.list(&ACK_LIST_EVENTS, events_of(stream).limit(DELETE_CHUNK)).await?;
            if rows.is_empty() {
                break;
            }
            let keys = rows.iter().map(|(key, _)| Arc::clone(key)).collect();
            self.delete(&ACK_DELETE_EVENTS, keys).await?;
        }
        self.sequences.borrow_mut().remove(stream);
        self.loading.borrow_mut().remove(stream);
        Ok(())
    }

    fn storage(&self) -> Storage {
        self.ctx.storage()
    }

    async fn list(&self, operation: &'static Operation, range: ListRange) -> Result<Rc<ListAnswer>, JsError> {
        self.storage().list(operation, range).promise().wait().await
    }

    /// Reads the last number of a stream once; concurrent first writers wait for the same read.
    async fn ensure_sequence(&self, stream: &str) -> Result<(), JsError> {
        if self.sequences.borrow().contains_key(stream) {
            return Ok(());
        }
        let pending = self.loading.borrow().get(stream).cloned();
        let pending = pending.unwrap_or_else(|| {
            let (stream, storage) = (Arc::<str>::from(stream), self.storage());
            let reading = call(read_sequence(storage, Arc::clone(&stream), Rc::clone(&self.sequences)));
            self.loading.borrow_mut().insert(stream, reading.clone());
            reading
        });
        let loaded = pending.wait().await;
        self.loading.borrow_mut().remove(stream);
        loaded
    }

    fn next_id(&self, stream: &str) -> EventId {
        let mut sequences = self.sequences.borrow_mut();
        let sequence = sequences.entry(stream.into()).or_insert(0);
        *sequence += 1;
        // Fact: 197. Events are rows numbered in 16 hex digits from 1; listeners share one stream. [RA:MC3]
        format!("{stream}:{sequence:0SEQUENCE_DIGITS$x}")
    }

    /// Bytes of events, in their order.
    fn lengths_of(&self, rows: &ListAnswer) -> Vec<usize> {
        let mut lengths = self.lengths.borrow_mut();
        let length = |(key, message): &(Arc<str>, Arc<Value>)| {
            *lengths.entry(Arc::clone(key)).or_insert_with(|| mcp::text_length(message))
        };
        rows.iter().map(length).collect()
    }

    fn delete(&self, operation: &'static Operation, keys: Vec<Arc<str>>) -> StorageCall<usize> {
        for key in &keys {
            self.lengths.borrow_mut().remove(key);
        }
        self.storage().delete_many(operation, keys)
    }

    /// Drops the oldest events over the limits, never the newest: for a final answer it is the only copy.
    async fn trim(&self, stream: &str) -> Result<(), JsError> {
        let rows = self.list(&EVENT_TRIM_LIST, events_of(stream).limit(REPLAY_LIMIT)).await?;
        let sizes = self.lengths_of(&rows);
        let (mut kept_count, mut kept_bytes) = (sizes.len(), sizes.iter().sum::<usize>());
        let mut evicted: Vec<Arc<str>> = Vec::new();
        let mut oldest_first: Vec<_> = rows.iter().zip(sizes).collect();
        if defect!(self.config, NewestTrimmed) {
            oldest_first.reverse();
        }
        for ((key, _), bytes) in oldest_first {
            let within = kept_count <= MAX_EVENTS_PER_STREAM && kept_bytes <= MAX_BYTES_PER_STREAM;
            if kept_count <= 1 || within {
                break;
            }
            evicted.push(Arc::clone(key));
            kept_count -= 1;
            kept_bytes -= bytes;
        }
        let Some(last) = evicted.last() else { return Ok(()) };
        let last = &last[EVENT_PREFIX.len()..];
        state_event!("events.trimmed", self.ctx.label(), last = last, count = evicted.len());
        log_event!(
            warn,
            "mcp_event_store_evicted",
            self.ctx.label(),
            streamId = stream,
            evictedCount = evicted.len(),
            remainingCount = kept_count,
            remainingBytes = kept_bytes,
        );
        for chunk in evicted.chunks(DELETE_CHUNK) {
            self.delete(&EVENT_TRIM_DELETE, chunk.to_vec()).await?;
        }
        Ok(())
    }
}

fn events_of(stream: &str) -> ListRange {
    ListRange::prefix(format!("{EVENT_PREFIX}{stream}:"))
}

async fn read_sequence(
    storage: Storage,
    stream: Arc<str>,
    sequences: Rc<RefCell<BTreeMap<Arc<str>, u64>>>,
) -> Result<(), JsError> {
    let range = ListRange { reverse: true, ..events_of(&stream).limit(1) };
    let rows = storage.list(&EVENT_LAST_SEQ, range).promise().wait().await?;
    let digits = rows.first().and_then(|(key, _)| key.rsplit_once(':'));
    let last = digits.and_then(|(_, digits)| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
    sequences.borrow_mut().entry(stream).or_insert(last);
    Ok(())
}

/// One trip after each; a failing one does not keep back the others.
async fn replay(rows: &ListAnswer, mut send: impl FnMut(&str, &Value)) {
    for (key, message) in rows {
        send(&key[EVENT_PREFIX.len()..], message);
        drop(micro(&GET_FRAME).await);
    }
}
