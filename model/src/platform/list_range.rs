//! What a storage `list` reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

/// Options of `list`.
#[derive(Clone, Debug, Default)]
pub struct ListRange {
    /// Keys that begin so.
    pub prefix: Arc<str>,
    /// Keys strictly after this one.
    pub start_after: Option<Arc<str>>,
    /// From the top instead of the bottom.
    pub reverse: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Keys and values of a `list`, in order.
pub type ListAnswer = Vec<(Arc<str>, Arc<Value>)>;

impl ListRange {
    /// All keys with a prefix.
    pub fn prefix(prefix: impl Into<Arc<str>>) -> Self {
        ListRange { prefix: prefix.into(), ..ListRange::default() }
    }

    /// The same, at most `limit`.
    pub fn limit(self, limit: usize) -> Self {
        ListRange { limit: Some(limit), ..self }
    }

    /// What it reads of these values.
    pub(crate) fn take(&self, values: &BTreeMap<Arc<str>, Arc<Value>>) -> ListAnswer {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let from = match &self.start_after {
            Some(after) if **after >= *self.prefix => Excluded(Arc::clone(after)),
            _ => Included(Arc::clone(&self.prefix)),
        };
        let range = values.range((from, Unbounded)).take_while(|(key, _)| key.starts_with(&*self.prefix));
        let limit = self.limit.unwrap_or(usize::MAX);
        let copy = |(key, value): (&Arc<str>, &Arc<Value>)| (Arc::clone(key), Arc::clone(value));
        if self.reverse {
            let mut all: ListAnswer = range.map(copy).collect();
            all.reverse();
            all.truncate(limit);
            all
        } else {
            range.take(limit).map(copy).collect()
        }
    }
}
