//! The folder of the corpus: reading every entry at the edge, adding without overwriting, retiring without deleting.

use super::entry::{Entry, Keeps};
use super::name::{EntryName, RETIRED};
use crate::error::Error;
use crate::files;
use crate::text::{did_you_mean, printable, shortened};
use scenarios::bad_input::{BadInput, PLAN_BYTES_MAX};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The deepest folder that entries are looked for in.
const DEPTH_MAX: usize = 8;
/// The most entries that a folder may have.
const ENTRY_COUNT_MAX: usize = 10_000;

/// An entry and its name.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its name, without the folder of the retired.
    pub name: EntryName,
    /// What its file holds.
    pub entry: Entry,
}

/// A folder with entries.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in that folder; it is looked at when entries are asked for.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The entries that are run, in the order of their names.
    ///
    /// # Errors
    /// A usage error for the first file that is no entry; nothing is run then.
    pub fn entries(&self) -> Result<Vec<Stored>, Error> {
        self.read_below(&self.folder)
    }

    /// The retired entries, in the order of their names.
    ///
    /// # Errors
    /// As [`Store::entries`].
    pub fn retired(&self) -> Result<Vec<Stored>, Error> {
        let folder = self.folder.join(RETIRED);
        if folder.is_dir() { self.read_below(&folder) } else { Ok(Vec::new()) }
    }

    /// The entries that a person named, in the order of their names; all of them when none is named.
    ///
    /// # Errors
    /// As [`Store::entries`]; a usage error for a name that no entry has.
    pub fn named(&self, typed: &[String]) -> Result<Vec<Stored>, Error> {
        let all = self.entries()?;
        if let Some(unknown) = typed.iter().find(|typed| all.iter().all(|stored| !stored.name.is_meant_by(typed))) {
            let hint = did_you_mean(unknown, all.iter().map(|stored| stored.name.as_str()), "sim corpus list --all");
            return Err(Error::usage(format!("no entry is called `{}`: {hint}", shortened(unknown, 60))));
        }
        let is_named = |stored: &Stored| typed.is_empty() || typed.iter().any(|typed| stored.name.is_meant_by(typed));
        Ok(all.into_iter().filter(is_named).collect())
    }

    /// Writes a new entry and tells its file.
    ///
    /// # Errors
    /// A usage error when the name is taken by other content, or retired, when another entry keeps the same plan for the
    /// same, and when an entry there cannot be read; otherwise as of
    /// [`files::write_atomically`].
    pub fn add(&self, name: &EntryName, entry: &Entry) -> Result<PathBuf, Error> {
        let retired = name.file_in(&self.folder.join(RETIRED));
        if retired.exists() {
            return Err(Error::usage(format!("{name}: an entry of that name is retired: choose another name")));
        }
        let file = name.file_in(&self.folder);
        if let Some(twin) = self.twin(name, entry)? {
            return Err(Error::usage(format!(
                "{name}: {twin} keeps this very plan, and for the same: one entry of it is enough"
            )));
        }
        self.write_new(&file, entry)?;
        remove_leftovers(&self.folder, DEPTH_MAX);
        Ok(file)
    }

    /// The entry of another name that keeps the same plan for the same.
    fn twin(&self, name: &EntryName, entry: &Entry) -> Result<Option<EntryName>, Error> {
        let about = |entry: &Entry| {
            let Keeps { defects, core, finding, .. } = &entry.keeps;
            (entry.plan.content_digest(), defects.iter().cloned().collect::<BTreeSet<_>>(), *core, finding.clone())
        };
        let all = if self.folder.is_dir() { self.entries()? } else { Vec::new() };
        let is_twin = |stored: &Stored| stored.name != *name && about(&stored.entry) == about(entry);
        Ok(all.into_iter().find(is_twin).map(|stored| stored.name))
    }

    /// Writes an entry again, with what its runs show now.
    ///
    /// # Errors
    /// As of [`files::write_atomically`].
    pub fn rewrite(&self, stored: &Stored) -> Result<(), Error> {
        files::write_atomically(&stored.name.file_in(&self.folder), stored.entry.to_json().as_bytes())
    }

    /// Moves an entry to the retired ones, with the reason, and tells where it is.
    ///
    /// # Errors
    /// A usage error for a name that no entry has, for a reason that is none, and when the place is taken.
    pub fn retire(&self, typed: &str, why: &str) -> Result<(EntryName, PathBuf), Error> {
        let found = self.named(&[typed.to_owned()])?;
        let [Stored { name, entry }] = &found[..] else {
            let names: Vec<&str> = found.iter().map(|stored| stored.name.as_str()).collect();
            return Err(Error::usage(format!(
                "`{}` is the end of several names: write one of {} in full",
                shortened(typed, 60),
                names.join(", ")
            )));
        };
        let entry = Entry { retired: Some(why.to_owned()), ..entry.clone() };
        entry.validate().map_err(|refusal| Error::usage(format!("--why: {}: {}", refusal.problem, refusal.remedy)))?;
        let to = name.file_in(&self.folder.join(RETIRED));
        self.write_new(&to, &entry)?;
        // Only once it is safe there: whoever is stopped in between has it twice.
        let from = name.file_in(&self.folder);
        fs::remove_file(&from).map_err(|error| files::cannot_change(&from, "cannot remove it", &error))?;
        Ok((name.clone(), to))
    }

    fn write_new(&self, file: &Path, entry: &Entry) -> Result<(), Error> {
        let text = entry.to_json();
        if files::write_new(file, text.as_bytes())? {
            return Ok(());
        }
        if files::read_bounded(file, "entry", PLAN_BYTES_MAX)? == text.as_bytes() {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{}: holds another entry, and entries are kept: choose another name",
            files::shown(file)
        )))
    }

    fn read_below(&self, folder: &Path) -> Result<Vec<Stored>, Error> {
        let mut files = Vec::new();
        find(folder, DEPTH_MAX, &mut files)?;
        files.sort();
        if folder == self.folder {
            files.retain(|file| !file.starts_with(self.folder.join(RETIRED)));
        }
        let mut all = Vec::new();
        for file in files {
            all.push(Stored { name: EntryName::of_file(folder, &file)?, entry: read(&file)? });
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }
}

