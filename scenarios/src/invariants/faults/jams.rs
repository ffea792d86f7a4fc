//! Sections whose timers do not fire: a fault of the older runtime build that nobody planned.

use super::super::limits::SECTION_MS_MAX;
use crate::trace::{Event, Stream, Trace};

/// When each object's timers were found not to fire, and until when: a timer from before a section that comes due in it keeps
/// every timer of the section from firing (platform fact 33), and no code of the object can then know that a wait is over.
#[derive(Default)]
pub(super) struct Jams<'a>(Vec<Jam<'a>>);

struct Jam<'a> {
    who: &'a str,
    from_ms: u64,
    to_ms: u64,
    is_over: bool,
}

impl<'a> Jams<'a> {
    pub(super) fn of(trace: &'a Trace) -> Self {
        let mut jams: Vec<Jam> = Vec::new();
        for event in &trace.events {
            let Some(who) = event.who() else { continue };
            match (event.stream, &*event.name) {
                (Stream::Platform, "timers.jammed") => {
                    let (from_ms, to_ms) = (event.at_ms, event.at_ms.saturating_add(SECTION_MS_MAX));
                    jams.push(Jam { who, from_ms, to_ms, is_over: false });
                }
                (Stream::Platform, "object.reset" | "object.gone") | (Stream::State, "start.end") => {
                    end(&mut jams, event)
                }
                _ => {}
            }
        }
        Self(jams)
    }

    /// The ms of that time in which the object's timers did not fire.
    pub(super) fn lasted_ms(&self, who: &str, from_ms: u64, to_ms: u64) -> u64 {
        let overlap = |jam: &Jam| jam.to_ms.min(to_ms).saturating_sub(jam.from_ms.max(from_ms));
        self.0.iter().filter(|jam| jam.who == who).map(overlap).sum()
    }
}

fn end(jams: &mut [Jam<'_>], event: &Event) {
    for jam in jams.iter_mut().filter(|jam| !jam.is_over && event.who() == Some(jam.who)) {
        jam.is_over = true;
        jam.to_ms = jam.to_ms.min(event.at_ms);
    }
}
