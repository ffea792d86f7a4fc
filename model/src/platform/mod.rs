//! The platform as a Durable Object sees it: isolates, objects, gates, storage, alarms, contexts, calls, sockets.
//!
//! Knows nothing of sessions. Modelled from observed facts about the real runtime; a number in a comment
//! ("platform fact 43") is the number of a fact in [`fact_list`].

mod alarm;
mod cluster;
mod connection;
mod control;
mod error;
mod eviction;
pub mod fact_list;
mod fate;
mod isolate;
mod isolate_by_hand;
mod list_range;
mod object;
mod object_state;
pub(crate) mod operate;
mod socket;
mod storage;
mod storage_call;
mod stub;
mod switches;
mod table;
mod transaction;
mod update;
mod worker;
mod zombie;

pub use alarm::AlarmInfo;
pub use cluster::{Class, Cluster, ClusterConfig, RuntimeBuild};
pub use connection::Connection;
pub use control::Control;
pub use error::JsError;
pub use isolate::{Isolate, IsolateId, TABLE, module_scope};
pub use isolate_by_hand::IsolateByHand;
pub use list_range::{ListAnswer, ListRange};
pub use object::{Background, DurableObject, LocalFuture, ObjectContext, ObjectKey};
pub use object_state::{ObjectState, StorageAnswer};
pub use operate::{io, join, micro, section, sleep};
pub use socket::{ClientSocket, Socket, SocketEvent};
pub use storage::Storage;
#[cfg(test)]
pub(crate) use storage_call::GATELESS;
pub use storage_call::StorageCall;
pub use stub::{FetchRequest, FetchResponse, Stub};
pub use switches::{BuildHabits, Switches};
pub use table::Table;
pub use transaction::Transaction;
pub use worker::{Worker, WorkerHandle};

#[cfg(test)]
mod facts;
#[cfg(test)]
mod loop_programs;
#[cfg(test)]
pub(crate) mod test_world;
