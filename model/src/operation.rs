//! Named suspension points: what waits, how, and how many trips through the microtask queue it costs.

use crate::platform::JsError;

/// How an operation waits (`design`: storage keeps the input gate shut, micro never leaves the turn, and so on).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Effect at the call, completes within the turn, the object's input gate stays closed.
    Storage,
    /// Trips through the microtask queue only; nothing else may come in.
    Micro,
    /// The gate is open: other events may come in.
    Io,
    /// Leaves the turn; only what was started inside comes in.
    Section,
    /// Through the effect library's dispatcher: leaves the turn.
    Fiber,
}

impl Kind {
    /// The word used in tables and plans.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Storage => "storage",
            Kind::Micro => "micro",
            Kind::Io => "io",
            Kind::Section => "section",
            Kind::Fiber => "fiber",
        }
    }
}

/// One named suspension point of the described code.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// `scope · operation`; a storage operation ends in its call and the key without ids.
    pub name: &'static str,
    /// How it waits.
    pub kind: Kind,
    /// Trips through the microtask queue until the next step of the same function goes on.
    pub hops: u32,
    /// True where the description does not give the hops and the project's rule stands in.
    pub assumed: bool,
    /// What it waits for, in a few words.
    pub waits_on: &'static str,
}

/// Which end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Before its effect.
    Begin,
    /// After its effect, before the waiting code goes on.
    End,
}

/// One edge of one running operation, as the director sees it.
#[derive(Debug)]
pub struct OperationPoint<'a> {
    /// The operation.
    pub operation: &'static Operation,
    /// Entry point the waiting code runs for: `init`, `validate`, `alarm`, ….
    pub root: &'static str,
    /// Begin or end.
    pub edge: Edge,
    /// Label of the context that waits: a session id, or the label of a request's client.
    pub who: &'a str,
    /// The loop's clock in epoch milliseconds.
    pub now_ms: u64,
}

/// What happens to the operation itself at one edge.
#[derive(Clone, Debug, Default)]
pub enum Disturbance {
    /// Nothing.
    #[default]
    None,
    /// The call fails with this error; at the begin its effect never happens.
    Fail(JsError),
    /// It waits this many milliseconds first.
    Delay(u64),
    /// It waits until somebody releases this number.
    Hold(u64),
}

/// What the director wants done at one edge of an operation.
#[derive(Clone, Debug, Default)]
pub struct Intervention {
    /// What happens to the operation.
    pub disturbance: Disturbance,
    /// Root fiber to interrupt first (`init` or `disposal`).
    pub interrupt: Option<&'static str>,
    /// Reset the object with this error; nothing of it goes on.
    pub reset: Option<JsError>,
}

impl Intervention {
    /// Let it be.
    pub const NONE: Intervention = Intervention { disturbance: Disturbance::None, interrupt: None, reset: None };

    /// As a director says it: nothing where nothing is to be done.
    pub fn said(self) -> Option<Box<Intervention>> {
        let is_none = matches!(self.disturbance, Disturbance::None) && self.interrupt.is_none() && self.reset.is_none();
        (!is_none).then(|| Box::new(self))
    }
}

/// Declares operations as constants and a table of all of them, in order.
#[macro_export]
macro_rules! operations {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $kind:ident, $hops:literal $(, $assumed:ident)? ; $waits:literal)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $waits, ".")]
            pub static $id: $crate::operation::Operation = $crate::operation::Operation {
                name: $name,
                kind: $crate::operation::Kind::$kind,
                hops: $hops,
                assumed: $crate::operations!(@assumed $($assumed)?),
                waits_on: $waits,
            };
        )*
        /// Every operation of this module, in the order of the description.
        pub static TABLE: &[&$crate::operation::Operation] = &[$(&$id),*];
    };
    (@assumed assumed) => { true };
    (@assumed) => { false };
}
