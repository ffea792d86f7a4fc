//! What can be done to a session on a stand.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::gates::{Shared, next};
use super::runtime::StandEngine;
use super::state::{StandState, settled};
use crate::agents::schedule::{KeepAlive, keep_alive};
use crate::agents::{DESTROY_PENDING_KEY, STREAM_REQUESTS_PREFIX};
use crate::fx::{Cause, Fiber};
use crate::js::call;
use crate::platform::{JsError, LocalFuture};
use crate::session::engine::Outcome;
use crate::session::execution::ExecutionEngine;
use crate::session::interaction::Response;
use crate::session::leases::{self, Deadline};
use crate::session::model_resume::{Refusal, Resumed, fallback, resume_here};
use crate::session::ownership::{Identity, validate_mcp_session_owner};
use crate::session::{SessionObject, alarm, approval_rpc, approvals, apps, cap, clock, init, model_resume, start};

/// Something that is done to a session: an entry point of the class, or a change of what it stands on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum Act {
    /// `init()`.
    Init,
    /// `onStart`, with the session's props or without.
    OnStart {
        /// Whether it is given props.
        props: bool,
    },
    /// The alarm handler; the slot stays as it is.
    Alarm,
    /// The owner check.
    Validate {
        /// Who asks.
        who: Who,
    },
    /// `requestCapEviction()`.
    Evict,
    /// An execution pauses in the engine that is there, and its lease is queued.
    Pause {
        /// The execution.
        e: String,
    },
    /// The tool `resume` in mode `model`.
    ToolResume {
        /// The execution.
        e: String,
        /// The decision.
        action: String,
    },
    /// `resumeExecutionForModel`.
    ModelResume {
        /// The execution.
        e: String,
        /// The decision.
        action: String,
        /// Who asks.
        who: Who,
    },
    /// `getPausedExecutionForApproval`.
    GetPaused {
        /// The execution.
        e: String,
        /// Who asks.
        who: Who,
    },
    /// `resumeExecutionForApproval`.
    Approve {
        /// The execution.
        e: String,
        /// The decision.
        action: String,
        /// Who asks.
        who: Who,
    },
    /// Waits for a decision in the browser.
    Wait {
        /// The execution.
        e: String,
    },
    /// Takes a decision.
    Take {
        /// The execution.
        e: String,
    },
    /// Interrupts a wait.
    AbortWait {
        /// The number under which it began.
        i: usize,
    },
    /// `persistAppsEnabled`.
    Apps {
        /// Whether the client renders apps.
        v: bool,
    },
    /// `markActivity()`.
    Touch,
    /// `keepAlive()`.
    #[serde(rename = "ka+")]
    KeepAlive,
    /// Gives a keep-alive reference back.
    #[serde(rename = "ka-")]
    KeepAliveEnds {
        /// The number under which it was taken.
        i: usize,
    },
    /// A connection more.
    #[serde(rename = "conn+")]
    Connect,
    /// The oldest connection is gone.
    #[serde(rename = "conn-")]
    Disconnect,
    /// A request has no answer yet.
    #[serde(rename = "req+")]
    Request {
        /// Its stream.
        k: Value,
    },
    /// A request was answered.
    #[serde(rename = "req-")]
    RequestEnds {
        /// Its stream.
        k: Value,
    },
    /// The destroy marker is there.
    Condemn,
    /// `ctx.id.name` is undefined from now on.
    DropName,
    /// `ctx.id.name` is there again.
    RestoreName,
    /// Interrupts the init that runs.
    AbortInit,
    /// Interrupts the disposal that runs.
    AbortDispose,
}

/// Who asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// The owner.
    Owner,
    /// Another account of the organisation.
    User,
    /// The same account in another organisation.
    Org,
}

impl Who {
    fn account(self) -> &'static str {
        if self == Who::User { "user-2" } else { "user-1" }
    }

    fn organization(self) -> &'static str {
        if self == Who::Org { "org-2" } else { "org-1" }
    }
}

type Reference = Rc<KeepAlive<SessionObject>>;

/// What was begun and can be ended, by its number.
#[derive(Default)]
pub(super) struct Kept {
    references: RefCell<BTreeMap<usize, Reference>>,
    waits: RefCell<BTreeMap<usize, Fiber>>,
}

