//! What a storage `list` reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::error::JsError;

/// Options of `list`.
#[derive(Clone, Debug, Default)]
pub struct ListRange {
    /// Keys that begin so.
    pub prefix: Arc<str>,
    /// Keys from this one on; not together with `start_after`.
    pub start: Option<Arc<str>>,
    /// Keys strictly after this one.
    pub start_after: Option<Arc<str>>,
    /// Keys strictly before this one.
    pub end: Option<Arc<str>>,
    /// From the top instead of the bottom.
    pub reverse: bool,
    /// At most so many; more than none.
    pub limit: Option<i64>,
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
        ListRange { limit: Some(i64::try_from(limit).unwrap_or(i64::MAX)), ..self }
    }

    /// What `list` throws for options that make no sense (platform fact 57).
    pub(super) fn check(&self) -> Result<(), JsError> {
        // Fact: 57. A list with a limit below one, or with two lower bounds, is refused. [R:S2]
        if self.start.is_some() && self.start_after.is_some() {
            return Err(JsError::type_error("list() cannot be called with both start and startAfter values."));
        }
        if self.limit.is_some_and(|limit| limit <= 0) {
            return Err(JsError::type_error("List limit must be positive."));
        }
        Ok(())
    }

    /// What it reads of these values.
    pub(crate) fn take(&self, values: &BTreeMap<Arc<str>, Arc<Value>>) -> ListAnswer {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        // Fact: 56. A list is ordered by UTF-8 bytes; its bounds, direction and limit are as named. [R:S2]
        let from = match (&self.start_after, &self.start) {
            (Some(after), _) if **after >= *self.prefix => Excluded(Arc::clone(after)),
            (_, Some(start)) if **start >= *self.prefix => Included(Arc::clone(start)),
            _ => Included(Arc::clone(&self.prefix)),
        };
        let is_inside =
            |key: &Arc<str>| key.starts_with(&*self.prefix) && self.end.as_ref().is_none_or(|end| **key < **end);
        let is_row = |(key, _): &(&Arc<str>, &Arc<Value>)| key.starts_with(super::table::MARK);
        let range = values.range((from, Unbounded)).skip_while(is_row).take_while(|(key, _)| is_inside(key));
        let limit = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
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
