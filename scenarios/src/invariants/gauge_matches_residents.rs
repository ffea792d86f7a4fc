//! I1: the gauge of an isolate, told and exported, equals the sessions that really have a runtime there.
//!
//! What the design can claim has a limit: module-scope state outlives an object that is reset or evicted, no code runs
//! then, and the counter keeps what was taken (platform facts 103, 132). From the loss of a resident object on, its
//! isolate is not judged any more.

#[cfg(test)]
mod tests;

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream, Trace, spans_named};
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "gauge-matches-residents",
    kind: Kind::Always,
    claim: "the resident gauge of an isolate equals its resident runtimes, and a disposal span reports it as it is after the release",
    covers: &["I1", "I3", "I40"],
    judge,
};

const ATTRIBUTE: &str = "mcp.isolate.resident_runtimes";

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    if trace.named(Stream::State, "runtime.installed").next().is_none() {
        return Verdict::CannotTell("no runtime was ever installed".into());
    }
    let mut ledger = Ledger::default();
    let mut replay = Replay::new(case);
    let mut now_ms = 0;
    for event in &trace.events {
        // Gauge and runtime change one after the other within a turn, and the clock stands still in it.
        if event.at_ms != now_ms {
            now_ms = event.at_ms;
            ledger.compare();
        }
        ledger.before(&replay, event);
        replay.advance();
        ledger.after(&replay, event);
    }
    ledger.compare();
    for span in spans_named(trace, "mcp.session.idle_runtime_dispose") {
        ledger.judge_span(span, was_cut_short(trace, span));
    }
    let unknown = (ledger.is_tainted_anywhere && ledger.judged_count == 0)
        .then(|| "an object with a runtime was lost, and its isolate still counts it".to_owned());
    Verdict::of(ledger.violations, unknown)
}

/// A disposal that was interrupted or failed says nothing of the gauge: its bookkeeping is skipped. It ends after its
/// span, by the flush; of one whose object was lost before that nobody knows how it ended.
fn was_cut_short(trace: &Trace, span: &Event) -> bool {
    let end_ms = span.number("end_at_ms").unwrap_or(span.at_ms);
    let is_end = |event: &&Event| event.who == span.who && event.at_ms >= end_ms;
    let mut after = trace.events.iter().filter(is_end);
    let end = after.find(|event| match event.stream {
        Stream::State => event.name == "disposal.end",
        Stream::Platform => matches!(&*event.name, "object.reset" | "object.gone"),
        _ => false,
    });
    end.is_some_and(|end| end.stream == Stream::Platform || end.text("outcome") != Some("ok"))
}

#[derive(Default)]
struct Ledger<'t> {
    isolates: BTreeMap<Arc<str>, Isolate<'t>>,
    releases: BTreeMap<&'t str, Vec<Release>>,
    violations: Vec<Violation>,
    is_tainted_anywhere: bool,
    judged_count: u32,
}

#[derive(Default)]
struct Isolate<'t> {
    gauge: u64,
    real: u64,
    /// When the real count changed, and to what.
    changes: Vec<Change>,
    changed_by: Option<&'t Event>,
    tainted_at_ms: Option<u64>,
}

struct Change {
    at_ms: u64,
    ordinal: u32,
    real: u64,
}

struct Release {
    at_ms: u64,
    ordinal: u32,
    isolate: Arc<str>,
}

impl<'t> Ledger<'t> {
    /// Notes what an event takes away, while the replay still knows where it was.
    fn before(&mut self, replay: &Replay, event: &'t Event) {
        if !matches!(&*event.name, "object.gone" | "object.reset" | "runtime.released") {
            return;
        }
        let session = event.who().and_then(|who| replay.session(who));
        let resident = session.filter(|session| session.runtime.is_some());
        let isolate = resident.and_then(|session| session.isolate.clone());
        match (&*event.name, isolate) {
            ("object.gone" | "object.reset", Some(isolate)) => {
                self.is_tainted_anywhere = true;
                let known = self.isolates.entry(isolate).or_default();
                known.tainted_at_ms = known.tainted_at_ms.or(Some(event.at_ms));
            }
            ("runtime.released", Some(isolate)) => {
                let release = Release { at_ms: event.at_ms, ordinal: event.ordinal, isolate };
                self.releases.entry(event.who().unwrap_or("")).or_default().push(release);
            }
            _ => {}
        }
    }

