//! Facts: agents 0.17.3, class McpAgent.

use super::{Fact, State};

pub(super) const FACTS: &[Fact] = facts! {
    "190" "A session id is 64 hex digits of the front worker's; the object is named after it." ["RA:MC1, S:agents mcp/index.js"] modelled;
    "191" "The front worker opens one socket a POST or GET and turns its frames into server-sent events." ["S:agents mcp/index.js"] modelled;
    "192" "A POST names and starts the object first; without a stored handshake the answer is 404." ["RA:MC8"] modelled;
    "193" "So an unknown id constructs an object and leaves a name and props behind." ["RA:MC8"] missed_bug("objects that unknown ids leave behind; the host's owner check refuses such an id before");
    "194" "A start takes props from the call or storage, and replays the stored handshake into a new transport." ["RA:MC4, RA:MC9"] modelled;
    "195" "After the handshake three keys are kept, and no alarm, reference or socket of the package's." ["RA:MC1"] modelled;
    "196" "A running call has a row of its request ids and one socket, and the package holds no reference for it." ["RA:MC2"] modelled;
    "197" "Events are rows numbered in 16 hex digits from 1; listeners share one stream." ["RA:MC3"] modelled;
    "198" "As published the final answer deletes its stream's rows, delivered or not." ["RA:MC10"] replaced_by("205");
    "199" "A GET is one socket of its object, also for a while after its client left." ["RA:MC3, RA:MC11"] modelled;
    "200" "An object evicted under an open GET starts again at the next call, and the GET goes on." ["RA:MC4"] modelled;
    "201" "Locally a 14 s call finishes on its instance, with a reference or without." ["RA:MC5, RA:MC5b"] modelled;
    "202" "An object that is aborted in a call ends its streams cleanly, and the row of the call stays." ["RA:MC6"] modelled;
    "203" "A DELETE is answered at once; the session serves for a second more and is then gone." ["RA:MC7"] modelled;
    "204" "The package holds no reference during a call; the host wraps each connect in one." ["S:agents mcp/index.js"] modelled;
    "205" "The host's patch keeps answers until a GET acknowledges them, primes calls, replays, trims, and rotates streams." ["RP:MC1, RP:MC2, RP:MC3, RP:MC4, RP:MC5, RP:MC6, RP:MC7, RP:MC8, RP:MC9, RP:MC10"] modelled;
    "206" "With the patch a GET after the handshake replays its answer and ends." ["RP:MC3, RP:MC4"] modelled;
    "207" "With the patch an abort in a call ends its POST cleanly after the priming event." ["RP:MC6"] modelled;
};
