//! The story of seed document 000 as a hand-made trace, and the plan that it obeys.

use super::Builder;
use crate::plan::{Action, ClientPlan, Edge, Effect, ErrorKind, FaultPlan, Plan, Step, When, sample};
use crate::trace::{Stream, Value};
use serde_json::json;

/// The plan that the story obeys: timeout 1,000 ms, one client, handshake, stream and two calls.
pub fn plan() -> Plan {
    let mut plan = sample();
    let step = |at_ms, action| Step { at_ms, action };
    let call = |code: &str| Action::Call { code: code.into(), overlap: false };
    plan.clients = vec![ClientPlan {
        steps: vec![
            step(0, Action::Open {}),
            step(10, Action::Stream {}),
            step(20, call("return \"before-1\"")),
            step(5_020, call("return \"after-1\"")),
        ],
        ..plan.clients[0].clone()
    }];
    plan
}

/// The same with a fault 0 that makes a write of the alarm fail.
pub fn plan_with_failing_alarm_write() -> Plan {
    let mut plan = plan();
    let when = When::Operation {
        operation: "clock · storage.setAlarm idle".into(),
        root: None,
        edge: Edge::Begin,
        n: 1,
        session: None,
    };
    let effect = Effect::Fail { error: ErrorKind::CodeUpdate, text: None, flags: None, lasting: false };
    plan.faults = vec![FaultPlan::new(when, effect)];
    plan
}

/// What a right answer to `return "<text>"` looks like.
pub fn answer(text: &str) -> Value {
    let structured = json!({"status": "completed", "result": text, "logs": []});
    Value::Json(json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
    }))
}

/// The whole story: disposed at 1,021 ms, served again at 5,020, disposed at 6,024, touched, disposed.
pub fn story() -> Builder {
    Builder::default()
        .phase(0, "steps")
        .platform(0, "i1", "isolate.started", &[("isolate", "i1".into())])
        .begin(0, 1, 0, "open")
        .platform(2, "s1", "object.constructed", &[("isolate", "i1".into())])
        .build_runtime(3, 1)
        .end(8, 1, json!({"protocolVersion": "2025-03-26"}).into())
        .begin(9, 2, 0, "initialized")
        .history(9, "s1", "request.head", &[("request", 2_u64.into()), ("status", 202_u64.into())])
        .history(9, "s1", "request.end", &[("request", 2_u64.into()), ("outcome", "answered".into())])
        .begin(10, 3, 1, "stream")
        .activity(11)
        .platform(12, "s1", "socket.opened", &[("socket", 1_u64.into()), ("method", "GET".into())])
        .history(13, "s1", "request.head", &[("request", 3_u64.into()), ("status", 200_u64.into())])
        .platform(14, "s1", "socket.closed", &[("socket", 1_u64.into()), ("by", "object".into())])
        .history(15, "s1", "request.end", &[("request", 3_u64.into()), ("outcome", "ended".into())])
        .call(20, 4, 2, "before-1")
        .dispose(1_021, 1_000, 1, 0)
        .begin(5_020, 5, 3, "call")
        .build_runtime(5_022, 2)
        .served(5_024, 5, "after-1")
        .phase(5_040, "quiet")
        .dispose(6_024, 1_000, 2, 0)
        .phase(95_000, "touch")
        .begin(95_000, 6, 4, "touch")
        .build_runtime(95_002, 3)
        .served(95_004, 6, "touch-s1")
        .phase(95_040, "quiet-after")
        .dispose(96_004, 1_000, 3, 0)
        .phase(150_000, "end")
}

fn isolate() -> (&'static str, Value) {
    ("isolate", "i1".into())
}

impl Builder {
    fn begin(self, at_ms: u64, request: u64, step: u64, op: &str) -> Self {
        let fields = [("request", request.into()), ("step", step.into()), ("op", op.into())];
        self.history(at_ms, "s1", "request.begin", &fields)
    }

    fn end(self, at_ms: u64, request: u64, answer: Value) -> Self {
        let outcome = [("request", request.into()), ("outcome", "answered".into()), ("answer", answer)];
        self.history(at_ms, "s1", "request.head", &[("request", request.into()), ("status", 200_u64.into())]).history(
            at_ms,
            "s1",
            "request.end",
            &outcome,
        )
    }

    fn activity(self, at_ms: u64) -> Self {
        let due = at_ms + 1_000;
        self.state(at_ms, "s1", "activity", &[]).platform(
            at_ms,
            "s1",
            "alarm.set",
            &[("due_at_ms", due.into()), ("by", "clock".into())],
        )
    }

