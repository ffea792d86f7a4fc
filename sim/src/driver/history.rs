//! Writes what a client asks and gets, and what it does by itself, into the trace.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use model::client::{
    Answer, Asked, Brings, Client, ClientObserver, Habit, Outcome, RequestOutcome, SeenEvent, StreamEnd,
};
use scenarios::expect::condensed;
use scenarios::trace::{Name, Stream, Value};

use super::Shared;
use crate::recorder;

/// Writes what a client asks and gets into the trace.
pub(super) struct History {
    shared: Rc<Shared>,
    step: Cell<usize>,
    /// The execution that the next request is about.
    execution: RefCell<Option<String>>,
    /// The step that each request belongs to, of a client that carries requests on beside later steps.
    steps: Option<RefCell<BTreeMap<u64, usize>>>,
}

impl History {
    /// That of a client; whether it has a persona.
    pub(super) fn new(shared: Rc<Shared>, is_persona: bool) -> History {
        let steps = is_persona.then(RefCell::default);
        History { shared, step: Cell::new(0), execution: RefCell::default(), steps }
    }

    /// The step that a new request belongs to: that of the request which it carries on, or the one that began last.
    fn step_of(&self, request: u64, of: Option<u64>) -> usize {
        let Some(steps) = &self.steps else { return self.step.get() };
        let mut steps = steps.borrow_mut();
        let step = of.and_then(|of| steps.get(&of).copied()).unwrap_or(self.step.get());
        steps.insert(request, step);
        step
    }

    pub(super) fn begin_step(&self, client: &str, step: usize) {
        self.step.set(step);
        self.shared.director.begin_step(client, u32::try_from(step).unwrap_or(u32::MAX));
    }

    /// Remembers the execution that a client is told waits for a person.
    pub(super) fn learn(&self, name: &str, client: &Client, outcome: &RequestOutcome) {
        let Outcome::Answered(Answer::Result(result)) = &outcome.outcome else { return };
        let told = &result["structuredContent"];
        let waits = matches!(told["status"].as_str(), Some("waiting_for_interaction" | "user_approval_required"));
        if let (true, Some(id), Some(session)) = (waits, told["executionId"].as_str(), client.session()) {
            self.shared.paused.borrow_mut().insert(name.to_owned(), (session, id.to_owned()));
        }
    }

    /// The session and the execution that a client was last told of, and that the next request is about; unknown ones if
    /// there is none.
    pub(super) fn paused_of(&self, client: &str) -> (String, String) {
        let known = self.shared.paused.borrow().get(client).cloned();
        let (session, execution) = known.unwrap_or_else(|| ("none".to_owned(), "exec_none".to_owned()));
        *self.execution.borrow_mut() = Some(execution.clone());
        (session, execution)
    }

    pub(super) fn uses(&self, client: &str, session: Option<String>) {
        let mut sessions = self.shared.sessions.borrow_mut();
        match session {
            Some(session) => sessions.insert(client.to_owned(), session),
            None => sessions.remove(client),
        };
    }

    /// The session that a client uses now.
    pub(super) fn session_of(&self, client: &str) -> Option<String> {
        self.shared.sessions.borrow().get(client).cloned()
    }

    pub(super) fn say_adopted(&self, client: &str, of: &str) {
        recorder::record(Stream::History, "session.adopted", Some(client), vec![("of".into(), Value::Text(of.into()))]);
    }

    pub(super) fn say_done(&self) {
        // The run may be over already; then nobody waits.
        let _ = self.shared.done.send(());
    }

    fn record(&self, name: &'static str, client: &str, request: u64, more: Vec<(Name, Value)>) {
        let mut fields: Vec<(Name, Value)> = vec![("request".into(), Value::Uint(request))];
        fields.extend(more);
        recorder::record(Stream::History, name, Some(client), fields);
    }
}

