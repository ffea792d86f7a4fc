//! Facts that hold of one session, client, execution or the like from one event on until another: whose they are, and
//! what is so of whom. What another session or client did, or what comes only later, does not make them so.

use super::Fact;
use super::fact::Test;
use super::pattern::Pattern;
use crate::plan::client_of;
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// Whose a fact is that holds from an event on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// Of the session that the event is about.
    Session,
    /// Of the client whose event it is.
    Client,
    /// Of the execution that the event, or the request that it belongs to, names.
    Execution,
    /// Of the request that the event belongs to.
    Request,
    /// Of the message with the client's id for it, in whatever body it comes.
    Message,
    /// Of the connection of the session.
    Socket,
}

/// All of them: an event may be about one of each.
const ALL: [Whose; 6] =
    [Whose::Session, Whose::Client, Whose::Execution, Whose::Request, Whose::Message, Whose::Socket];

/// One event that makes such a fact so, or ends it, if the test holds as well.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The event.
    pub event: Pattern,
    /// What must be so just before it.
    pub test: Test,
}

/// A turn without a further condition.
pub const fn at(event: Pattern) -> Turn {
    Turn { event, test: |_| true }
}

/// A turn if this holds as well.
pub const fn only(event: Pattern, test: Test) -> Turn {
    Turn { event, test }
}

/// A client's request as it began.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The event of its begin.
    pub begin: &'a Event,
    /// The session that it is about; none where it opens one, or looks around without one.
    pub session: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// The request that begins with the event, of a client that uses that session then.
    pub fn new(begin: &'a Event, in_use: Option<&'a str>) -> Self {
        let is_about_none = matches!(begin.text("op"), Some("open" | "probe" | "discover"));
        let session = begin.text("session").or(in_use).or(begin.who());
        Self { begin, session: session.filter(|_| !is_about_none) }
    }
}

/// Somebody, or something, of whom a fact is so.
type Subject<'a> = (Whose, &'a str, &'a str, u64);

/// The subject of that kind that an event is about, if it is about one.
fn subject<'a>(
    whose: Whose,
    event: &'a Event,
    session: Option<&'a str>,
    asked: Option<Asked<'a>>,
) -> Option<Subject<'a>> {
    let is_clients = event.stream == Stream::History;
    match whose {
        Whose::Session => Some((whose, session?, "", 0)),
        Whose::Client => Some((whose, event.who().filter(|_| is_clients)?, "", 0)),
        Whose::Execution => Some((whose, execution(event).or_else(|| execution(asked?.begin))?, "", 0)),
        Whose::Request => Some((whose, "", "", event.number("request").filter(|_| is_clients)?)),
        Whose::Message => Some((whose, event.who().filter(|_| is_clients)?, event.text("rpc")?, 0)),
        Whose::Socket => Some((whose, session?, "", event.number("socket")?)),
    }
}

/// The execution that an event names, in any of the ways in which the streams do.
pub fn execution(event: &Event) -> Option<&str> {
    let attribute = |name| event.attribute(name).and_then(serde_json::Value::as_str);
    let own = event.text("execution").or_else(|| event.text("executionId"));
    own.or_else(|| attribute("mcp.execution.id")).or_else(|| attribute("mcp.execute.execution_id"))
}

/// What is so of whom, as of the events so far.
#[derive(Default)]
pub struct Subjects<'a> {
    bits: BTreeMap<Subject<'a>, u128>,
    /// The session in which each execution paused first.
    owners: BTreeMap<&'a str, &'a str>,
}

impl<'a> Subjects<'a> {
    /// All that is so of those whom the event is about.
    pub fn of(&self, event: &'a Event, session: Option<&'a str>, asked: Option<Asked<'a>>) -> u128 {
        if self.bits.is_empty() {
            return 0;
        }
        let so_of = |whose| subject(whose, event, session, asked).and_then(|subject| self.bits.get(&subject));
        ALL.into_iter().filter_map(so_of).fold(0, |bits, so| bits | so)
    }

    /// It is so, or not any more, of the one of that kind whom the event is about.
    pub fn set(
        &mut self,
        (fact, whose, is_so): (Fact, Whose, bool),
        event: &'a Event,
        session: Option<&'a str>,
        asked: Option<Asked<'a>>,
    ) {
        let Some(subject) = subject(whose, event, session, asked) else { return };
        match is_so {
            true => *self.bits.entry(subject).or_default() |= fact.bit(),
            false => drop(self.bits.get_mut(&subject).map(|bits| *bits &= !fact.bit())),
        }
    }

    /// Takes note of where an execution pauses.
    pub fn note(&mut self, event: &'a Event) {
        if let (true, Some(execution), Some(who)) =
            (event.is(Stream::State, "execution.paused"), event.text("execution"), event.who())
        {
            self.owners.entry(execution).or_insert(who);
        }
    }

    /// The client that opened the session in which the execution paused that the event or its request names.
    pub fn opener(&self, event: &'a Event, asked: Option<Asked<'a>>) -> Option<&'a str> {
        let named = execution(event).or_else(|| execution(asked?.begin))?;
        self.owners.get(named).map(|owner| client_of(owner))
    }
}
