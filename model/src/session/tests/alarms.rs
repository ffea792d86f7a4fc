//! placeholder test file
