//! Errors as code on the platform sees them, with the platform's exact texts and flags.

use std::fmt;
use std::sync::Arc;

/// A thrown value: message, name and the platform's flags (platform fact 96). Clones share the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsError {
    /// `Error`, `TypeError`, ….
    pub name: &'static str,
    /// The message.
    pub message: Arc<str>,
    /// The underlying failure was a disconnection.
    pub retryable: bool,
    /// A resource failure; must not be retried.
    pub overloaded: bool,
    /// Thrown on the other side of a call.
    pub remote: bool,
    /// The object was reset.
    pub durable_object_reset: bool,
    /// What it wraps.
    pub cause: Option<Arc<JsError>>,
}

impl JsError {
    /// `new Error(message)`.
    pub fn new(message: impl Into<Arc<str>>) -> Self {
        JsError {
            name: "Error",
            message: message.into(),
            retryable: false,
            overloaded: false,
            remote: false,
            durable_object_reset: false,
            cause: None,
        }
    }

    /// `new TypeError(message)`.
    pub fn type_error(message: impl Into<Arc<str>>) -> Self {
        JsError { name: "TypeError", ..Self::new(message) }
    }

    /// Wraps `cause` under another message.
    pub fn wrapping(message: impl Into<Arc<str>>, cause: JsError) -> Self {
        JsError { cause: Some(Arc::new(cause)), ..Self::new(message) }
    }

    /// A disconnection (platform facts 97, 147).
    pub fn connection_lost() -> Self {
        // Fact: 97. A disconnection without a text of its own is 'Network connection lost.', retryable.
        // [S:jsg/util.c++]
        // Fact: 147. 'Network connection lost.', retryable. [S:jsg/util.c++]
        JsError { retryable: true, ..Self::new("Network connection lost.") }
    }

    /// A code update reset the object (platform facts 112, 149).
    pub fn code_updated() -> Self {
        // Fact: 149. 'Durable Object reset because its code was updated.' [D:troubleshooting]
        JsError { durable_object_reset: true, ..Self::new("Durable Object reset because its code was updated.") }
    }

    /// The memory limit reset every object of the isolate (platform facts 135, 156).
    pub fn memory_exceeded() -> Self {
        // Fact: 156. The isolate exceeded its memory limit. [S:agents retries.js, PUB]
        let text = "Durable Object's isolate exceeded its memory limit and was reset.";
        JsError { durable_object_reset: true, overloaded: true, ..Self::new(text) }
    }

    /// The CPU limit reset the object (platform facts 138, 157).
    pub fn cpu_exceeded() -> Self {
        // Fact: 157. The object exceeded its CPU time. [PUB]
        let text = "Durable Object exceeded its CPU time limit and was reset.";
        JsError { durable_object_reset: true, overloaded: true, ..Self::new(text) }
    }

    /// A commit took over 30 s (platform facts 49, 153).
    pub fn storage_timeout() -> Self {
        // Fact: 96. Flags say what failed: retryable, overloaded, durableObjectReset, remote; several may stand
        // together. [S:jsg/util.c++, R:E2, R:GL1, R11:E8]
        // Fact: 102. Overload is not to be retried. [D:error-handling]
        // Fact: 153. A storage operation exceeded its timeout, overloaded. [S:io/worker.c++]
        let text = "Durable Object storage operation exceeded timeout which caused object to be reset.";
        JsError { durable_object_reset: true, overloaded: true, ..Self::new(text) }
    }

    /// The object moved to another machine (platform fact 159).
    pub fn moved() -> Self {
        // Fact: 159. An object that cannot be resolved for now, or has moved to another machine. [PUB]
        let text = "cannot access storage because object has moved to a different machine";
        JsError { durable_object_reset: true, retryable: true, ..Self::new(text) }
    }

    /// A section ran over 30 s (platform facts 36, 161).
    pub fn section_too_long() -> Self {
        // Fact: 161. The text of a section that took too long. [R:GL1]
        let text = "A call to blockConcurrencyWhile() in a Durable Object waited for too long. \
                    The call was canceled and the Durable Object was reset.";
        JsError { durable_object_reset: true, overloaded: true, ..Self::new(text) }
    }

    /// `ctx.abort(reason)`; without a reason (empty here) the platform has its own text (platform facts 104, 160).
    pub fn aborted(reason: &str) -> Self {
        // Fact: 160. The text of an abort without a reason. [R:E3]
        let reason = if reason.is_empty() { "Application called abort() to reset Durable Object." } else { reason };
        JsError { durable_object_reset: true, ..Self::new(reason) }
    }

    /// A method that the object's class does not have (platform fact 95).
    pub fn no_such_method(method: &str) -> Self {
        Self::type_error(format!("The RPC receiver does not implement the method \"{method}\"."))
    }

    /// An I/O object was used from another object of the isolate (platform fact 116).
    pub fn cross_object_io(kind: &str) -> Self {
        Self::new(format!(
            "Cannot perform I/O on behalf of a different Durable Object. I/O objects (such as streams, \
             request/response bodies, and others) created in the context of one Durable Object cannot be accessed from \
             a different Durable Object in the same isolate. This is a limitation of Cloudflare Workers which allows \
             us to improve overall performance. (I/O type: {kind})"
        ))
    }

    /// An I/O object was used from another stateless request (platform fact 117).
    pub fn cross_request_io(kind: &str) -> Self {
        Self::new(format!(
            "Cannot perform I/O on behalf of a different request. I/O objects (such as streams, request/response \
             bodies, and others) created in the context of one request handler cannot be accessed from a different \
             request's handler. This is a limitation of Cloudflare Workers which allows us to improve overall \
             performance. (I/O type: {kind})"
        ))
    }

    /// What a handler threw as its caller sees it: built-in types keep their name, a custom one moves into the message,
    /// flags it had from elsewhere are lost (platform facts 92, 93, 99).
    pub fn across_call(self) -> Self {
        // Fact: 92. What a handler throws reaches its caller with message and built-in type, marked remote. [R:E1]
        // Fact: 93. A custom error becomes a plain one whose message begins with its name. [R:E1, RF:E1]
        // Fact: 99. Over two hops only the remote flag is left. [R:E8, RF:E8]
        const BUILT_IN: [&str; 6] = ["Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError", "EvalError"];
        let thrown = if BUILT_IN.contains(&self.name) {
            JsError { name: self.name, ..Self::new(self.message) }
        } else {
            Self::new(format!("{}: {}", self.name, self.message))
        };
        JsError { remote: true, cause: self.cause, ..thrown }
    }
}

impl fmt::Display for JsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for JsError {}
