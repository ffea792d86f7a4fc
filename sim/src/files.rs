//! Files at the edge: reading what a person hands in with bounds, writing so that a reader never sees half a file.

use crate::error::Error;
use crate::text::printable;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Reads a whole file of at most `bytes_max` bytes.
///
/// # Errors
/// A usage error that names the file, what it is for (`plan`), what is wrong and what to do.
pub fn read_bounded(path: &Path, what: &str, bytes_max: usize) -> Result<Vec<u8>, Error> {
    let shown = shown(path);
    let refuse = |problem: &str| Error::usage(format!("{shown}: {problem}"));
    let cannot = |error: &std::io::Error| refuse(&format!("cannot read the {what}: {}", reason(error)));
    let about = fs::metadata(path).map_err(|error| cannot(&error))?;
    if about.is_dir() {
        return Err(refuse(&format!("is a directory, expected a {what} file: name the file in it")));
    }
    let too_large = || {
        let mebibytes = bytes_max / (1024 * 1024);
        refuse(&format!("is larger than {mebibytes} MiB, the most a {what} may have: check that it is a {what}"))
    };
    if about.len() > bytes_max as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| cannot(&error))?;
    // A device or a growing file has no length to trust: one byte more than allowed is enough to know.
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    if bytes.len() > bytes_max {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Writes a file under a temporary name beside it, syncs it, and renames it; missing folders are made.
///
/// # Errors
/// A usage error where the place cannot be written to, a harness error for every other failure; either names the file and
/// the reason, and the file is then as it was before.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temporary = write_beside(path, bytes)?;
    fs::rename(&temporary.path, path).map_err(|error| {
        // The failure is worth telling; a leftover temporary file hides nothing.
        let _ = fs::remove_file(&temporary.path);
        cannot_write(path, &error)
    })
}

/// Whether a file of that name can be written, found out by writing beside it; missing folders are made.
///
/// # Errors
/// As [`write_atomically`].
pub fn check_writable(path: &Path) -> Result<(), Error> {
    let temporary = write_beside(path, b"")?;
    fs::remove_file(&temporary.path).map_err(|error| cannot_write(path, &error))
}

/// Writes a file whose name is not taken yet, as [`write_atomically`] does; false, with nothing changed, when it is.
///
/// # Errors
/// As [`write_atomically`].
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let temporary = write_beside(path, bytes)?;
    // Unlike a rename, a second name for the file never takes the place of another file.
    let linked = fs::hard_link(&temporary.path, path);
    let _ = fs::remove_file(&temporary.path);
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(cannot_write(path, &error)),
    }
}

/// A file that is written beside the one it is meant for; locked while its process lives, so that nobody takes it for a
/// leftover.
struct Beside {
    path: PathBuf,
    _lock: File,
}

/// Writes bytes into a temporary file in the folder of that path, and syncs it.
fn write_beside(path: &Path, bytes: &[u8]) -> Result<Beside, Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| cannot_write(path, &error))?;
    let name = path.file_name().ok_or_else(|| Error::usage(format!("{}: is no file name", shown(path))))?;
    let name = name.to_string_lossy();
    remove_leftovers(folder, |temporary| is_temporary_of(temporary, &[&name]));
    let (temporary, mut file) = create_locked(folder, &name).map_err(|error| cannot_write(path, &error))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| {
        let _ = fs::remove_file(&temporary);
        cannot_write(path, &error)
    })?;
    Ok(Beside { path: temporary, _lock: file })
}