    fn after(&mut self, replay: &Replay, event: &'t Event) {
        match (event.stream, &*event.name) {
            (Stream::Platform, "isolate.started" | "isolate.ended") => {
                if let Some(isolate) = event.text("isolate").or(event.who()) {
                    self.isolates.insert(isolate.into(), Isolate::default());
                }
            }
            (Stream::State, "gauge") => {
                let isolate = event.text("isolate").or(event.who()).unwrap_or("");
                let known = self.isolates.entry(isolate.into()).or_default();
                known.gauge = event.number("residents").unwrap_or(0);
                known.changed_by = Some(event);
            }
            (Stream::State, "runtime.installed" | "runtime.released") => {
                let session = event.who().and_then(|who| replay.session(who));
                let Some(isolate) = session.and_then(|session| session.isolate.clone()) else {
                    return;
                };
                let resides = |id: &Arc<str>| {
                    let in_isolate = replay
                        .sessions()
                        .filter(|(_, each)| each.runtime.is_some() && each.isolate.as_ref() == Some(id));
                    in_isolate.count() as u64
                };
                let real = resides(&isolate);
                let known = self.isolates.entry(isolate).or_default();
                known.real = real;
                known.changed_by = Some(event);
                known.changes.push(Change { at_ms: event.at_ms, ordinal: event.ordinal, real });
            }
            _ => {}
        }
    }

    /// Compares the isolates that changed since the last comparison.
    fn compare(&mut self) {
        for (id, isolate) in &mut self.isolates {
            let Some(event) = isolate.changed_by.take() else {
                continue;
            };
            if isolate.tainted_at_ms.is_some() {
                continue;
            }
            self.judged_count += 1;
            if isolate.gauge != isolate.real {
                let (gauge, real) = (isolate.gauge, isolate.real);
                let what = format!("the gauge of isolate {id} says {gauge}, resident are {real}");
                let found = Violation::at(event, what);
                self.violations.push(found.pending(format!("{id}: gauge {gauge}, resident runtimes {real}")));
            }
        }
    }

    /// The exported number must be one that was so between the session's own release and the end of the span.
    fn judge_span(&mut self, span: &Event, is_cut_short: bool) {
        let told = span.attribute(ATTRIBUTE);
        let number = told.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
        let Some(number) = number else {
            if is_cut_short {
                return;
            }
            self.violations.push(Violation::at(span, format!("a disposal span lacks {ATTRIBUTE}")));
            return;
        };
        let end_ms = span.number("end_at_ms").unwrap_or(span.at_ms);
        let releases = self.releases.get(span.who().unwrap_or(""));
        let release = releases.and_then(|all| {
            let before = |each: &&Release| each.ordinal < span.ordinal && each.at_ms <= end_ms;
            all.iter().rfind(before)
        });
        let Some(release) = release else { return };
        let Some(isolate) = self.isolates.get(&release.isolate) else {
            return;
        };
        if isolate.tainted_at_ms.is_some_and(|at_ms| at_ms <= end_ms) {
            return;
        }
        let mut so = isolate
            .changes
            .iter()
            .filter(|change| change.ordinal >= release.ordinal && change.at_ms <= end_ms)
            .peekable();
        // The isolate has ended since, and what it counted is gone.
        if so.peek().is_none() {
            return;
        }
        self.judged_count += 1;
        if so.all(|change| change.real != number) {
            let what =
                format!("a disposal span reports {number} resident runtimes, which was not so after the release");
            self.violations.push(Violation::at(span, what));
        }
    }
}
