//! Performs a plan's steps with model clients, in its phases, and writes the history of what they asked and got.

mod history;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::task::Poll;

use model::client::{CallOptions, Client, ClientConfig, ClientObserver, Cut, RequestOutcome, persona};
use model::deployment::{Caller, EDGE};
use model::rt::{self, Node};
use scenarios::plan::{self, Action, ClientPlan, Elicitation, Plan, Token};
use scenarios::trace::{Name, Stream, Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::callers::Calling;
use crate::director::Director;
use crate::objects::Objects;
use crate::recorder;
use history::History;

/// Clients on one machine; more would make the simulated network look for free ports.
pub const CLIENTS_A_NODE: usize = 50;

/// What the phases tell a client.
enum Order {
    Touch,
}

struct Running {
    orders: UnboundedSender<Order>,
    touchable: Rc<Cell<bool>>,
}

/// The clients of one run.
pub struct Driver {
    nodes: Vec<Node>,
    running: Vec<Running>,
    /// One message for each client that has done what it was told.
    done: UnboundedReceiver<()>,
}

/// What all clients of a run share; they live on one thread.
struct Shared {
    director: Rc<Director>,
    requests: Cell<u64>,
    /// The session and the execution that each client was last told waits for a person.
    paused: RefCell<BTreeMap<String, (String, String)>>,
    /// The session that each client uses.
    sessions: RefCell<BTreeMap<String, String>>,
    done: UnboundedSender<()>,
}

/// What a client takes over when its machine starts it.
type Handover = (Rc<Shared>, Rc<Cell<bool>>, UnboundedReceiver<Order>);

thread_local! {
    /// Crosses to the clients' machines, whose tasks may capture only `Send` data.
    static STARTING: RefCell<Option<Handover>> = const { RefCell::new(None) };
}

/// Runs the plan from its first step to its last quiet.
pub async fn drive(plan: &Plan, director: &Rc<Director>, objects: &Rc<Objects>, caller: Caller) -> Driver {
    phase("steps", director);
    start_timed_faults(director, objects);
    let calling = Calling::start(&plan.callers, caller, objects);
    let mut driver = Driver::start(plan, director).await;
    driver.all_done(driver.running.len()).await;
    calling.all_done().await;
    phase("quiet", director);
    rt::sleep_ms(plan.settle.quiet_ms.max(1)).await;
    if plan.settle.touch {
        phase("touch", director);
        let touched = driver.touch_all();
        driver.all_done(touched).await;
    }
    phase("quiet-after", director);
    rt::sleep_ms(plan.settle.quiet_after_ms.max(1)).await;
    objects.tell();
    phase("end", director);
    driver
}

fn phase(name: &'static str, director: &Director) {
    let mut fields: Vec<(Name, Value)> = vec![("phase".into(), Value::Text(name.into()))];
    if name == "end" {
        fields.push(("operations".into(), Value::Uint(director.operation_count())));
        fields.push(("operation_order".into(), Value::Text(format!("{:016x}", director.operation_hash()).into())));
    }
    recorder::record(Stream::Phase, "phase", None, fields);
}

fn start_timed_faults(director: &Rc<Director>, objects: &Rc<Objects>) {
    for (at_ms, fault, is_release) in director.faults().timed() {
        let (director, objects) = (Rc::clone(director), Rc::clone(objects));
        rt::spawn("fault.timed", async move {
            rt::sleep_until_ms(rt::EPOCH_MS + at_ms).await;
            director.faults().at_time(fault, is_release, |session| objects.key(session));
        });
    }
}

impl Driver {
    async fn start(plan: &Plan, director: &Rc<Director>) -> Driver {
        let (send, done) = unbounded_channel();
        let shared = Rc::new(Shared {
            director: Rc::clone(director),
            requests: Cell::new(0),
            paused: RefCell::default(),
            sessions: RefCell::default(),
            done: send,
        });
        let mut driver = Driver { nodes: Vec::new(), running: Vec::new(), done };
        for (index, client) in plan.clients.iter().enumerate() {
            if index % CLIENTS_A_NODE == 0 {
                let number = u8::try_from(index / CLIENTS_A_NODE + 1).unwrap_or(u8::MAX);
                driver.nodes.push(Node::create("clients", IpAddr::V4(Ipv4Addr::new(10, 4, number, 1))));
            }
            driver.start_client(&shared, client).await;
        }
        driver
    }

    /// Starts a client on its machine and lets it take what it shares with the others.
    async fn start_client(&mut self, shared: &Rc<Shared>, plan: &ClientPlan) {
        let (orders, received) = unbounded_channel();
        let touchable = Rc::new(Cell::new(false));
        STARTING.set(Some((Rc::clone(shared), Rc::clone(&touchable), received)));
        let plan = plan.clone();
        if let Some(node) = self.nodes.last() {
            node.run(move || run_client(plan));
        }
        self.running.push(Running { orders, touchable });
        while STARTING.with_borrow(Option::is_some) {
            yield_once().await;
        }
    }

    fn touch_all(&self) -> usize {
        let touchable: Vec<&Running> = self.running.iter().filter(|client| client.touchable.get()).collect();
        // A client whose machine is gone cannot be touched; none is in this version.
        touchable.iter().filter(|client| client.orders.send(Order::Touch).is_ok()).count()
    }

    async fn all_done(&mut self, count: usize) {
        for _ in 0..count {
            self.done.recv().await;
        }
    }

    /// Ends the clients' machines.
    pub fn stop(&self) {
        self.nodes.iter().for_each(Node::kill);
    }
}

async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// One client: its steps in order, then what the phases tell it.
async fn run_client(plan: ClientPlan) {
    let taken = STARTING.take();
    let Some((shared, touchable, mut orders)) = taken else { return };
    let history = Rc::new(History::new(Rc::clone(&shared), plan.persona.is_some()));
    let client = Client::new(config_of(&plan), Rc::clone(&history) as Rc<dyn ClientObserver>);
    let overlapping = Rc::new(Overlap::default());
    let own = Own {
        name: plan.name.as_str().into(),
        account: plan.account.clone(),
        organization: plan.organization.clone(),
        is_persona: plan.persona.is_some(),
    };
    let performer =
        Performer { own: Rc::new(own), client: Rc::clone(&client), history: Rc::clone(&history), overlapping };
    for (index, step) in plan.steps.iter().enumerate() {
        rt::sleep_until_ms(rt::EPOCH_MS + step.at_ms.max(1)).await;
        // Decisions are named by the step that began last: what else happens in this millisecond comes before it.
        rt::sleep_until_half_past_ms().await;
        history.begin_step(&plan.name, index);
        performer.perform(&step.action).await;
        history.uses(&plan.name, client.session());
        touchable.set(client.session().is_some() && !was_closed(&plan, index));
    }
    performer.overlapping.all_ended().await;
    history.say_done();
    let mut step = plan.steps.len();
    while let Some(Order::Touch) = orders.recv().await {
        rt::sleep_until_half_past_ms().await;
        history.begin_step(&plan.name, step);
        client.touch(&plan.touch_code()).await;
        step += 1;
        history.say_done();
    }
}

/// Whether the client had no session of its own after step `index`: it had ended it, or taken another's.
fn was_closed(plan: &ClientPlan, index: usize) -> bool {
    let before = plan.steps[..=index].iter().rev();
    let last = before
        .map(|step| &step.action)
        .find(|action| matches!(action, Action::Close {} | Action::Open {} | Action::Adopt { .. }));
    matches!(last, Some(Action::Close {} | Action::Adopt { .. }))
}

/// Who a client is.
struct Own {
    name: String,
    account: String,
    organization: String,
    /// Whether it does more than its steps say.
    is_persona: bool,
}

/// What a client's steps are done with.
struct Performer {
    own: Rc<Own>,
    client: Rc<Client>,
    history: Rc<History>,
    overlapping: Rc<Overlap>,
}

impl Performer {
    async fn perform(&self, action: &Action) {
        let (client, name) = (&self.client, self.own.name.as_str());
        match action {
            Action::Open {} => drop(client.open().await),
            // A persona listens and recovers by itself.
            Action::Stream {} | Action::Listen {} | Action::EndStream {} | Action::Recover { .. }
                if self.own.is_persona => {}
            Action::Stream {} => drop(client.stream(false).await),
            Action::Listen {} => drop(client.stream(true).await),
            Action::Adopt { of } => {
                if let Some(session) = self.history.session_of(of) {
                    client.adopt(session);
                    self.history.say_adopted(name, of);
                }
            }
            Action::Call { code, overlap } => {
                let (client, code) = (Rc::clone(client), code.clone());
                self.ask(*overlap, async move { client.call(&code, CallOptions::default()).await }).await;
            }
            Action::Post { code, copies, cut } => {
                let options = CallOptions { copies: *copies, cut: cut.map(cut_of) };
                self.history.learn(name, client, &client.call(code, options).await);
            }
            Action::Recover { fresh, cut } => drop(client.recover(*fresh, cut.map(cut_of)).await),
            Action::Resume { response, of, overlap } => {
                let (_, execution) = self.history.paused_of(of.as_deref().unwrap_or(name));
                let (client, word) = (Rc::clone(client), response.word());
                self.ask(*overlap, async move { client.resume(&execution, word).await }).await;
            }
            Action::Decide { response, of } => {
                let of = of.as_deref().unwrap_or(name);
                let (session, execution) = self.history.paused_of(of);
                drop(client.look(&session, &execution).await);
                let (session, execution) = self.history.paused_of(of);
                drop(client.decide(&session, &execution, response.word()).await);
            }
            Action::Present { token } => client.present(&token.bearer(&self.own.account, &self.own.organization)),
            Action::Ping {} => drop(client.ping().await),
            Action::EndStream {} => client.end_stream(),
            Action::Stall { ms } => client.stall(*ms),
            Action::Close {} => drop(client.close().await),
        }
    }

    /// A request whose answer may tell of a pause; with `overlap` it begins now and goes on beside the next step.
    async fn ask(&self, overlap: bool, request: impl Future<Output = RequestOutcome> + 'static) {
        let (own, history, client) = (Rc::clone(&self.own), Rc::clone(&self.history), Rc::clone(&self.client));
        if !overlap {
            return history.learn(&own.name, &client, &request.await);
        }
        let overlapping = Rc::clone(&self.overlapping);
        overlapping.begin();
        let mut call = Box::pin(async move {
            history.learn(&own.name, &client, &request.await);
            overlapping.end();
        });
        let ended = std::future::poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_ready())).await;
        if !ended {
            rt::spawn("client.call", call);
        }
    }
}

