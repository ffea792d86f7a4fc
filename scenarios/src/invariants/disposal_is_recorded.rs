//! I40, I41: every disposal leaves one log line and one span that agree with each other and with what happened.

#[cfg(test)]
mod tests;

use super::faults::FaultLog;
use super::limits::SECTION_MS_MAX;
use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Plan;
use crate::trace::{Event, Stream, spans_named};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "disposal-is-recorded",
    kind: Kind::Always,
    claim: "every disposal is told by one log line and one span with equal session, idle time, reason and counts, and an idle one lasted the timeout",
    covers: &["I40", "I41"],
    judge,
};

const LOG: &str = "mcp_session_idle_runtime_dispose";
const SPAN: &str = "mcp.session.idle_runtime_dispose";

/// A disposal that ended this shortly before the run, or before its object was lost, may have its span still in the
/// exporter, in ms.
const EXPORT_MS_MAX: u64 = 2_000;

/// What a disposal, its log line and its span must agree on: name of the field in each.
const AGREED: [(&str, &str, &str); 4] = [
    ("idle_ms", "idleMs", "mcp.session.idle_ms"),
    ("paused", "pausedExecutionCount", "mcp.session.paused_execution_count"),
    ("streams", "activeStreamCount", "mcp.session.active_stream_count"),
    ("reason", "reason", "mcp.session.dispose_reason"),
];

/// What the platform says of the object that such a section was in.
const SECTION_TOO_LONG: &str = "blockConcurrencyWhile() in a Durable Object waited for too long";

struct Disposal<'t> {
    begin: &'t Event,
    /// When it ended or its object was lost.
    end_ms: Option<u64>,
    /// The event by which its object was lost, with whatever it had still to export.
    lost: Option<u32>,
}

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let faults = case.faults();
    let disposals = disposals(case, faults);
    let mut logs = by_session(trace.named(Stream::Telemetry, LOG));
    let mut spans = by_session(spans_named(trace, SPAN));
    // Where an old instance went on beside the new one (platform fact 219), a trace does not tell whose a disposal is.
    let doubled = case.doubled();
    logs.retain(|who, _| !doubled.has(who));
    spans.retain(|who, _| !doubled.has(who));
    let mut violations = Vec::new();
    let mut unknown = None;
    for (who, list) in disposals.iter().filter(|(who, _)| !doubled.has(who)) {
        let logs = logs.remove(who).unwrap_or_default();
        let mut spans = spans.remove(who).unwrap_or_default();
        // By begin: two disposals that overlap may export in either order.
        spans.sort_by_key(|span| (span.number("start_at_ms"), span.ordinal));
        let mut matcher = Matcher { logs, spans, violations: Vec::new() };
        for disposal in list {
            violations.extend(too_early(plan, disposal));
            let is_open = disposal.end_ms.is_none_or(|end| end + EXPORT_MS_MAX > trace.ends_at_ms);
            if is_open && disposal.lost.is_none() && !trace.is_complete() {
                unknown = Some("the run was cut during a disposal".to_owned());
            }
            let from_ms = disposal.begin.at_ms;
            let until_ms = disposal.end_ms.unwrap_or(from_ms).saturating_add(EXPORT_MS_MAX);
            matcher.take(disposal, is_open || faults.lost_export(from_ms, until_ms));
        }
        violations.extend(matcher.finish());
    }
    for event in logs.into_values().chain(spans.into_values()).flatten() {
        violations.push(Violation::at(event, "a disposal was told that did not happen"));
    }
    violations.sort_by_key(|violation| violation.ordinal);
    Verdict::of(violations, unknown)
}

fn too_early(plan: &Plan, disposal: &Disposal) -> Option<Violation> {
    let idle_ms = disposal.begin.number("idle_ms")?;
    let timeout = plan.config.session_timeout_ms;
    let is_idle = disposal.begin.text("reason") == Some("idle");
    (is_idle && idle_ms < timeout).then(|| {
        let what = format!("a disposal for idleness after {idle_ms} ms, the timeout is {timeout} ms");
        Violation::at(disposal.begin, what)
    })
}

struct Matcher<'t> {
    logs: Vec<&'t Event>,
    spans: Vec<&'t Event>,
    violations: Vec<Violation>,
}

