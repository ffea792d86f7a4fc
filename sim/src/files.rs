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
/// A harness error that names the file and the reason; the file is then as it was before.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temporary = write_beside(path, bytes)?;
    fs::rename(&temporary, path).map_err(|error| {
        // The failure is worth telling; a leftover temporary file hides nothing.
        let _ = fs::remove_file(&temporary);
        cannot_write(path, &error)
    })
}

/// Whether a file of that name can be written, found out by writing beside it; missing folders are made.
///
/// # Errors
/// As [`write_atomically`].
pub fn check_writable(path: &Path) -> Result<(), Error> {
    let temporary = write_beside(path, b"")?;
    fs::remove_file(&temporary).map_err(|error| cannot_write(path, &error))
}

/// Writes a file whose name is not taken yet, as [`write_atomically`] does; false, with nothing changed, when it is.
///
/// # Errors
/// A harness error that names the file and the reason.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let temporary = write_beside(path, bytes)?;
    // Unlike a rename, a second name for the file never takes the place of another file.
    let linked = fs::hard_link(&temporary, path);
    let _ = fs::remove_file(&temporary);
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(cannot_write(path, &error)),
    }
}

/// Writes bytes into a temporary file in the folder of that path, and syncs it.
fn write_beside(path: &Path, bytes: &[u8]) -> Result<PathBuf, Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| cannot_write(path, &error))?;
    let name = path.file_name().ok_or_else(|| Error::usage(format!("{}: is no file name", shown(path))))?;
    let temporary = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = File::create(&temporary).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        cannot_write(path, &error)
    })?;
    Ok(temporary)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::harness(format!("{}: cannot write: {}", shown(path), reason(error)))
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
    /// A harness error that names the folder.
    pub fn new(command: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("sim-{command}-{}", std::process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| Error::harness(format!("{}: cannot be made: {}", shown(&path), reason(&error))))?;
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
    fn a_write_that_cannot_be_done_is_a_harness_error_and_leaves_nothing() {
        let folder = scratch("blocked");
        fs::create_dir_all(folder.join("taken/inside")).expect("a folder in the way");
        let error = write_atomically(&folder.join("taken"), b"x").expect_err("a folder has that name");
        assert_eq!(error.exit_code(), crate::exit_code::ExitCode::Harness);
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
    fn an_endless_device_is_refused_by_its_size() {
        let refusal = read_bounded(Path::new("/dev/zero"), "plan", 1024 * 1024).expect_err("endless");
        assert_eq!(
            refusal.to_string(),
            "/dev/zero: is larger than 1 MiB, the most a plan may have: check that it is a plan"
        );
    }
}
