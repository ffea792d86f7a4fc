//! Error answers that clients see: by status, code and message, by the result of a tool, or by how a stream ends.

use super::Fact::{
    self, Asked, AskedForStream, AskedToCall, AskedToEnd, AskedToResume, Building, Connected, Destroying, EndedInCall,
    PlansEnds, PlansFaults, PlansMany, PlansResumes, Running, SomeCondemned, SomeFailed, SomeFault, SomePaused,
    SomeReset, SomeResuming, SomeWiped,
};
use super::pattern::Is::{Begins, Flag, Number, Word};
use super::pattern::Place::{Answer, Field};
use super::{Pattern, Place, Sometimes};

const END: &str = "request.end";
const STATUS: Place = Field("status");
const CODE: Place = Answer("/code");
const MESSAGE: Place = Answer("/message");
const OP: Place = Field("outcome");
const TOOL: Place = Answer("/structuredContent/status");
const CLOSED: &str = "socket.closed";

const fn row(name: &'static str, claim: &'static str, shown_by: &'static [Pattern], via: &'static [Fact]) -> Sometimes {
    Sometimes::events(name, "§4.3", claim, shown_by).via(via)
}

const fn bridge(name: &'static str, claim: &'static str, shown_by: &'static [Pattern]) -> Sometimes {
    Sometimes::events(name, "§2.2", claim, shown_by).via(&[Asked])
}

