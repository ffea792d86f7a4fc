//! A probe as a program on our platform, and the lists of all of them.

use super::front::Answer;
use super::world::World;
use model::platform::LocalFuture;
use std::rc::Rc;

/// Whose scripts a probe belongs to: their ids are not the same things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The runtime alone.
    Core,
    /// The agents and partyserver packages on it.
    Agents,
}

/// What a probe does; it answers in the shape that was recorded.
#[derive(Clone, Copy)]
pub enum Steps {
    /// In one request of the stateless worker, as the scenarios of the front worker were.
    Front(fn() -> LocalFuture<Answer>),
    /// From outside, as the driver did: with requests of its own, sockets, and the process in its hands.
    Driver(fn(Rc<World>) -> LocalFuture<Answer>),
}

/// A decision that the platform model draws, and that the recorded runs are known to have taken otherwise than a calm
/// world does.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// The suite, or the beginning of its name.
    pub suite: &'static str,
    /// Name of the decision.
    pub what: &'static str,
    /// What it comes to, each time.
    pub value: u64,
    /// Why.
    pub why: &'static str,
}

/// One probe.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Its id in the recorded data.
    pub id: &'static str,
    /// What it does.
    pub steps: Steps,
    /// Decisions that are not the calm ones.
    pub drawn: &'static [Drawn],
}

impl Probe {
    /// A probe that is one request of the worker.
    pub const fn front(id: &'static str, steps: fn() -> LocalFuture<Answer>) -> Probe {
        Probe { id, steps: Steps::Front(steps), drawn: &[] }
    }

    /// A probe that is driven from outside.
    pub const fn driver(id: &'static str, steps: fn(Rc<World>) -> LocalFuture<Answer>) -> Probe {
        Probe { id, steps: Steps::Driver(steps), drawn: &[] }
    }

    /// The same in a world where these decisions are taken so.
    pub const fn drawing(self, drawn: &'static [Drawn]) -> Probe {
        Probe { drawn, ..self }
    }

    /// The decisions that are taken in that suite.
    pub fn drawn_in(&self, suite: &str) -> Vec<Drawn> {
        self.drawn.iter().filter(|drawn| suite.starts_with(drawn.suite)).copied().collect()
    }
}

/// A line of a group's list: the id, and the future of what one request of the worker does.
macro_rules! front {
    ($id:literal, $steps:expr) => {
        $crate::conform::probe::Probe::front($id, || Box::pin($steps))
    };
}
pub(super) use front;

/// The same for a probe that is driven from outside: the id, and an asynchronous function of the world.
macro_rules! driver {
    ($id:literal, $steps:expr) => {
        $crate::conform::probe::Probe::driver($id, |world| Box::pin($steps(world)))
    };
}
pub(super) use driver;

/// Probes about one thing.
pub struct Group {
    /// Its name, as printed.
    pub name: &'static str,
    /// Whose probes they are.
    pub side: Side,
    /// The probes that are replayed.
    pub probes: &'static [Probe],
}

/// All groups.
pub const GROUPS: &[Group] = &[
    Group { name: "storage", side: Side::Core, probes: super::storage::PROBES },
    Group { name: "turns", side: Side::Core, probes: super::turns::PROBES },
    Group { name: "alarms", side: Side::Core, probes: super::alarms::PROBES },
    Group { name: "retries", side: Side::Core, probes: super::retries::PROBES },
    Group { name: "gates", side: Side::Core, probes: super::gates::PROBES },
    Group { name: "sections", side: Side::Core, probes: super::sections::PROBES },
    Group { name: "errors", side: Side::Core, probes: super::errors::PROBES },
    Group { name: "contexts", side: Side::Core, probes: super::contexts::PROBES },
    Group { name: "background", side: Side::Core, probes: super::background::PROBES },
    Group { name: "naming", side: Side::Core, probes: super::naming::PROBES },
    Group { name: "eviction", side: Side::Core, probes: super::eviction::PROBES },
    Group { name: "restarts", side: Side::Core, probes: super::restarts::PROBES },
    Group { name: "sockets", side: Side::Core, probes: super::sockets::PROBES },
    Group { name: "resets", side: Side::Core, probes: super::resets::PROBES },
    Group { name: "agents: names", side: Side::Agents, probes: super::agents::naming::PROBES },
    Group { name: "agents: one alarm", side: Side::Agents, probes: super::agents::schedules::PROBES },
    Group { name: "agents: references", side: Side::Agents, probes: super::agents::keep_alive::PROBES },
    Group { name: "agents: ends", side: Side::Agents, probes: super::agents::destroy::PROBES },
    Group { name: "agents: idle", side: Side::Agents, probes: super::agents::idle::PROBES },
    Group { name: "agents: streams", side: Side::Agents, probes: super::agents::streams::PROBES },
    Group { name: "agents: sessions", side: Side::Agents, probes: super::agents::resident::PROBES },
];

/// The probe of that id, with its group.
pub fn find(side: Side, id: &str) -> Option<(&'static Group, &'static Probe)> {
    let of_side = GROUPS.iter().filter(|group| group.side == side);
    of_side.flat_map(|group| group.probes.iter().map(move |probe| (group, probe))).find(|(_, probe)| probe.id == id)
}
