//! `ctx.storage.sql`, as far as its users here need it: rows of a table by their ids, read and written without a wait.
//!
//! Rows lie beside the values and commit with the turn; `deleteAll` takes them too. What a zombie reads here is not
//! modelled: the storage call that follows rejects.

use std::sync::Arc;

use serde_json::Value;

use super::error::JsError;
use super::list_range::ListAnswer;
use super::storage::Storage;

/// How the keys begin that rows are kept under. A list of values does not show them.
pub(super) const MARK: char = '\0';

/// One table of an object.
pub struct Table {
    storage: Storage,
    prefix: String,
}

impl Storage {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Table {
        Table { storage: self.clone(), prefix: format!("{MARK}{name}:") }
    }
}

impl Table {
    /// Every row with its id, in the order of the ids.
    pub fn rows(&self) -> ListAnswer {
        let values = self.storage.store().values.borrow();
        let rows = values.range(Arc::<str>::from(&*self.prefix)..);
        let rows = rows.take_while(|(key, _)| key.starts_with(&self.prefix));
        rows.map(|(key, row)| (key[self.prefix.len()..].into(), Arc::clone(row))).collect()
    }

    /// Writes a row, over one with that id.
    ///
    /// # Errors
    /// From another context, the text for that; where the object was reset, that of its storage.
    pub fn insert(&self, id: &str, row: Value) -> Result<(), JsError> {
        self.storage.write_row(format!("{}{id}", self.prefix).into(), Some(Arc::new(row)))
    }

    /// Deletes a row, if there is one.
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub fn delete(&self, id: &str) -> Result<(), JsError> {
        self.storage.write_row(format!("{}{id}", self.prefix).into(), None)
    }
}
