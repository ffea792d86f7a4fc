//! The probes' class that serves MCP: four tools on the framework's server, transport and event store.

use super::super::front::{Answer, sleep};
use super::behaviours::{self, Probed, log};
use model::agents::mcp_server::{McpServer, Server, Tools};
use model::agents::schedule::{self, KeepAlive};
use model::agents::transport::RequestExtra;
use model::agents::{AgentHost, AgentState, mcp_agent, party_server};
use model::config::HostConfig;
use model::js::js;
use model::platform::{
    AlarmInfo, DurableObject, FetchRequest, FetchResponse, JsError, LocalFuture, ObjectContext, Socket,
};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// One incarnation.
pub struct Mcp {
    state: AgentState,
    config: Rc<HostConfig>,
    instance: u64,
    server: Rc<McpServer>,
    kept: RefCell<Vec<KeepAlive<Mcp>>>,
}

impl Mcp {
    /// The constructor.
    pub fn construct(ctx: ObjectContext) -> Rc<dyn DurableObject> {
        let state = AgentState::new(ctx);
        let instance = behaviours::construct(&state);
        Rc::new_cyclic(|own: &Weak<Mcp>| {
            let server = McpServer::new("probe", "1.0.0", Rc::new(Toolbox(own.clone())));
            server.declare("logging", json!({}));
            Mcp { state, config: Rc::default(), instance, server, kept: RefCell::default() }
        })
    }

    async fn run_tool(self: Rc<Self>, name: Tool, arguments: Value) -> Answer {
        let (ms, instance) = (arguments["ms"].as_u64().unwrap_or(0), self.instance);
        let text = match name {
            Tool::Echo => format!("{} from {instance}", arguments["text"].as_str().unwrap_or_default()),
            Tool::Slow => {
                log(&self.state, "slow-start", Value::Null);
                sleep(ms).await;
                log(&self.state, "slow-end", Value::Null);
                format!("slow done {instance}")
            }
            Tool::SlowKeep => {
                js(schedule::keep_alive_while(Rc::clone(&self), sleep(ms))).await?;
                format!("kept done {instance}")
            }
            Tool::Notify => {
                let params = json!({ "level": "info", "data": format!("hello from {instance}") });
                self.server.notify("notifications/message", params).await?;
                "ok".to_owned()
            }
        };
        Ok(json!({ "content": [{ "type": "text", "text": text }] }))
    }
}

/// The tools.
#[derive(Clone, Copy)]
enum Tool {
    Echo,
    Slow,
    SlowKeep,
    Notify,
}

/// The tools of an agent, which owns the server that owns them.
struct Toolbox(Weak<Mcp>);

impl Tools for Toolbox {
    fn list(&self) -> Value {
        json!(["echo", "slow", "slowKeep", "notify"])
    }

    fn call(self: Rc<Self>, name: &str, arguments: Value, _: RequestExtra) -> Option<LocalFuture<Answer>> {
        let tool = match name {
            "echo" => Tool::Echo,
            "slow" => Tool::Slow,
            "slowKeep" => Tool::SlowKeep,
            "notify" => Tool::Notify,
            _ => return None,
        };
        let agent = self.0.upgrade()?;
        Some(Box::pin(agent.run_tool(tool, arguments)))
    }
}

impl Probed for Mcp {
    fn instance(&self) -> u64 {
        self.instance
    }

    fn start_count(&self) -> u64 {
        0
    }

    fn kept(&self) -> &RefCell<Vec<KeepAlive<Mcp>>> {
        &self.kept
    }
}

impl AgentHost for Mcp {
    fn agent(&self) -> &AgentState {
        &self.state
    }

    fn config(&self) -> &Rc<HostConfig> {
        &self.config
    }

    fn on_start(self: Rc<Self>, props: Option<Value>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(mcp_agent::start_body(self, props))
    }

    fn init(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        let props = self.state.props.borrow().clone();
        log(&self.state, "init", json!({ "props": props }));
        Box::pin(std::future::ready(Ok(())))
    }

    fn server(&self) -> Option<Rc<dyn Server>> {
        Some(Rc::clone(&self.server) as Rc<dyn Server>)
    }

    fn on_connect(self: Rc<Self>, socket: Socket, request: FetchRequest) -> LocalFuture<Result<(), JsError>> {
        Box::pin(mcp_agent::on_connect(self, socket, request))
    }
}

impl DurableObject for Mcp {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Answer> {
        Box::pin(async move {
            match method {
                "getInitializeRequest" => mcp_agent::get_initialize_request(&self.state).await,
                "setInitializeRequest" => {
                    let message = arguments["message"].clone();
                    mcp_agent::set_initialize_request(&self.state, message).await.map(|()| Value::Null)
                }
                _ => behaviours::behave(self, method, arguments).await,
            }
        })
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        Box::pin(party_server::fetch(self, request))
    }

    fn alarm(self: Rc<Self>, _: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        log(&self.state, "mcp-alarm", Value::Null);
        Some(Box::pin(mcp_agent::alarm(self)))
    }

    fn socket_message(self: Rc<Self>, _: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move {
            js(party_server::ensure_initialized(Rc::clone(&self))).await?;
            mcp_agent::on_message(&self.state, &text).await;
            Ok(())
        })
    }

    fn socket_close(self: Rc<Self>, _: Socket, _: u16) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move { js(party_server::ensure_initialized(self)).await })
    }
}
