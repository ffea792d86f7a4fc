//! Which session each client uses, as of the events applied so far: the last one that its handshake was answered for.

use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The sessions in use, by client.
#[derive(Default)]
pub struct InUse {
    /// The alias that was minted last for each client, whether its handshake succeeded or not.
    minted: BTreeMap<Arc<str>, Arc<str>>,
    /// Numbers of the handshakes.
    opens: BTreeSet<u64>,
    current: BTreeMap<Arc<str>, Arc<str>>,
}

impl InUse {
    /// Alias of the client's session; a client that has none yet stands for its first one.
    pub fn session_of<'a>(&'a self, client: &'a str) -> &'a str {
        self.current.get(client).map_or(client, |alias| alias)
    }

    /// Alias of the session that a request is about which begins with the event: the one that it names, else its client's.
    pub fn session_for<'a>(&'a self, begin: &'a Event) -> &'a str {
        begin.text("session").unwrap_or_else(|| self.session_of(begin.who().unwrap_or("")))
    }

    /// Takes one event into account: the client whose session changes with it, and that session.
    pub fn apply(&mut self, event: &Event) -> Option<(Arc<str>, Arc<str>)> {
        let who = event.who.as_ref()?;
        if event.is(Stream::Platform, "session.minted") {
            let alias = event.text("alias").map_or_else(|| who.clone(), Arc::from);
            self.minted.insert(who.clone(), alias);
        }
        if event.stream != Stream::History {
            return None;
        }
        if event.name == "session.adopted" {
            let alias: Arc<str> = self.session_of(event.text("of")?).into();
            self.current.insert(who.clone(), alias.clone());
            return Some((who.clone(), alias));
        }
        let request = event.number("request")?;
        if event.name == "request.begin" && event.text("op") == Some("open") {
            self.opens.insert(request);
        }
        let is_answered = event.name == "request.end" && event.text("outcome") == Some("answered");
        if !is_answered || !self.opens.contains(&request) {
            return None;
        }
        let alias = self.minted.get(who).unwrap_or(who).clone();
        self.current.insert(who.clone(), alias.clone());
        Some((who.clone(), alias))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::story;

    #[test]
    fn a_request_is_about_the_session_that_it_names() {
        let begin = |fields: &[(&'static str, crate::trace::Value)]| {
            let trace = story().history(99_000, "s1", "request.begin", fields).build();
            let mut in_use = InUse::default();
            trace.events.iter().for_each(|event| drop(in_use.apply(event)));
            trace
                .events
                .iter()
                .rev()
                .find(|event| event.at_ms == 99_000)
                .map(|last| in_use.session_for(last).to_owned())
        };
        assert_eq!(begin(&[]).as_deref(), Some("s1"));
        assert_eq!(begin(&[("session", "s1.2".into())]).as_deref(), Some("s1.2"));
    }
}