impl ClientObserver for History {
    fn request_begin(&self, client: &Arc<str>, asked: &Asked<'_>) -> u64 {
        let op = asked.op;
        let request = self.shared.requests.get() + 1;
        self.shared.requests.set(request);
        let mut more = vec![
            ("step".into(), Value::Uint(self.step_of(request, asked.of) as u64)),
            ("op".into(), Value::Text(op.word().into())),
            ("method".into(), Value::Text(op.method().into())),
        ];
        let execution = self.execution.borrow_mut().take();
        more.extend(execution.map(|execution| ("execution".into(), Value::Text(execution.into()))));
        if let Some((first, rest)) = asked.ids.split_first() {
            more.push(("rpc".into(), Value::Text(first.as_str().into())));
            more.extend((!rest.is_empty()).then(|| ("rpc_count".into(), Value::Uint(asked.ids.len() as u64))));
        }
        more.extend(asked.cursor.map(|cursor| ("cursor".into(), Value::Text(cursor.into()))));
        more.extend(asked.of.map(|of| ("of".into(), Value::Uint(of))));
        more.extend(asked.session.map(|session| ("session".into(), Value::Text(recorder::alias_of(session)))));
        more.extend(asked.patience_ms.map(|ms| ("patience_ms".into(), Value::Uint(ms))));
        self.record("request.begin", client, request, more);
        request
    }

    fn request_event(&self, client: &Arc<str>, request: u64, event: &SeenEvent<'_>) {
        let mut more = vec![("brings".into(), Value::Text(event.brings.word().into()))];
        if let Brings::Response(id) = event.brings {
            more.push(("rpc".into(), Value::Text(id.into())));
        }
        more.extend(event.id.map(|id| ("id".into(), Value::Text(id.into()))));
        self.record("request.event", client, request, more);
    }

    fn request_head(&self, client: &Arc<str>, request: u64, status: u16, session: Option<&str>) {
        let mut more = vec![("status".into(), Value::Uint(u64::from(status)))];
        more.extend(session.map(|session| ("session".into(), Value::Text(session.into()))));
        self.record("request.head", client, request, more);
    }

    fn request_end(&self, client: &Arc<str>, request: u64, outcome: &RequestOutcome) {
        let mut more = vec![("outcome".into(), Value::Text(outcome.outcome.word().into()))];
        more.extend(outcome.status.map(|status| ("status".into(), Value::Uint(u64::from(status)))));
        match &outcome.outcome {
            Outcome::Answered(Answer::Result(json) | Answer::Error(json)) | Outcome::Refused { error: json } => {
                more.push(("answer".into(), Value::Json(condensed(json))));
            }
            Outcome::GaveUp { waiting_for } => more.push(("text".into(), Value::Text((*waiting_for).into()))),
            Outcome::Failed(text) => more.push(("text".into(), Value::Text(text.as_str().into()))),
            Outcome::Answered(Answer::Empty) | Outcome::Ended | Outcome::Cut => {}
        }
        self.record("request.end", client, request, more);
    }

    fn stream_open(&self, client: &Arc<str>, request: u64) {
        self.record("stream.open", client, request, Vec::new());
    }

    fn stream_end(&self, client: &Arc<str>, request: u64, by: StreamEnd) {
        self.record("stream.end", client, request, vec![("by".into(), Value::Text(by.word().into()))]);
    }

    fn habit(&self, client: &Arc<str>, habit: Habit) {
        let text = |text: &'static str| Value::Text(text.into());
        let fields: Vec<(Name, Value)> = match habit {
            Habit::GaveUp { op, why } | Habit::Skipped { op, why } => {
                vec![("op".into(), text(op.word())), ("why".into(), text(why))]
            }
            Habit::Hung { request, ends, why } => {
                let until = if ends { "time-out" } else { "ever" };
                vec![("of".into(), Value::Uint(request)), ("until".into(), text(until)), ("why".into(), text(why))]
            }
            Habit::Ended { why, deletes } => {
                vec![("why".into(), text(why)), ("deletes".into(), Value::Bool(deletes))]
            }
            Habit::Broke { why } => vec![("why".into(), text(why))],
            Habit::Renews => Vec::new(),
        };
        recorder::record(Stream::History, habit.word(), Some(client), fields);
    }
}
