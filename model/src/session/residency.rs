//! What an isolate counts of its sessions' runtimes; the counters die with it and survive a reset of one object.

use std::cell::Cell;
use std::sync::Arc;

use crate::js::EventLoop;
use crate::platform::module_scope;
use crate::telemetry::Span;

#[derive(Default)]
struct Residency {
    resident_runtime_count: Cell<u64>,
    peak_resident_runtime_count: Cell<u64>,
}

/// `acquireResidentRuntime`: one more.
pub(super) fn acquire(label: &Arc<str>) {
    let residency = module_scope::<Residency>();
    let count = residency.resident_runtime_count.get() + 1;
    residency.resident_runtime_count.set(count);
    residency.peak_resident_runtime_count.set(residency.peak_resident_runtime_count.get().max(count));
    gauge(label, count);
}

/// `releaseResidentRuntime`: one less, never below zero.
pub(super) fn release(label: &Arc<str>) {
    let residency = module_scope::<Residency>();
    let count = residency.resident_runtime_count.get().saturating_sub(1);
    residency.resident_runtime_count.set(count);
    gauge(label, count);
}

fn gauge(label: &Arc<str>, count: u64) {
    let isolate = EventLoop::current();
    state_event!("gauge", label, isolate = &*isolate.name, residents = count);
}

/// Puts the residency attributes on a span. The runtime of this host exposes no heap figures.
pub(super) fn annotate(span: &Span) {
    let residency = module_scope::<Residency>();
    span.set("mcp.isolate.resident_runtimes", residency.resident_runtime_count.get());
    span.set("mcp.isolate.peak_resident_runtimes", residency.peak_resident_runtime_count.get());
}
