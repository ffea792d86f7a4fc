//! A fault in words, for stories and reports: `hold (for 300 ms) at the begin of teardown · server.close #1 in s3`.

use super::fault::{Edge, Effect, ErrorKind, FaultPlan, Interruptible, ResetKind, When};
use std::fmt;

impl fmt::Display for FaultPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.effect, self.when)
    }
}

impl fmt::Display for When {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = match self {
            When::At { at_ms, session } => {
                write!(out, "at {at_ms} ms")?;
                session
            }
            When::Operation { operation, root, edge, n, session } => {
                write!(out, "at the {edge} of {operation} #{n}")?;
                if let Some(root) = root {
                    write!(out, " for {root}")?;
                }
                session
            }
        };
        session.as_ref().map_or(Ok(()), |session| write!(out, " in {session}"))
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Fail { error, lasting: false, .. } => write!(out, "fail ({error})"),
            Effect::Fail { error, lasting: true, .. } => write!(out, "fail from then on ({error})"),
            Effect::Delay { ms } => write!(out, "delay by {ms} ms"),
            Effect::Hold { release, for_ms, fail } => {
                let until = release.as_ref().map(|when| format!("released {when}"));
                let spans = [for_ms.map(|ms| format!("for {ms} ms")), until, fail.map(|error| format!("then {error}"))];
                let spans: Vec<String> = spans.into_iter().flatten().collect();
                write!(out, "hold ({})", spans.join(", "))
            }
            Effect::Interrupt { what } => write!(out, "interrupt the {what}"),
            Effect::Evict {} => out.write_str("evict"),
            Effect::Reset { kind } => write!(out, "reset ({kind})"),
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Edge::Begin => "begin",
            Edge::End => "end",
        })
    }
}

impl fmt::Display for Interruptible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Interruptible::Init => "init",
            Interruptible::Disposal => "disposal",
        })
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ErrorKind::CodeUpdate => "code update",
            ErrorKind::StorageTimeout => "storage timeout",
            ErrorKind::StorageInternal => "internal error of storage",
            ErrorKind::StartupInternalError => "internal error at the start",
            ErrorKind::ConcurrencyReset => "section that took too long",
            ErrorKind::CpuLimit => "CPU limit",
            ErrorKind::MemoryLimit => "memory limit",
            ErrorKind::InternalError => "internal error",
            ErrorKind::Retryable => "retryable error",
            ErrorKind::Destroyed => "destroyed",
            ErrorKind::Unknown => "unknown error",
        })
    }
}

impl fmt::Display for ResetKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ResetKind::CodeUpdate => "code update",
            ResetKind::Memory => "memory limit",
            ResetKind::Cpu => "CPU limit",
            ResetKind::StorageTimeout => "storage timeout",
            ResetKind::Moved => "moved",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(session: Option<&str>, root: Option<&str>) -> When {
        When::Operation {
            operation: "teardown · server.close".to_owned(),
            root: root.map(str::to_owned),
            edge: Edge::End,
            n: 2,
            session: session.map(str::to_owned),
        }
    }

    #[test]
    fn a_fault_says_what_it_does_when_and_to_whom() {
        let at = |at_ms, session: Option<&str>| When::At { at_ms, session: session.map(str::to_owned) };
        let fail = |lasting| Effect::Fail { error: ErrorKind::StorageTimeout, text: None, flags: None, lasting };
        let hold = |release, for_ms, fail| Effect::Hold { release, for_ms, fail };
        for (when, effect, told) in [
            (at(70, Some("s1")), Effect::Reset { kind: ResetKind::CodeUpdate }, "reset (code update) at 70 ms in s1"),
            (at(70, None), Effect::Evict {}, "evict at 70 ms"),
            (
                operation(Some("s3"), Some("dispose")),
                fail(false),
                "fail (storage timeout) at the end of teardown · server.close #2 for dispose in s3",
            ),
            (
                operation(None, None),
                fail(true),
                "fail from then on (storage timeout) at the end of teardown · server.close #2",
            ),
            (
                operation(None, None),
                hold(None, Some(300), None),
                "hold (for 300 ms) at the end of teardown · server.close #2",
            ),
            (
                operation(None, None),
                hold(Some(at(9, None)), None, Some(ErrorKind::Unknown)),
                "hold (released at 9 ms, then unknown error) at the end of teardown · server.close #2",
            ),
            (
                operation(None, None),
                Effect::Interrupt { what: Interruptible::Init },
                "interrupt the init at the end of teardown · server.close #2",
            ),
            (operation(None, None), Effect::Delay { ms: 5 }, "delay by 5 ms at the end of teardown · server.close #2"),
        ] {
            assert_eq!(FaultPlan::new(when, effect).to_string(), told);
        }
    }
}
