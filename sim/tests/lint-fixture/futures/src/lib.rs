//! The one macro of the `futures` crate that is banned.

pub use futures_util::select;
