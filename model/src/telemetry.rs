//! What the host exports: spans through one batching exporter an isolate, log lines, error reports.
//!
//! Names are exactly those of production. A span is data until a flush hands it to the exporter, and what was not
//! delivered when its isolate or object died is lost.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::fx::Exit;
use crate::js::EventLoop;
use crate::platform::{self, JsError, module_scope};
use crate::rt;

crate::operations! {
    EXPORT = "telemetry · export", Io, 0; "the exporter's request, bounded to 1 s, in waitUntil"
}

/// Longest time the exporter is given, in milliseconds.
pub const FLUSH_BOUND_MS: u64 = 1_000;

/// Writes one structured log line: level, event, whose, fields.
macro_rules! log_event {
    ($level:ident, $name:literal, $who:expr $(, $key:ident = $value:expr)* $(,)?) => {
        tracing::$level!(
            name: $name, target: "telemetry", what = "log", level = stringify!($level),
            who = ::core::convert::AsRef::<str>::as_ref(&$who) $(, $key = $value)*
        )
    };
}
pub(crate) use log_event;

/// `console.error(text, error)`: a plain text line; the error is shown with its name.
pub fn console_error(who: &Arc<str>, text: &str, error: &JsError) {
    log_event!(error, "console.error", who, text = text, error = &*error.to_string());
}

/// The error reporter's capture of a failure nobody recognised.
pub fn capture(who: &Arc<str>, error: &JsError) {
    tracing::error!(name: "captured", target: "telemetry", what = "report", who = &**who, message = &*error.message);
}

/// Finished spans of an isolate that wait for a flush (module scope).
#[derive(Default)]
struct Exporter {
    finished: RefCell<Vec<Rc<Data>>>,
    numbers: Cell<u64>,
    /// What takes the spans instead.
    sink: RefCell<Option<Rc<dyn SpanSink>>>,
}

/// A span that has just ended.
pub struct Ended<'a> {
    /// Its name.
    pub name: &'static str,
    /// The name of its parent, unless it is a root.
    pub parent: Option<&'static str>,
    /// Its attributes.
    pub attributes: &'a Map<String, Value>,
    /// How the effect around it ended.
    pub exit: Exit<()>,
}

/// What takes an isolate's spans in the place of its exporter: each as it ends, also those that are never exported.
pub trait SpanSink {
    /// A span has ended.
    fn ended(&self, span: &Ended<'_>);
    /// The object `who` has flushed.
    fn flushed(&self, who: &str);
}

/// Gives all spans of the isolate to `sink` from now on.
pub fn divert(sink: Rc<dyn SpanSink>) {
    *module_scope::<Exporter>().sink.borrow_mut() = Some(sink);
}

fn sink() -> Option<Rc<dyn SpanSink>> {
    module_scope::<Exporter>().sink.borrow().clone()
}

struct Data {
    name: &'static str,
    parent_name: Option<&'static str>,
    who: Arc<str>,
    trace: Arc<str>,
    number: u64,
    parent: Option<Arc<str>>,
    start_ms: u64,
    end_ms: Cell<u64>,
    attributes: RefCell<Attributes>,
    exported: bool,
}

/// The attributes of a span, as it is exported with them: JSON text, or for a listener that knows this type the values.
/// An error only because `tracing` takes no other values of a type of one's own.
#[derive(Debug, Default)]
pub struct Attributes(pub Map<String, Value>);

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl std::error::Error for Attributes {}

/// A span in progress. Dropping it exports nothing; only [`Span::end`] does.
#[derive(Clone)]
pub struct Span(Rc<Data>);

impl Span {
    /// A span with a new trace.
    pub fn root(name: &'static str) -> Span {
        Self::make(name, None, None, true)
    }

    /// A root span whose parent is remote: `traceparent` as `00-<trace>-<span>-01`; a malformed one is ignored.
    pub fn remote(name: &'static str, traceparent: Option<&str>) -> Span {
        let mut parts = traceparent.unwrap_or("").split('-').skip(1);
        match (parts.next(), parts.next()) {
            (Some(trace), Some(parent)) => Self::make(name, Some(trace.into()), Some(parent.into()), true),
            _ => Self::root(name),
        }
    }

    /// A root span of code that runs without a telemetry layer: it takes attributes and is never exported.
    pub fn unexported(name: &'static str) -> Span {
        Self::make(name, None, None, false)
    }