/// An act on its way.
pub(super) struct Doing {
    pub number: usize,
    pub session: Rc<SessionObject>,
    pub state: Rc<StandState>,
    pub props: Value,
    pub shared: Rc<Shared>,
    pub kept: Rc<Kept>,
}

type Outcomes = LocalFuture<Result<Value, JsError>>;

/// What a method that returns nothing comes to.
fn nothing(done: impl Future<Output = Result<(), JsError>> + 'static) -> Outcomes {
    Box::pin(async move { done.await.map(|()| Value::Null) })
}

impl Doing {
    /// Does it; the outcome of what takes time is told when it is there.
    pub fn run(self, act: Act) {
        let Some(running) = self.start(act) else { return };
        let (number, shared) = (self.number, self.shared);
        drop(call(async move {
            let told = match running.await {
                Ok(value) => json!(["settle", number, "ok", value]),
                Err(error) => json!(["settle", number, format!("err: {}", settled(&error))]),
            };
            (shared.tell)(told);
        }));
    }

    fn start(&self, act: Act) -> Option<Outcomes> {
        let session = Rc::clone(&self.session);
        Some(match act {
            Act::Init => nothing(init::init(session)),
            Act::OnStart { props } => nothing(start::on_start(session, props.then(|| self.props.clone()))),
            Act::Alarm => nothing(alarm::alarm(session)),
            Act::Validate { who } => Box::pin(validate(session, who)),
            Act::Evict => nothing(cap::request_cap_eviction(session)),
            Act::Pause { e } => return self.pause(&e.into()),
            Act::ToolResume { e, action } => return self.resume_by_tool(e.into(), &action),
            Act::ModelResume { e, action, who } => {
                let resumed = model_resume::resume_for_model(session, arguments(&e, who, Some(&action)));
                Box::pin(async move { resumed.await.map(formatted) })
            }
            Act::GetPaused { e, who } => {
                let shown = approval_rpc::get_paused(session, arguments(&e, who, None));
                Box::pin(async move { shown.await.map(formatted) })
            }
            Act::Approve { e, action, who } => {
                Box::pin(approval_rpc::approve(session, arguments(&e, who, Some(&action))))
            }
            Act::Wait { e } => self.wait(e.into()),
            Act::Take { e } => Box::pin(async move { approvals::take(session, e.into()).await.map(response_or_null) }),
            Act::Apps { v } => Box::pin(async move {
                drop(apps::persist_apps_enabled(&session, v, None).await);
                Ok(Value::Null)
            }),
            Act::Touch => nothing(async move { clock::mark_activity(&session).await }),
            Act::KeepAlive => self.keep_alive(),
            other => {
                self.change(other);
                return None;
            }
        })
    }

    /// What has no outcome.
    fn change(&self, act: Act) {
        let values = &self.state.values;
        let row = |stream: &Value| -> Arc<str> {
            let stream = stream.as_str().map_or_else(|| stream.to_string(), str::to_owned);
            format!("{STREAM_REQUESTS_PREFIX}{stream}").into()
        };
        match act {
            Act::AbortWait { i } => self.kept.waits.borrow().get(&i).into_iter().for_each(Fiber::interrupt),
            Act::KeepAliveEnds { i } => {
                let reference = self.kept.references.borrow().get(&i).cloned();
                reference.iter().for_each(|reference| reference.give_back());
            }
            Act::Connect => self.state.connections.borrow_mut().push(next(&self.shared.connections)),
            Act::Disconnect => {
                let mut connections = self.state.connections.borrow_mut();
                if !connections.is_empty() {
                    connections.remove(0);
                }
            }
            Act::Request { k } => drop(values.borrow_mut().insert(row(&k), Arc::new(json!([1])))),
            Act::RequestEnds { k } => drop(values.borrow_mut().remove(&row(&k))),
            Act::Condemn => drop(values.borrow_mut().insert(DESTROY_PENDING_KEY.into(), Arc::new(json!(true)))),
            Act::DropName => self.state.named.set(false),
            Act::RestoreName => self.state.named.set(true),
            Act::AbortInit => self.abort(&self.session.init_abort),
            Act::AbortDispose => self.abort(&self.session.dispose_abort),
            _ => unreachable!("everything else has an outcome"),
        }
    }

