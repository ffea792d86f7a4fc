//! What real clients do by themselves: the habits of personas, each seen in the history of some client.

use super::Fact::{AskedToCall, BrokenOff, ListenerRefused, PlansPersonas, SomeBroken, SomeListening, SomeTurnedAway};
use super::pattern::Is::{Absent, Begins, Flag, There, Word};
use super::pattern::Place::Field;
use super::{Fact, Pattern, Place, Sometimes};

const BEGIN: &str = "request.begin";
const OP: Place = Field("op");
const WHY: Place = Field("why");
/// A request that carries another one on.
const CARRIES_ON: (Place, super::Is) = (Field("of"), There);
/// Only clients with a persona say how long they wait.
const OF_PERSONA: (Place, super::Is) = (Field("patience_ms"), There);

const fn row(name: &'static str, claim: &'static str, shown_by: &'static [Pattern], via: &'static [Fact]) -> Sometimes {
    Sometimes::events(name, "§7", claim, shown_by).via(via)
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    row("client/listens-again", "a client opens its listener again by itself", &[Pattern::history(BEGIN, &[(OP, Word("stream")), OF_PERSONA])], &[PlansPersonas, SomeListening, SomeBroken]).when(&[BrokenOff]),
    row("client/listens-no-more", "a client gives its listener up", &[Pattern::history("client.gave-up", &[(OP, Word("stream"))])], &[PlansPersonas, SomeBroken, SomeTurnedAway]),
    row("client/never-listens", "a client whose first GET was refused never listens", &[Pattern::history("client.gave-up", &[(OP, Word("stream")), (WHY, Word("the first was refused"))])], &[PlansPersonas, SomeTurnedAway]),
    row("client/knocks-on", "a client opens its listener again after a refusal", &[Pattern::history(BEGIN, &[(OP, Word("stream")), OF_PERSONA])], &[PlansPersonas, SomeTurnedAway]).when(&[ListenerRefused]),
    row("client/ends-without-progress", "a client ends because its streams bring nothing new", &[Pattern::history("client.ended", &[(WHY, Word("no progress"))])], &[PlansPersonas, SomeBroken]),
    row("client/gives-up-in-silence", "a client gives a body up on which nothing comes", &[Pattern::history("request.end", &[(Field("text"), Begins("nothing came for"))])], &[PlansPersonas, SomeListening]),
    row("client/resumes-a-call", "a client asks for what a call's stream did not bring", &[Pattern::history(BEGIN, &[(OP, Word("recover")), CARRIES_ON])], &[PlansPersonas, AskedToCall]),
    row("client/resumes-without-cursor", "a client has forgotten the cursor of the call that it asks for", &[Pattern::history(BEGIN, &[(OP, Word("recover")), CARRIES_ON, (Field("cursor"), Absent)])], &[PlansPersonas, AskedToCall]),
    row("client/asks-no-more", "a client gives up asking for what a call lost", &[Pattern::history("client.gave-up", &[(OP, Word("recover"))])], &[PlansPersonas, AskedToCall, SomeTurnedAway]),
    row("client/hangs-for-ever", "a call of a client without time-outs hangs", &[Pattern::history("client.hung", &[(Field("until"), Word("ever"))])], &[PlansPersonas, AskedToCall]),
    row("client/hangs-to-time-out", "a call of a client with time-outs hangs", &[Pattern::history("client.hung", &[(Field("until"), Word("time-out"))])], &[PlansPersonas, AskedToCall]),
    row("client/hangs-unheard", "a client does not hear an error that does not name its request", &[Pattern::history("client.hung", &[(WHY, Word("an error that does not name it"))])], &[PlansPersonas, AskedToCall, SomeTurnedAway]),
    row("client/cancels", "a client tells the server of a request that it gave up", &[Pattern::history(BEGIN, &[(OP, Word("cancel"))])], &[PlansPersonas, AskedToCall]),
    row("client/renews", "a client opens another session in place of one that is gone", &[Pattern::history("client.renews", &[])], &[PlansPersonas, AskedToCall, SomeTurnedAway]),
    row("client/sent-again", "a client sends a call again in another session", &[Pattern::history(BEGIN, &[(OP, Word("call")), CARRIES_ON])], &[PlansPersonas, AskedToCall, SomeTurnedAway]),
    row("client/ends", "a client ends by itself", &[Pattern::history("client.ended", &[])], &[PlansPersonas, AskedToCall]),
    row("client/ends-with-delete", "a client ends by itself, and its session with it", &[Pattern::history("client.ended", &[(Field("deletes"), Flag(true))])], &[PlansPersonas, AskedToCall]),
    row("client/breaks", "every later call of a client fails", &[Pattern::history("client.broke", &[])], &[PlansPersonas, AskedToCall]),
    row("client/skips", "a client is asked for something that it cannot do any more", &[Pattern::history("client.skipped", &[])], &[PlansPersonas]),
    row("client/looks-around", "a client asks for something without a session before it opens one", &[Pattern::history(BEGIN, &[(OP, Word("probe"))])], &[PlansPersonas]),
    row("client/lists", "a client asks for the tools first", &[Pattern::history(BEGIN, &[(OP, Word("list"))])], &[PlansPersonas]),
    row("client/probes", "a client asks for server/discover first", &[Pattern::history(BEGIN, &[(OP, Word("discover"))])], &[PlansPersonas]),
];