    fn build_runtime(self, at_ms: u64, number: u64) -> Self {
        self.state(at_ms, "s1", "start.begin", &[])
            .state(at_ms, "s1", "init.begin", &[])
            .state(at_ms, "s1", "cap.checked", &[isolate(), ("cap", 32_u64.into()), ("over", false.into())])
            .state(at_ms, "s1", "reservation.taken", &[isolate(), ("in_flight", 1_u64.into())])
            .state(at_ms, "s1", "permit.granted", &[isolate(), ("active", 1_u64.into())])
            .state(at_ms + 2, "s1", "permit.returned", &[isolate(), ("active", 0_u64.into())])
            .state(at_ms + 2, "s1", "registry.added", &[isolate()])
            .state(at_ms + 2, "s1", "runtime.installed", &[("runtime", number.into())])
            .state(at_ms + 2, "i1", "gauge", &[isolate(), ("residents", 1_u64.into())])
            .activity(at_ms + 2)
            .state(at_ms + 3, "s1", "reservation.returned", &[isolate(), ("in_flight", 0_u64.into())])
            .state(at_ms + 3, "s1", "init.end", &[("outcome", "ok".into())])
            .state(at_ms + 3, "s1", "start.end", &[("outcome", "ok".into())])
    }

    fn call(self, at_ms: u64, request: u64, step: u64, text: &str) -> Self {
        self.begin(at_ms, request, step, "call").activity(at_ms + 1).served(at_ms + 4, request, text)
    }

    /// The request reaches the session, the framework deletes the alarm, and the core sets it again.
    fn served(self, at_ms: u64, request: u64, text: &str) -> Self {
        let row = [("key", format!("__mcp_stream_reqs__:c{request}").as_str().into())];
        let due_ms = if at_ms < 1_000 { 1_021 } else { at_ms + 1_000 };
        let due = [("due_at_ms", due_ms.into()), ("by", "clock".into())];
        let stream = [("stream", format!("c{request}").as_str().into())];
        self.platform(at_ms, "s1", "storage.put", &row)
            .state(at_ms + 1, "s1", "response.due", &stream)
            .platform(at_ms + 1, "s1", "storage.deleted", &row)
            .platform(at_ms + 2, "s1", "alarm.deleted", &[("by", "agents.schedule".into())])
            .platform(at_ms + 3, "s1", "alarm.set", &due)
            .end(at_ms + 4, request, answer(text))
    }

    /// The alarm fires and the session is disposed; idle time and lateness in ms.
    pub fn dispose(self, at_ms: u64, idle_ms: u64, runtime: u64, late_ms: u64) -> Self {
        let number = [("runtime", runtime.into())];
        let begin = [
            ("reason", "idle".into()),
            ("idle_ms", idle_ms.into()),
            ("paused", 0_u64.into()),
            ("streams", 0_u64.into()),
        ];
        let fired = [("due_at_ms", (at_ms - late_ms).into()), ("late_ms", late_ms.into()), ("retry", 0_u64.into())];
        let gauge = [("isolate", "i1".into()), ("residents", 0_u64.into())];
        let key = [("key", "last-activity-ms".into())];
        let ok = [("outcome", "ok".into())];
        self.platform(at_ms, "s1", "alarm.fired", &fired)
            .disposal_log(at_ms, idle_ms)
            .state(at_ms, "s1", "disposal.begin", &begin)
            .state(at_ms, "s1", "teardown.begin", &[])
            .state(at_ms, "s1", "server.closed", &number)
            .state(at_ms, "s1", "db.ended", &number)
            .state(at_ms, "i1", "gauge", &gauge)
            .state(at_ms, "s1", "registry.removed", &[isolate()])
            .state(at_ms, "s1", "runtime.released", &number)
            .state(at_ms, "s1", "teardown.end", &[])
            .platform(at_ms + 1, "s1", "storage.deleted", &key)
            .disposal_span(at_ms, idle_ms)
            .state(at_ms + 2, "s1", "disposal.end", &ok)
            .platform(at_ms + 2, "s1", "alarm.ended", &ok)
    }

    fn disposal_log(self, at_ms: u64, idle_ms: u64) -> Self {
        let told = [
            ("what", "log".into()),
            ("level", "info".into()),
            ("sessionId", "id-1".into()),
            ("idleMs", idle_ms.into()),
            ("pausedExecutionCount", 0_u64.into()),
            ("activeStreamCount", 0_u64.into()),
            ("reason", "idle".into()),
        ];
        let name = "mcp_session_idle_runtime_dispose";
        self.event(at_ms, Stream::Telemetry, Some("s1"), name, &told)
    }

    fn disposal_span(self, at_ms: u64, idle_ms: u64) -> Self {
        let attributes = json!({
            "mcp.session.id": "id-1",
            "mcp.session.idle_ms": idle_ms,
            "mcp.session.paused_execution_count": 0,
            "mcp.session.active_stream_count": 0,
            "mcp.session.dispose_reason": "idle",
            "mcp.isolate.resident_runtimes": 0,
        });
        let span = [
            ("what", "span".into()),
            ("start_at_ms", at_ms.into()),
            ("end_at_ms", (at_ms + 1).into()),
            ("attributes", attributes.into()),
        ];
        let name = "mcp.session.idle_runtime_dispose";
        self.event(at_ms + 2, Stream::Telemetry, Some("s1"), name, &span)
    }
}
