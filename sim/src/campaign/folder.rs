//! The folder of a campaign: what is known is kept in it while the campaign runs, and nobody else's work is touched.

use super::record::{CampaignOptions, FORMAT, Record};
use crate::error::Error;
use crate::files::{self, shown, write_atomically};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const RECORD_FILE: &str = "campaign.json";
const LOCK_FILE: &str = ".lock";
/// Where findings are kept, a folder each.
pub(super) const FINDINGS: &str = "findings";
/// What a campaign writes beside them.
const FILES: &[&str] = &[RECORD_FILE, "findings.json", "junit.xml", "summary.md"];
/// What it writes of one finding.
pub(super) const FINDING_FILES: &[&str] = &["plan.json", "shrunk.json", "trace.jsonl", "report.txt"];

/// What is done with a campaign that the folder holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It goes on where it stopped.
    Resume,
    /// It is refused.
    Refuse,
    /// It is refused unless it came to its end: the same seeds of the same build give the same again.
    Repeat,
}

/// The folder of one campaign, which no other process writes into meanwhile.
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens or makes the folder, and returns it with the record that is gone on with.
    ///
    /// # Errors
    /// A usage error that names the folder or file, what is wrong and what to do, when it holds anything but a campaign
    /// of this build and these options; nothing is changed in it then.
    pub fn open(path: &Path, options: CampaignOptions, existing: Existing) -> Result<(Self, Record), Error> {
        let known = |options| match read_record(path)? {
            Some(found) => going_on(path, found, options, existing),
            None => Ok(Record::new(options)),
        };
        known(options.clone())?;
        check_places(path)?;
        fs::create_dir_all(path)
            .map_err(|error| Error::usage(format!("{}: cannot be made: {}", shown(path), files::reason(&error))))?;
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        // Read again: whoever held the lock until now may have gone on.
        let record = known(options)?;
        folder.remove_leftovers();
        folder.save(&record)?;
        Ok((folder, record))
    }

    /// Keeps what is known, so that it survives whatever happens next.
    ///
    /// # Errors
    /// A harness error when it cannot be written; what was kept before is kept still.
    pub fn save(&self, record: &Record) -> Result<(), Error> {
        self.write(RECORD_FILE, record.to_json().as_bytes())
    }

    /// Writes a file of the campaign.
    ///
    /// # Errors
    /// A harness error when it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        write_atomically(&self.path.join(name), bytes)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Half-written files that a killed process left: nobody reads them, and they would make two folders differ.
    fn remove_leftovers(&self) {
        let of = |files: &'static [&'static str]| move |name: &str| files::is_temporary_of(name, files);
        files::remove_leftovers(&self.path, of(FILES));
        for finding in fs::read_dir(self.path.join(FINDINGS)).into_iter().flatten().flatten() {
            files::remove_leftovers(&finding.path(), of(FINDING_FILES));
        }
    }
}

/// `0..1000-1f2e3d4c`: a name for the folder of a campaign that nobody named, other for other builds and options.
pub fn default_name(options: &CampaignOptions) -> String {
    let told = serde_json::to_string(options).expect("options are plain data");
    let key = xxh3_64(format!("{} {told}", env!("SIM_BUILD")).as_bytes()) >> 32;
    format!("{options}-{key:08x}")
}

/// The options of the campaign in a folder; none when there is none yet.
///
/// # Errors
/// As of [`Folder::open`], for what is no campaign.
pub fn recorded_options(path: &Path) -> Result<Option<CampaignOptions>, Error> {
    Ok(read_record(path)?.map(|record| record.options))
}