fn cut_of(cut: plan::Cut) -> Cut {
    Cut { after_events: cut.after_events, ms: cut.ms }
}

fn config_of(plan: &ClientPlan) -> ClientConfig {
    ClientConfig {
        account: plan.account.clone(),
        organization: plan.organization.clone(),
        bearer: Token::Own.bearer(&plan.account, &plan.organization),
        request_timeout_ms: plan.request_timeout_ms,
        reopen_stream: plan.reopen_stream,
        persona: plan.persona.as_deref().and_then(persona::find),
        target: match plan.elicitation {
            Elicitation::Model => "/mcp".to_owned(),
            Elicitation::Browser => "/mcp?elicitation_mode=browser".to_owned(),
        },
        ..ClientConfig::new(&plan.name, EDGE)
    }
}

/// Calls of a client that its next step did not wait for.
#[derive(Default)]
struct Overlap {
    count: Cell<usize>,
    ended: tokio::sync::Notify,
}

impl Overlap {
    fn begin(&self) {
        self.count.set(self.count.get() + 1);
    }

    fn end(&self) {
        self.count.set(self.count.get() - 1);
        self.ended.notify_one();
    }

    async fn all_ended(&self) {
        while self.count.get() > 0 {
            self.ended.notified().await;
        }
    }
}
