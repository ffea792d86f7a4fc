//! The table of every suspension point that the code really has, in the order of the description.

use std::fmt::Write as _;

use crate::operation::Operation;
use crate::{agents, front, platform, session, telemetry};

/// A group of operations that belong to one part of the system.
pub struct Group {
    /// What the part is.
    pub title: &'static str,
    /// Its operations.
    pub operations: Vec<&'static Operation>,
}

/// Every operation, by part.
pub fn table() -> Vec<Group> {
    let group = |title, tables: &[&[&'static Operation]]| Group { title, operations: tables.concat() };
    vec![
        Group { title: "Edge and bridge", operations: front::operations() },
        group(
            "Naming, start, framework body",
            &[agents::party_server::TABLE, session::start::TABLE, agents::mcp_agent::TABLE],
        ),
        group(
            "Init and session meta",
            &[
                session::init::TABLE,
                session::meta::TABLE,
                session::meta::DEFECT_TABLE,
                session::cap::TABLE,
                session::cap::DEFECT_TABLE,
                session::build_queue::TABLE,
            ],
        ),
        group(
            "Teardown and disposal",
            &[session::teardown::TABLE, session::teardown::DEFECT_TABLE, session::upstream::TABLE],
        ),
        group(
            "Alarm, idle clock, framework scheduler",
            &[
                session::alarm::TABLE,
                session::alarm::DEFECT_TABLE,
                session::TABLE,
                session::rpc::TABLE,
                session::clock::TABLE,
                agents::schedule::TABLE,
            ],
        ),
        group(
            "Owner check, connect, transport, event store",
            &[
                session::ownership::TABLE,
                session::connect::TABLE,
                agents::transport::TABLE,
                agents::transport::get::TABLE,
                agents::transport::send::TABLE,
                agents::event_store::TABLE,
                agents::mcp_server::TABLE,
            ],
        ),
        group(
            "Leases, approvals, resume",
            &[
                session::leases::TABLE,
                session::approvals::TABLE,
                session::approval_rpc::TABLE,
                session::model_resume::TABLE,
            ],
        ),
        group(
            "Directory, destroy, engine",
            &[session::owner_object::TABLE, session::destroy::TABLE, session::engine::TABLE, session::elicit::TABLE],
        ),
        group("Platform and telemetry", &[platform::TABLE, telemetry::TABLE]),
    ]
}

/// The entry points that code runs for, as the root of an operation says: methods and events of an object, named parts
/// of them, the platform's own work, a request of the edge.
pub const ROOTS: &[&str] = &[
    "_cf_scheduleDestroy",
    "ack",
    "alarm",
    "condemn",
    "connect",
    "constructor",
    "control",
    "destroy",
    "directory",
    "dispose",
    "edge",
    "evict",
    "expire",
    "fallback",
    "fetch",
    "get",
    "getInitializeRequest",
    "getPausedExecutionForApproval",
    "init",
    "keep-alive released",
    "lease",
    "markActivity",
    "onStart",
    "persistAppsEnabled",
    "platform",
    "post",
    "request",
    "requestCapEviction",
    "resolveAndStoreSessionMeta",
    "resumeExecutionForApproval",
    "resumeExecutionForModel",
    "setInitializeRequest",
    "setName",
    "socket-close",
    "socket-message",
    "updateProps",
    "validate",
    "validateMcpSessionOwner",
];

/// Names of all operations.
pub fn names() -> Vec<&'static str> {
    table().iter().flat_map(|group| group.operations.iter().map(|operation| operation.name)).collect()
}

/// True for an operation of the edge worker, where no object waits.
pub fn is_of_edge(name: &str) -> bool {
    front::operations().iter().any(|operation| operation.name == name)
}

/// The table as Markdown, as it stands in `model/OPERATIONS.md`.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Operations\n\n\
         Every suspension point of the modelled host, generated from the code by `sim operations`; a test fails when this file is stale.\n\n\
         A plan names an operation as it stands here, with the root it runs for if that matters:\n\
         `{\"operation\": \"teardown · server.close\", \"root\": \"dispose\", \"edge\": \"begin\", \"n\": 1, \"session\": \"s1\"}`.\n\n\
         *storage*: effect at the call, completes within the turn, the object's input gate stays closed. *micro*: trips through the microtask\n\
         queue, nothing else may come in. *io*: the gate is open. *section*: leaves the turn, only what was started inside comes in. *fiber*:\n\
         through the effect library's dispatcher, leaves the turn. Hops are trips until the next step of the same function goes on; *assumed*\n\
         where the description does not give them (one for a micro step, none for io).\n",
    );
    let roots: Vec<String> = ROOTS.iter().map(|root| format!("`{root}`")).collect();
    let _ = write!(text, "\nRoots: {}.\n", roots.join(", "));
    for group in table() {
        let _ = write!(text, "\n## {}\n\n| operation | kind | hops | waits on |\n|---|---|---|---|\n", group.title);
        for operation in group.operations {
            let assumed = if operation.assumed { " assumed" } else { "" };
            let (name, kind, hops) = (operation.name, operation.kind.word(), operation.hops);
            let _ = writeln!(text, "| `{name}` | {kind} | {hops}{assumed} | {} |", operation.waits_on);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Set to write the file instead of comparing.
    const UPDATE: &str = "UPDATE_OPERATIONS";

    #[test]
    fn the_file_of_operations_is_what_the_code_has() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/OPERATIONS.md");
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(path, markdown()).expect("the file can be written");
        }
        let stored = std::fs::read_to_string(path).unwrap_or_default();
        assert!(stored == markdown(), "model/OPERATIONS.md is stale: run the test with {UPDATE}=1");
    }

    /// The production code below a folder, without tests.
    fn sources(folder: &std::path::Path, into: &mut Vec<String>) {
        for path in std::fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry").path())
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if ["test", "facts", "loop_programs", "toy", "script"].iter().any(|word| name.contains(word)) {
                continue;
            }
            if path.is_dir() {
                sources(&path, into);
            } else {
                let text = std::fs::read_to_string(&path).expect("a source");
                into.push(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned());
            }
        }
    }

    #[test]
    fn the_roots_are_those_that_the_code_names() {
        let mut texts = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
        let mut named: BTreeSet<&str> = session::rpc::METHODS.iter().copied().chain(["fetch"]).collect();
        for text in &texts {
            // The first text of a call is the name of its root, or of the method that is one.
            for mark in ["rooted(\"", "root: \"", "let root = if", ".rpc(&"] {
                for rest in text.split(mark).skip(1) {
                    let skipped = usize::from(!mark.ends_with('"'));
                    named.extend(rest.split('"').nth(skipped));
                }
            }
            named.extend(text.split("} else { \"socket-").skip(1).map(|_| "socket-message"));
        }
        assert_eq!(named.into_iter().collect::<Vec<_>>(), ROOTS);
    }

    #[test]
    fn no_two_operations_share_a_name() {
        let names = names();
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