    /// A child span; exported if its parent is.
    pub fn child(&self, name: &'static str) -> Span {
        let parent = self.id();
        Self::make_under(Some(self.0.name), name, Some(Arc::clone(&self.0.trace)), Some(parent), self.0.exported)
    }

    /// A child of `parent`, or a root span where the caller has none.
    pub fn under(parent: Option<&Span>, name: &'static str) -> Span {
        parent.map_or_else(|| Self::root(name), |parent| parent.child(name))
    }

    fn make(name: &'static str, trace: Option<Arc<str>>, parent: Option<Arc<str>>, exported: bool) -> Span {
        Self::make_under(None, name, trace, parent, exported)
    }

    fn make_under(
        parent_name: Option<&'static str>,
        name: &'static str,
        trace: Option<Arc<str>>,
        parent: Option<Arc<str>>,
        exported: bool,
    ) -> Span {
        let event_loop = EventLoop::current();
        let exporter = module_scope::<Exporter>();
        exporter.numbers.set(exporter.numbers.get() + 1);
        let number = exporter.numbers.get();
        let trace = trace.unwrap_or_else(|| format!("{}-t{number}", event_loop.name).into());
        Span(Rc::new(Data {
            name,
            parent_name,
            who: Arc::clone(&event_loop.ctx().context.label),
            trace,
            number,
            parent,
            start_ms: event_loop.now_ms(),
            end_ms: Cell::new(0),
            attributes: RefCell::default(),
            exported,
        }))
    }

    fn id(&self) -> Arc<str> {
        format!("{}-{}", EventLoop::current().name, self.0.number).into()
    }

    /// Sets an attribute.
    pub fn set(&self, key: &str, value: impl Into<Value>) {
        self.0.attributes.borrow_mut().0.insert(key.to_owned(), value.into());
    }

    /// Puts the attributes of a failure on the span.
    pub fn fail(&self, error: &JsError) {
        self.set("exception.type", error.name);
        self.set("exception.message", &*error.message);
    }

    /// Ends the span of something that cannot fail: it waits for a flush now.
    pub fn end(&self) {
        self.end_with(&Ok(()));
    }

    /// Ends the span of an effect that ended so. The exporter does not send how; the library and a sink know.
    pub fn end_with<T>(&self, exit: &Exit<T>) {
        #[cfg(test)]
        crate::observed::span(self.0.name, &self.0.attributes.borrow().0, exit);
        self.0.end_ms.set(EventLoop::current().now_ms());
        let exporter = module_scope::<Exporter>();
        let sink = exporter.sink.borrow().clone();
        if let Some(sink) = sink {
            let (name, parent, attributes) = (self.0.name, self.0.parent_name, self.0.attributes.borrow());
            let exit = exit.as_ref().map(drop).map_err(Clone::clone);
            sink.ended(&Ended { name, parent, attributes: &attributes.0, exit });
        } else if self.0.exported {
            exporter.finished.borrow_mut().push(Rc::clone(&self.0));
        }
    }
}

/// Hands all finished spans of the isolate to the exporter, in `waitUntil`: the caller does not wait for it.
///
/// A span is lost when the object that flushed dies before the request is out, when the exporter fails, or when it
/// takes longer than the bound.
pub fn flush() {
    if let Some(sink) = sink() {
        return sink.flushed(&EventLoop::current().ctx().context.label);
    }
    let batch = std::mem::take(&mut *module_scope::<Exporter>().finished.borrow_mut());
    if batch.is_empty() {
        return;
    }
    let who = Arc::clone(&EventLoop::current().ctx().context.label);
    drop(crate::js::call(async move {
        // The base millisecond is not the exporter's: a world's longest draw is still within the bound.
        let latency_ms = rt::decide_delay(&who, "latency.export");
        let sent = platform::sleep(&EXPORT, 1 + latency_ms).await;
        if sent.is_ok() && latency_ms <= FLUSH_BOUND_MS {
            batch.iter().for_each(|span| deliver(span));
        }
    }));
}

fn deliver(span: &Data) {
    let attributes = span.attributes.borrow();
    let attributes: &(dyn std::error::Error + 'static) = &*attributes;
    tracing::info!(
        target: "telemetry",
        event = span.name,
        what = "span",
        who = &*span.who,
        start_at_ms = span.start_ms,
        end_at_ms = span.end_ms.get(),
        trace = &*span.trace,
        span = span.number,
        parent = span.parent.as_deref(),
        attributes_json = attributes,
    );
}