fn read_record(path: &Path) -> Result<Option<Record>, Error> {
    let file = path.join(RECORD_FILE);
    if let Ok(found) = file.symlink_metadata() {
        if !found.is_file() {
            return Err(Error::usage(format!("{}: is no ordinary file: name another folder", shown(&file))));
        }
        let bytes = files::read_bounded(&file, FORMAT.what, FORMAT.bytes_max)?;
        let read = Record::parse(&bytes).map_err(|refusal| refusal.in_file(&file.to_string_lossy()));
        return read.map(Some).map_err(|refusal| Error::usage(crate::text::printable(&refusal.to_string())));
    }
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let entries = fs::read_dir(path).map_err(|error| {
        Error::usage(format!("{}: is no folder for a campaign: {}: name another", shown(path), files::reason(&error)))
    })?;
    let foreign = entries
        .flatten()
        .map(|entry| entry.file_name())
        .find(|name| name != LOCK_FILE && !files::is_temporary_of(&name.to_string_lossy(), FILES));
    match foreign {
        Some(name) => Err(Error::usage(format!(
            "{}: holds other files, such as {}, and no campaign: name an empty or a new folder",
            shown(path),
            shown(Path::new(&name))
        ))),
        None => Ok(None),
    }
}

/// Whatever stands where the campaign will write must be what it could have written: a link would lead out of the folder.
fn check_places(path: &Path) -> Result<(), Error> {
    let refuse = |place: &Path, what: &str| {
        Err(Error::usage(format!("{}: is no {what}: name another folder with `--out`", shown(place))))
    };
    for file in FILES.iter().map(|file| path.join(file)) {
        if file.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return refuse(&file, "ordinary file");
        }
    }
    let findings = path.join(FINDINGS);
    match findings.symlink_metadata() {
        Ok(found) if !found.is_dir() => return refuse(&findings, "ordinary folder"),
        Ok(_) => {}
        Err(_) => return Ok(()),
    }
    for entry in fs::read_dir(&findings).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return refuse(&entry.path(), "ordinary folder");
        }
    }
    Ok(())
}

fn going_on(path: &Path, mut found: Record, options: CampaignOptions, existing: Existing) -> Result<Record, Error> {
    let place = shown(path);
    if found.build != env!("SIM_BUILD") {
        let (theirs, ours) = (&found.build, env!("SIM_BUILD"));
        return Err(Error::usage(format!(
            "{place}: holds a campaign of build {theirs}, this is {ours}: name another folder with `--out`"
        )));
    }
    if let Some(option) = differing(&found.options, &options) {
        return Err(Error::usage(format!(
            "{place}: holds a campaign with another `{option}`: repeat its options, or name another folder with `--out`"
        )));
    }
    let has_ended = found.next_seed().is_none() || found.has_enough();
    match existing {
        Existing::Resume => {
            found.ended = None;
            Ok(found)
        }
        Existing::Repeat if has_ended => Ok(Record::new(options)),
        Existing::Repeat | Existing::Refuse => Err(Error::usage(format!(
            "{place}: holds this campaign after {} seeds: add `--resume` to go on with it, or name another folder with `--out`",
            found.seed_count
        ))),
    }
}

/// The first option that is not the same, as it is typed.
fn differing(one: &CampaignOptions, other: &CampaignOptions) -> Option<&'static str> {
    let checks = [
        ("--seeds", (one.from, one.to, one.includes_to) == (other.from, other.to, other.includes_to)),
        ("--scenario", one.scenarios == other.scenarios),
        ("--defect, --set or --core", one.changes == other.changes),
        ("--twice", one.is_twice == other.is_twice),
        ("--stop-after", one.stop_after == other.stop_after),
        ("--baseline", one.known == other.known),
        ("--shrink-runs", one.shrink_runs == other.shrink_runs),
        ("--run-limit-s", one.run_limit_s == other.run_limit_s),
        ("--memory-limit-mib", one.memory_limit_mib == other.memory_limit_mib),
    ];
    checks.into_iter().find(|(_, is_same)| !is_same).map(|(name, _)| name)
}

fn lock(path: &Path) -> Result<File, Error> {
    let cannot = |error: &std::io::Error| {
        Error::usage(format!("{}: cannot be written into: {}: name another folder", shown(path), files::reason(error)))
    };
    let file = path.join(LOCK_FILE);
    if file.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(Error::usage(format!("{}: is no ordinary file: name another folder", shown(&file))));
    }
    let lock = File::options().create(true).truncate(false).write(true).open(file);
    let lock = lock.map_err(|error| cannot(&error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::usage(format!(
            "{}: another campaign is writing there: wait for it, or name another folder with `--out`",
            shown(path)
        ))),
        Err(TryLockError::Error(error)) => Err(cannot(&error)),
    }
}

#[cfg(test)]
mod tests;
