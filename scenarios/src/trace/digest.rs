//! The digests of a trace: xxh3-64 over a canonical binary form of its events, fed one event at a time.
//!
//! What two actors export in the same millisecond has no order in the modelled world: two isolates are two machines,
//! and only the simulator's scheduler ran one before the other. So telemetry is digested by actor.

use super::{Event, Stream, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// Both digests of a run while it goes on; feeding it needs no kept trace.
pub struct TraceDigest {
    run: Xxh3,
    /// For each actor the digest of what it exported, in order.
    telemetry: BTreeMap<Option<Arc<str>>, u64>,
    scratch: Vec<u8>,
}

impl Default for TraceDigest {
    fn default() -> Self {
        Self::new()
    }
}

impl TraceDigest {
    /// Digests of no events yet.
    pub fn new() -> Self {
        Self { run: Xxh3::new(), telemetry: BTreeMap::new(), scratch: Vec::with_capacity(512) }
    }

    /// Adds the next event.
    pub fn push(&mut self, event: &Event) {
        self.scratch.clear();
        encode(event, &mut self.scratch);
        if event.stream == Stream::Telemetry {
            let so_far = self.telemetry.entry(event.who.clone()).or_default();
            *so_far = xxh3_64_with_seed(&self.scratch, *so_far);
        }
        self.scratch.extend_from_slice(&event.ordinal.to_le_bytes());
        self.run.update(&self.scratch);
    }

    /// Digest of the telemetry so far: events of [`Stream::Telemetry`], each actor's in order, without ordinals.
    pub fn telemetry(&self) -> u64 {
        self.telemetry.values().fold(0, |digest, actor| xxh3_64_with_seed(&actor.to_le_bytes(), digest))
    }

    /// Digest of all events so far.
    pub fn run(&self) -> u64 {
        self.run.digest()
    }
}

/// Telemetry digest and run digest of a list of events.
pub fn digest_of_events(events: &[Event]) -> (u64, u64) {
    let mut digest = TraceDigest::new();
    for event in events {
        digest.push(event);
    }
    (digest.telemetry(), digest.run())
}

fn encode(event: &Event, out: &mut Vec<u8>) {
    out.extend_from_slice(&event.at_ms.to_le_bytes());
    out.push(event.stream as u8);
    encode_text(&event.name, out);
    match &event.who {
        Some(who) => {
            out.push(1);
            encode_text(who, out);
        }
        None => out.push(0),
    }
    out.extend_from_slice(&(event.fields.len() as u64).to_le_bytes());
    for (name, value) in &event.fields {
        encode_text(name, out);
        encode_value(value, out);
    }
}

fn encode_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Equal values in different variants have one form: see [`Value`].
fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Bool(flag) => out.extend_from_slice(&[b'b', u8::from(*flag)]),
        Value::Uint(number) => {
            out.push(b'u');
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => encode_value(&Value::Uint(number), out),
            Err(_) => {
                out.push(b'i');
                out.extend_from_slice(&number.to_le_bytes());
            }
        },
        Value::Text(text) => {
            out.push(b't');
            encode_text(text, out);
        }
        Value::Json(json) => match json {
            serde_json::Value::Bool(flag) => encode_value(&Value::Bool(*flag), out),
            serde_json::Value::String(text) => {
                out.push(b't');
                encode_text(text, out);
            }
            serde_json::Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => encode_value(&Value::Uint(number), out),
                (None, Some(number)) => encode_value(&Value::Int(number), out),
                (None, None) => encode_json(json, out),
            },
            _ => encode_json(json, out),
        },
    }
}

fn encode_json(json: &serde_json::Value, out: &mut Vec<u8>) {
    out.push(b'j');
    let from = out.len();
    serde_json::to_writer(&mut *out, json).expect("JSON values are plain data");
    let length = (out.len() - from) as u64;
    out.extend_from_slice(&length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(stream: Stream, ordinal: u32, value: Value) -> Event {
        Event {
            at_ms: 5,
            ordinal,
            stream,
            name: "gauge".into(),
            who: Some("s1".into()),
            fields: vec![("residents".into(), value)],
        }
    }

    #[test]
    fn equal_values_in_different_variants_digest_equally() {
        let digest = |value| digest_of_events(&[event(Stream::State, 0, value)]).1;
        assert_eq!(digest(Value::Int(5)), digest(Value::Uint(5)));
        assert_eq!(digest(Value::Uint(5)), digest(Value::Json(5.into())));
        assert_eq!(digest(Value::from("a")), digest(Value::Json("a".into())));
        assert_ne!(digest(Value::Uint(5)), digest(Value::from("5")));
    }

    #[test]
    fn the_telemetry_digest_sees_an_actors_order_but_not_how_actors_interleave() {
        let said =
            |who: &str, value| Event { who: Some(who.into()), ..event(Stream::Telemetry, 0, Value::Uint(value)) };
        let digest = |events: &[Event]| digest_of_events(events).0;
        let told = digest(&[said("s1", 1), said("s1", 2), said("s2", 3)]);
        assert_eq!(told, digest(&[said("s2", 3), said("s1", 1), said("s1", 2)]));
        assert_ne!(told, digest(&[said("s1", 2), said("s1", 1), said("s2", 3)]));
        assert_ne!(told, digest(&[said("s1", 1), said("s2", 2), said("s2", 3)]));
    }

    #[test]
    fn the_telemetry_digest_sees_neither_ordinals_nor_other_streams() {
        let quiet = [event(Stream::Telemetry, 0, Value::Uint(1))];
        let noisy = [event(Stream::State, 0, Value::Uint(9)), event(Stream::Telemetry, 1, Value::Uint(1))];
        let (quiet, noisy) = (digest_of_events(&quiet), digest_of_events(&noisy));
        assert_eq!(quiet.0, noisy.0);
        assert_ne!(quiet.1, noisy.1);
    }
}