/// The entry of a file, with every name in it known to this build.
///
/// # Errors
/// A usage error that names the file, the place in it, what was expected and what to do.
pub fn read(file: &Path) -> Result<Entry, Error> {
    read_bytes(file, &files::read_bounded(file, "entry", PLAN_BYTES_MAX)?)
}

/// The same, of bytes that were read already.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(file: &Path, bytes: &[u8]) -> Result<Entry, Error> {
    let in_file = |refusal: BadInput| Error::usage(printable(&refusal.in_file(&file.to_string_lossy()).to_string()));
    let entry = Entry::parse(bytes).map_err(in_file)?;
    let broken = entry.broken_plan();
    crate::draw::check_names(broken.as_ref().unwrap_or(&entry.plan), file)?;
    Ok(entry)
}

/// Removes what killed processes left of entries that they were writing; no entry is ever missing for it.
fn remove_leftovers(folder: &Path, depth: usize) {
    files::remove_leftovers(folder, |name| name.contains(".json."));
    let Some(depth) = depth.checked_sub(1) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_leftovers(&entry.path(), depth);
        }
    }
}

/// Every `.json` file below a folder; links to folders are not followed, and hidden files are none of the corpus.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let refuse = |problem: String| Error::usage(format!("{}: {problem}", files::shown(folder)));
    let cannot =
        |error: std::io::Error| refuse(format!("cannot read the folder of entries: {}", files::reason(&error)));
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type().map_err(cannot)?.is_dir() {
            if depth == 0 {
                return Err(refuse(format!("folders deeper than {DEPTH_MAX}: entries lie less deep, so move it up")));
            }
            find(&entry.path(), depth - 1, found)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "json") {
            found.push(entry.path());
        }
        if found.len() > ENTRY_COUNT_MAX {
            return Err(refuse(format!(
                "more than {ENTRY_COUNT_MAX} entries: check that it is the folder of a corpus"
            )));
        }
    }
    Ok(())
}