const fn tool(
    name: &'static str,
    claim: &'static str,
    shown_by: &'static [Pattern],
    via: &'static [Fact],
) -> Sometimes {
    Sometimes::events(name, "§2.23", claim, shown_by).via(via)
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    row("answer/bad-method", "405: a method that there is not", &[Pattern::history(END, &[(STATUS, Number(405)), (CODE, Number(-32001)), (MESSAGE, Word("Method not allowed"))])], &[Asked]),
    row("answer/unauthorized", "401: no token, or a bad one", &[Pattern::history(END, &[(STATUS, Number(401)), (CODE, Number(-32001)), (MESSAGE, Word("Unauthorized"))])], &[Asked]),
    row("answer/access-revoked", "403: access was revoked, and the session is condemned", &[Pattern::history(END, &[(STATUS, Number(403)), (CODE, Number(-32001))])], &[Asked]),
    row("answer/access-revoked-own-code", "403: access was revoked, with the provider's own code", &[Pattern::history(END, &[(STATUS, Number(403)), (CODE, Number(-32004))])], &[Asked]),
    row("answer/auth-unavailable", "503: the identity provider is not to be had", &[Pattern::history(END, &[(STATUS, Number(503)), (MESSAGE, Word("Authentication is temporarily unavailable"))])], &[PlansFaults, SomeFault, Asked]),
    row("answer/not-found", "404: an id that nobody knows", &[Pattern::history(END, &[(STATUS, Number(404)), (CODE, Number(-32001)), (MESSAGE, Word("Session not found"))])], &[PlansEnds, SomeWiped, Asked]),
    row("answer/timed-out", "404: a condemned or destroyed session", &[Pattern::history(END, &[(STATUS, Number(404)), (CODE, Number(-32001)), (MESSAGE, Word("Session timed out, please reconnect"))])], &[PlansEnds, SomeCondemned, Asked]),
    row("answer/timed-out-for-call", "404: a call to a condemned or destroyed session", &[Pattern::history(END, &[(STATUS, Number(404)), (MESSAGE, Word("Session timed out, please reconnect"))])], &[PlansEnds, SomeCondemned, AskedToCall]).when(&[Fact::Condemned]),
    row("answer/timed-out-while-destroyed", "404: a request that meets the destruction of its session", &[Pattern::history(END, &[(STATUS, Number(404)), (MESSAGE, Word("Session timed out, please reconnect"))])], &[PlansEnds, AskedToEnd]).when(&[Destroying]),
    row("answer/other-owner", "403: a session of somebody else", &[Pattern::history(END, &[(STATUS, Number(403)), (CODE, Number(-32003)), (MESSAGE, Word("MCP session does not belong to the current bearer"))])], &[PlansMany, Asked]),
    row("answer/meta-unavailable", "503: the lookup of the organisation failed to the last try", &[Pattern::history(END, &[(STATUS, Number(503)), (MESSAGE, Word("Session storage temporarily unavailable - please retry"))])], &[PlansFaults, Building, SomeFailed]),
    row("answer/restarting", "503: the platform reset the session", &[Pattern::history(END, &[(STATUS, Number(503)), (CODE, Number(-32001)), (MESSAGE, Word("MCP session is restarting, please retry"))])], &[PlansFaults, SomeFault, SomeReset, Asked]),
    row("answer/bare-500", "500: a failure that nobody recognises", &[Pattern::history(END, &[(STATUS, Number(500))])], &[PlansFaults, SomeFault, SomeFailed]),
    row("answer/ended-without-answer", "200: the stream of a call ends without its answer", &[Pattern::history(END, &[(OP, Word("ended")), (STATUS, Number(200))])], &[PlansFaults, SomeFault, Running]).when(&[EndedInCall]),
    row("answer/transport-missing", "1011: no transport takes the connection", &[Pattern::platform(CLOSED, &[(Field("code"), Number(1011)), (Field("reason"), Word("MCP transport not initialized"))])], &[PlansFaults, SomeFault, Connected]),
    row("answer/setup-failed", "1011: the set-up of a connection fails", &[Pattern::platform(CLOSED, &[(Field("code"), Number(1011)), (Field("reason"), Begins("Uncaught exception"))])], &[PlansFaults, SomeFault, SomeFailed]),
    row("answer/connection-lost", "1006: a connection goes with its object", &[Pattern::platform(CLOSED, &[(Field("code"), Number(1006))])], &[Connected, SomeReset]),
    row("answer/internal-error", "−32603: the handler of a request fails, or several streams wait for its id", &[Pattern::history(END, &[(STATUS, Number(200)), (CODE, Number(-32603)), (MESSAGE, Word("Internal error"))])], &[PlansFaults, SomeFault, Running]),
    row("answer/tool-defect", "200: a tool call with a defect is answered as an error", &[Pattern::history(END, &[(STATUS, Number(200)), (Answer("/isError"), Flag(true)), (Answer("/structuredContent/error"), Begins("Internal tool error ["))])], &[AskedToCall, Running]),
    row("answer/tool-failed", "200: code that fails is answered as an error", &[Pattern::history(END, &[(STATUS, Number(200)), (Answer("/isError"), Flag(true)), (TOOL, Word("error"))])], &[AskedToCall, Running]),
    bridge("answer/not-acceptable", "406: a client that does not accept both forms", &[Pattern::history(END, &[(STATUS, Number(406)), (CODE, Number(-32000))])]),
    bridge("answer/unsupported-media-type", "415: a body that is not JSON by its type", &[Pattern::history(END, &[(STATUS, Number(415)), (CODE, Number(-32000))])]),
    bridge("answer/body-too-large", "413: a body over the limit", &[Pattern::history(END, &[(STATUS, Number(413)), (CODE, Number(-32000))])]),
    bridge("answer/invalid-json", "400: a body that is no JSON", &[Pattern::history(END, &[(STATUS, Number(400)), (CODE, Number(-32700)), (MESSAGE, Word("Parse error: Invalid JSON"))])]),
    bridge("answer/invalid-message", "400: a body that is no JSON-RPC", &[Pattern::history(END, &[(STATUS, Number(400)), (CODE, Number(-32700)), (MESSAGE, Word("Parse error: Invalid JSON-RPC message"))])]),
    bridge("answer/initialize-with-session", "400: an initialize with a session id", &[Pattern::history(END, &[(STATUS, Number(400)), (CODE, Number(-32600)), (MESSAGE, Begins("Invalid Request: Initialization requests"))])]),
    bridge("answer/initialize-in-batch", "400: an initialize in a batch", &[Pattern::history(END, &[(STATUS, Number(400)), (CODE, Number(-32600)), (MESSAGE, Begins("Invalid Request: Only one"))])]),
    bridge("answer/session-required", "400: a request without a session id", &[Pattern::history(END, &[(STATUS, Number(400)), (CODE, Number(-32000)), (MESSAGE, Begins("Bad Request: Mcp-Session-Id"))])]),
    bridge("answer/no-socket", "500: the session's object gives no connection", &[Pattern::history(END, &[(STATUS, Number(500)), (CODE, Number(-32001))])]),
    tool("answer/waiting-for-interaction", "an execution waits for a person", &[Pattern::history(END, &[(TOOL, Word("waiting_for_interaction"))])], &[AskedToCall, SomePaused]),
    tool("answer/user-approval-required", "an execution waits for a person's decision in the browser", &[Pattern::history(END, &[(TOOL, Word("user_approval_required"))])], &[AskedToCall, SomePaused]),
    tool("answer/execution-not-found", "a resume of an execution that nobody knows", &[Pattern::history(END, &[(TOOL, Word("execution_not_found"))])], &[PlansResumes, AskedToResume]),
    tool("answer/execution-expired", "a resume of an execution whose window is over", &[Pattern::history(END, &[(TOOL, Word("execution_expired"))])], &[PlansResumes, SomePaused, AskedToResume]),
    tool("answer/execution-forbidden", "a resume of somebody else's execution", &[Pattern::history(END, &[(TOOL, Word("execution_forbidden"))])], &[PlansResumes, PlansMany, SomePaused, AskedToResume]),
    tool("answer/execution-already-settled", "a resume of an execution that is over", &[Pattern::history(END, &[(TOOL, Word("execution_already_settled"))])], &[PlansResumes, SomePaused, SomeResuming]),
    row("answer/stream-ended", "a client's stream ends by the server", &[Pattern::history("stream.end", &[(Field("by"), Word("server"))])], &[AskedForStream, Connected]),
];
