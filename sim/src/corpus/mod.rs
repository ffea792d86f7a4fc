//! The corpus: plans that are kept for ever, each with what it is kept for, what it must show, and how it is known that it
//! still comes to its situation when the code around it has changed.

pub mod entry;
pub mod findings;
pub mod name;
pub mod record;
pub mod store;
pub mod streams;
pub mod verdict;

pub use entry::Entry;
pub use name::EntryName;