/// A temporary file of this process alone, empty and locked, for a file of that name.
fn create_locked(folder: &Path, name: &str) -> std::io::Result<(PathBuf, File)> {
    let mut number = u64::from(std::process::id());
    loop {
        let path = folder.join(format!(".{name}.{number}.tmp"));
        match File::create_new(&path) {
            Ok(file) => {
                // Some file systems know no locks; leftovers stay there.
                let _ = file.lock();
                // Until it was locked somebody could take it for a leftover and remove it.
                if path.symlink_metadata().is_ok() {
                    return Ok((path, file));
                }
            }
            // Another thread's, or a leftover that could not be removed.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes the temporary files of a folder whose names are chosen and whose processes were killed before they renamed them.
pub fn remove_leftovers(folder: &Path, is_chosen: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary(&name.to_string_lossy()) || !is_chosen(&name.to_string_lossy()) {
            continue;
        }
        // Whoever still writes it holds its lock. What cannot be removed stays, and disturbs nobody.
        let lock = File::options().write(true).open(entry.path());
        if lock.as_ref().is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What a person can mend, such as a folder that may not be written into, is their input; a full disk is not.
fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    cannot_change(path, "cannot write", error)
}

/// The same of every change to a file or folder: `what` says which could not be made.
pub fn cannot_change(path: &Path, what: &str, error: &std::io::Error) -> Error {
    use std::io::ErrorKind as Kind;
    let of_the_place = [
        Kind::PermissionDenied,
        Kind::ReadOnlyFilesystem,
        Kind::NotFound,
        Kind::NotADirectory,
        Kind::IsADirectory,
        Kind::AlreadyExists,
        Kind::InvalidFilename,
        Kind::Unsupported,
    ];
    let told = format!("{}: {what}: {}", shown(path), reason(error));
    match of_the_place.contains(&error.kind()) {
        true => Error::usage(format!("{told}: name a place that can be written to")),
        false => Error::harness(told),
    }
}

/// Whether a file name is one that [`write_atomically`] writes to before it renames: `.name.123.tmp`.
pub fn is_temporary(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let process = inner.and_then(|inner| inner.rsplit_once('.')).map(|(_, process)| process);
    process.is_some_and(|process| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a file name is one that [`write_atomically`] writes to on its way to one of these files.
pub fn is_temporary_of(name: &str, files: &[&str]) -> bool {
    let is_of = |file: &str| name.strip_prefix('.').is_some_and(|rest| rest.starts_with(&format!("{file}.")));
    is_temporary(name) && files.iter().any(|file| is_of(file))
}

/// A path as text that is safe to show.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// An I/O error in lower case and without the number of the operating system.
pub fn reason(error: &std::io::Error) -> String {
    let told = error.to_string();
    let told = told.split(" (os error").next().unwrap_or(&told);
    let mut letters = told.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A folder for one command, outside of the checkout; gone when the command ends.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder of that command.
    ///
    /// # Errors
    /// As [`write_atomically`].
    pub fn new(command: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("sim-{command}-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| cannot_change(&path, "cannot be made", &error))?;
        Ok(Self(path))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of it then is the system's to clean up, as everything in that place.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("sim-files-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("scratch folder");
        folder
    }

    #[test]
    fn a_write_replaces_the_file_and_leaves_nothing_else() {
        let folder = scratch("write");
        let path = folder.join("deep/er/plan.json");
        write_atomically(&path, b"one").expect("first");
        write_atomically(&path, b"two").expect("second");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        assert_eq!(fs::read_dir(path.parent().expect("parent")).expect("list").count(), 1);
        fs::remove_dir_all(folder).expect("clean up");
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_a_usage_error_and_leaves_nothing() {
        let folder = scratch("blocked");
        fs::create_dir_all(folder.join("taken/inside")).expect("a folder in the way");
        let error = write_atomically(&folder.join("taken"), b"x").expect_err("a folder has that name");
        assert_eq!(error.exit_code(), crate::exit_code::ExitCode::Usage);
        assert_eq!(fs::read_dir(&folder).expect("list").count(), 1);
        fs::remove_dir_all(folder).expect("clean up");
    }

    #[test]
    fn a_new_file_takes_the_place_of_none() {
        let folder = scratch("new");
        let path = folder.join("deep/entry.json");
        assert_eq!(write_new(&path, b"one"), Ok(true));
        assert_eq!(write_new(&path, b"two"), Ok(false));
        assert_eq!(fs::read(&path).expect("read"), b"one");
        assert_eq!(fs::read_dir(path.parent().expect("parent")).expect("list").count(), 1);
        fs::remove_dir_all(folder).expect("clean up");
    }

    #[test]
    fn a_full_disk_is_no_mistake_of_a_person() {
        use std::io::{Error as IoError, ErrorKind};
        for (kind, code) in [
            (ErrorKind::StorageFull, crate::exit_code::ExitCode::Harness),
            (ErrorKind::ReadOnlyFilesystem, crate::exit_code::ExitCode::Usage),
        ] {
            assert_eq!(cannot_write(Path::new("a"), &IoError::from(kind)).exit_code(), code, "{kind}");
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not() {
        let folder = scratch("leftovers");
        let names = || {
            let entries = fs::read_dir(&folder).expect("list").flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        for name in [".plan.json.1.tmp", ".other.json.1.tmp", ".plan.json.tmp"] {
            fs::write(folder.join(name), "half").expect("a leftover");
        }
        let living = File::create(folder.join(".plan.json.2.tmp")).expect("another process's");
        living.lock().expect("locked");
        write_atomically(&folder.join("plan.json"), b"whole").expect("written");
        assert_eq!(names(), [".other.json.1.tmp", ".plan.json.2.tmp", ".plan.json.tmp", "plan.json"]);
        drop(living);
        remove_leftovers(&folder, |_| true);
        assert_eq!(names(), [".plan.json.tmp", "plan.json"]);
        fs::remove_dir_all(folder).expect("clean up");
    }

    #[test]
    fn an_endless_device_is_refused_by_its_size() {
        let refusal = read_bounded(Path::new("/dev/zero"), "plan", 1024 * 1024).expect_err("endless");
        assert_eq!(
            refusal.to_string(),
            "/dev/zero: is larger than 1 MiB, the most a plan may have: check that it is a plan"
        );
    }
}