    fn abort(&self, handle: &RefCell<Option<Fiber>>) {
        let fiber = handle.borrow().clone();
        match fiber {
            Some(fiber) => fiber.interrupt(),
            None => self.skip(),
        }
    }

    fn skip(&self) {
        (self.shared.tell)(json!(["skip"]));
    }

    fn engine(&self) -> Option<Rc<StandEngine>> {
        let engine: Rc<dyn Any> = self.session.engine.borrow().clone()?;
        engine.downcast().ok()
    }

    fn pause(&self, id: &Arc<str>) -> Option<Outcomes> {
        let Some(engine) = self.engine() else {
            self.skip();
            return None;
        };
        let number = id.strip_prefix('x').and_then(|number| number.parse::<u64>().ok());
        let seen = number.map_or(0, |number| number.saturating_add(1));
        self.shared.next_pause.set(self.shared.next_pause.get().max(seen));
        engine.pause(id);
        leases::queue_start(&self.session, id, Deadline::from_now());
        Some(Box::pin(std::future::ready(Ok(Value::Null))))
    }

    fn resume_by_tool(&self, id: Arc<str>, action: &str) -> Option<Outcomes> {
        let Some(engine) = self.engine() else {
            self.skip();
            return None;
        };
        let (session, response) = (Rc::clone(&self.session), response(action));
        Some(Box::pin(async move {
            let engine: Rc<dyn ExecutionEngine> = engine;
            match resume_here(&session, &engine, &id, response.clone(), None).await? {
                Some(Outcome::Completed(result)) => {
                    Ok(json!({"status": "completed", "result": result.outcome.unwrap_or_default()}))
                }
                Some(Outcome::Paused(pause)) => {
                    leases::queue_start(&session, &pause.id, Deadline::from_now());
                    Ok(json!({"status": "paused", "id": &*pause.id}))
                }
                None if engine.is_execution_settled(&id) => Ok(Resumed::Refused(Refusal::AlreadySettled).to_json()),
                None => {
                    let resumed = fallback(&session, &id, &response, None).await;
                    Ok(resumed.unwrap_or(Resumed::Refused(Refusal::NotFound)).to_json())
                }
            }
        }))
    }

    fn wait(&self, id: Arc<str>) -> Outcomes {
        let (session, fiber) = (Rc::clone(&self.session), Fiber::new());
        self.kept.waits.borrow_mut().insert(self.number, fiber.clone());
        Box::pin(async move {
            let decided = approvals::wait(&session, &id, true, &fiber).await;
            decided.map(response_or_null).map_err(Cause::into_error)
        })
    }

    fn keep_alive(&self) -> Outcomes {
        let (session, kept, number) = (Rc::clone(&self.session), Rc::clone(&self.kept), self.number);
        Box::pin(async move {
            let reference = keep_alive(session).await?;
            kept.references.borrow_mut().insert(number, Rc::new(reference));
            Ok(Value::Null)
        })
    }
}

/// An answer as the stand's host formats it: a pause is shown by its id, without the question.
fn formatted(mut answer: Value) -> Value {
    for (text, structured) in [("/text", "/structured"), ("/result/content/0/text", "/result/structuredContent")] {
        let Some(shown) = answer.pointer_mut(structured).and_then(Value::as_object_mut) else { continue };
        if shown.remove("interaction").is_some() {
            let id = shown["executionId"].as_str().unwrap_or_default().to_owned();
            answer.pointer_mut(text).into_iter().for_each(|text| *text = json!(format!("paused {id}")));
        }
    }
    answer
}

async fn validate(session: Rc<SessionObject>, who: Who) -> Result<Value, JsError> {
    let identity = Identity { account_id: who.account().into(), organization_id: who.organization().into() };
    validate_mcp_session_owner(session, identity).await.map(|verdict| json!(verdict.word()))
}

fn response(action: &str) -> Response {
    Response::from_json(&json!({"action": action})).unwrap_or_else(Response::none)
}

fn response_or_null(response: Option<Response>) -> Value {
    response.map_or(Value::Null, |response| response.to_json())
}

fn arguments(id: &str, who: Who, action: Option<&str>) -> Value {
    let (account, organization) = (who.account(), who.organization());
    let mut arguments = json!({"executionId": id, "accountId": account, "organizationId": organization});
    if let Some(action) = action {
        arguments["response"] = json!({"action": action});
    }
    arguments
}
