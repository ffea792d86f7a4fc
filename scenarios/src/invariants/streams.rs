//! What several claims about streams ask: which stream and number an event id names, and which sessions clients opened.

use super::Case;
use super::in_use::InUse;
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Stream and number of an event id: `c5:0000000000000002`.
pub fn parts(id: &str) -> Option<(&str, u64)> {
    let (stream, digits) = id.rsplit_once(':')?;
    Some((stream, u64::from_str_radix(digits, 16).ok()?))
}

/// Sessions that a client was given, with the ordinal of the event from which on it had them.
pub fn opened(case: &Case<'_>) -> BTreeMap<Arc<str>, u32> {
    let (mut opened, mut in_use) = (BTreeMap::new(), InUse::default());
    for event in &case.trace.events {
        if let Some((_, alias)) = in_use.apply(event).filter(|_| event.name == "request.end") {
            opened.entry(alias).or_insert(event.ordinal);
        }
    }
    opened
}

/// Whether the event says that a session is being ended or was wiped: from then on nothing of it is promised.
pub fn ends_session(event: &Event) -> bool {
    let is_state = event.stream == Stream::State && matches!(&*event.name, "condemned" | "destroy.begin");
    is_state || event.is(Stream::Platform, "storage.wiped")
}

/// Whether the event takes a session's connections away: a teardown, or the end of its object or isolate.
pub fn cuts_connections(event: &Event) -> bool {
    let is_loss = matches!(&*event.name, "object.reset" | "object.gone" | "isolate.ended");
    event.is(Stream::State, "teardown.begin") || (event.stream == Stream::Platform && is_loss)
}

/// Whether something of that kind happened to the session between two events, the ends included.
pub fn happened(case: &Case<'_>, session: &str, from: u32, to: u32, what: impl Fn(&Event) -> bool) -> bool {
    let is_its = |event: &Event| event.who() == Some(session) || event.name == "isolate.ended";
    let events = &case.trace.events;
    let first = events.partition_point(|event| event.ordinal < from);
    events[first..].iter().take_while(|event| event.ordinal <= to).any(|event| is_its(event) && what(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_a_stream_and_a_number() {
        assert_eq!(parts("c5:0000000000000010"), Some(("c5", 16)));
        assert_eq!((parts("c5"), parts("c5:x")), (None, None));
    }
}