impl<'t> Matcher<'t> {
    /// Takes the log line and the span of the next disposal, and compares.
    fn take(&mut self, disposal: &Disposal<'t>, may_lack_span: bool) {
        let begin = disposal.begin;
        let log = (!self.logs.is_empty()).then(|| self.logs.remove(0));
        let fits = |span: &&Event| {
            let start = span.number("start_at_ms").unwrap_or(span.at_ms);
            let is_before_loss = disposal.lost.is_none_or(|lost| span.ordinal < lost);
            start >= begin.at_ms && disposal.end_ms.is_none_or(|end| start <= end) && is_before_loss
        };
        // Two disposals at once may be exported in either order: the one that says the same reason is meant.
        let same_reason = |span: &&Event| {
            fits(span)
                && span.attribute("mcp.session.dispose_reason").and_then(|told| told.as_str()) == begin.text("reason")
        };
        let index = self.spans.iter().position(same_reason);
        // Else the first one, told wrongly; unless this one may have none, and that is of the other.
        let may_have_none = may_lack_span || disposal.lost.is_some();
        let index = index.or_else(|| self.spans.iter().take(1).position(fits).filter(|_| !may_have_none));
        let span = index.map(|index| self.spans.remove(index));
        match log {
            Some(log) => self.agree(begin, log, span),
            None => self.violations.push(Violation::at(begin, "a disposal left no log line")),
        }
        // The span of a lost object, of a failing export or of a run that was cut never got out.
        if span.is_none() && disposal.lost.is_none() && !may_lack_span {
            self.violations.push(Violation::at(begin, "a disposal left no span"));
        }
    }

    fn agree(&mut self, begin: &Event, log: &Event, span: Option<&Event>) {
        for (is, logged, exported) in AGREED {
            let so = begin.field(is).map(plain);
            let in_log = log.field(logged).map(plain);
            let in_span = span.map(|span| span.attribute(exported).map(json_plain));
            let log_differs = in_log != so;
            let span_differs = in_span.as_ref().is_some_and(|told| *told != so);
            for (differs, place, told) in [(log_differs, "log line", in_log), (span_differs, "span", in_span.flatten())]
            {
                if differs {
                    let (told, so) = (told.unwrap_or("nothing".into()), so.clone().unwrap_or("nothing".into()));
                    let what = format!("the {place} of a disposal says {logged} {told}, it was {so}");
                    self.violations.push(Violation::at(begin, what));
                }
            }
        }
        let in_log = log.text("sessionId");
        let in_span = span.map(|span| span.attribute("mcp.session.id").and_then(|id| id.as_str()));
        if in_log.is_none() || in_span.is_some_and(|id| id != in_log) {
            let what = "log line and span of a disposal name different sessions, or none";
            self.violations.push(Violation::at(begin, what));
        }
    }

    fn finish(mut self) -> Vec<Violation> {
        for event in self.logs.into_iter().chain(self.spans) {
            self.violations.push(Violation::at(event, "a disposal was told once more than it happened"));
        }
        self.violations
    }
}

fn disposals<'t>(case: &Case<'t>, faults: &FaultLog<'_>) -> BTreeMap<&'t str, Vec<Disposal<'t>>> {
    let mut all: BTreeMap<&str, Vec<Disposal>> = BTreeMap::new();
    Replay::each(case, |replay, event| {
        let lose = |who: &str, list: &mut Vec<Disposal>| {
            // What was exported shortly before may not have left either: it goes with the object that sends it. A section
            // keeps everything out while it lasts, exports too (platform fact 30).
            let kept_in_ms = |end: u64| match is_section_too_long(event) {
                true => SECTION_MS_MAX,
                false => faults.jammed_ms(who, end, event.at_ms),
            };
            let until_ms = |end: u64| end + EXPORT_MS_MAX + kept_in_ms(end);
            let is_under_way = |each: &&mut Disposal| each.end_ms.is_none_or(|end| event.at_ms <= until_ms(end));
            for each in list.iter_mut().filter(|each| each.lost.is_none()).filter(is_under_way) {
                each.end_ms = each.end_ms.or(Some(event.at_ms));
                each.lost = Some(event.ordinal);
            }
        };
        let who = event.who().unwrap_or("");
        match &*event.name {
            "disposal.begin" => all.entry(who).or_default().push(Disposal { begin: event, end_ms: None, lost: None }),
            "disposal.end" => {
                let open = all.get_mut(who).and_then(|list| list.iter_mut().find(|each| each.end_ms.is_none()));
                if let Some(open) = open {
                    open.end_ms = Some(event.at_ms);
                }
            }
            "object.gone" | "object.reset" => {
                if let Some(list) = all.get_mut(who) {
                    lose(who, list);
                }
            }
            "isolate.ended" => {
                let ended = event.text("isolate").or(event.who());
                for (who, list) in &mut all {
                    let isolate = replay.session(who).and_then(|session| session.isolate.as_deref());
                    if isolate == ended {
                        lose(who, list);
                    }
                }
            }
            _ => {}
        }
    });
    all
}

fn is_section_too_long(event: &Event) -> bool {
    event.text("kind").or(event.text("reason")).is_some_and(|why| why.contains(SECTION_TOO_LONG))
}

fn by_session<'t>(events: impl Iterator<Item = &'t Event>) -> BTreeMap<&'t str, Vec<&'t Event>> {
    let mut all: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events {
        all.entry(event.who().unwrap_or("")).or_default().push(event);
    }
    all
}

fn plain(value: &crate::trace::Value) -> String {
    match (value.as_text(), value.as_number()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => number.to_string(),
        (None, None) => format!("{value:?}"),
    }
}

fn json_plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
