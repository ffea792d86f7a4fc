//! Shrinking as a whole: minimal, canonical, the same again, and honest about what else it met.
