//! Names of entries: kebab-case paths such as `idle/stream-stays-open/late-alarm`, which are also their places on disk.

use crate::error::Error;
use crate::text::shortened;
use std::fmt;
use std::path::{Path, PathBuf};

/// Entries that are no longer run lie below this folder.
pub const RETIRED: &str = "retired";
/// Where plans go whose scenario is no path: those that a person wrote.
const BY_HAND: &str = "by-hand";
/// The longest segment of a name, in bytes.
const SEGMENT_BYTES_MAX: usize = 64;
/// The most segments that a name has.
const SEGMENT_COUNT_MAX: usize = 6;

/// The name of an entry: scenario and slug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryName(String);

impl EntryName {
    /// Reads a whole name.
    ///
    /// # Errors
    /// A usage error for everything that is no name; a path that leaves the folder is none.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if is_path(text) && text.contains('/') {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::usage(format!(
            "`{}` is no name of an entry: write it like idle/stream-stays-open/late-alarm",
            shortened(text, 60)
        )))
    }

    /// The name for a plan of that scenario; a scenario that is no path is one that a person wrote.
    ///
    /// # Errors
    /// A usage error for a slug that is not one.
    pub fn of(scenario: &str, slug: &str) -> Result<Self, Error> {
        if !is_segment(slug) {
            return Err(Error::usage(format!(
                "--name `{}` is no slug of small letters, digits and single -: write it like late-alarm",
                shortened(slug, 60)
            )));
        }
        let folder = if is_path(scenario) { scenario } else { BY_HAND };
        Self::parse(&format!("{folder}/{slug}"))
    }

    /// The name of the entry in that file of the folder.
    ///
    /// # Errors
    /// A usage error when the file is not named as an entry is.
    pub fn of_file(folder: &Path, file: &Path) -> Result<Self, Error> {
        let inside = file.strip_prefix(folder).unwrap_or(file).with_extension("");
        let text = inside.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        Self::parse(&text).map_err(|_| {
            Error::usage(format!(
                "{}: is not named as an entry is: call it like idle/stream-stays-open/late-alarm.json",
                crate::files::shown(file)
            ))
        })
    }

    /// Its file in the folder.
    pub fn file_in(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.json", self.0))
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a person who types this means the entry: its whole name or its end.
    pub fn is_meant_by(&self, typed: &str) -> bool {
        self.0 == typed || self.0.strip_suffix(typed).is_some_and(|before| before.ends_with('/'))
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Segments between slashes; the folder of the retired is no scenario.
fn is_path(text: &str) -> bool {
    text.split('/').count() <= SEGMENT_COUNT_MAX
        && text.split('/').all(is_segment)
        && text.split('/').next() != Some(RETIRED)
}

fn is_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= SEGMENT_BYTES_MAX
        && text.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && text.bytes().all(is_plain)
        && !text.ends_with('-')
        && !text.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_place_below_the_folder_and_nothing_else_is_a_name() {
        let name = EntryName::of("idle/stream-stays-open", "late-alarm").expect("a scenario and a slug");
        assert_eq!(name.to_string(), "idle/stream-stays-open/late-alarm");
        let file = name.file_in(Path::new("seeds"));
        assert_eq!(file, Path::new("seeds/idle/stream-stays-open/late-alarm.json"));
        assert_eq!(EntryName::of_file(Path::new("seeds"), &file), Ok(name));
        let long = format!("a/{}", "b".repeat(SEGMENT_BYTES_MAX + 1));
        for wrong in [
            "",
            "a",
            "/a",
            "a/",
            "../a",
            "a/../b",
            "a/./b",
            "a//b",
            "A/b",
            "a/b.json",
            "a/b c",
            "a/-b",
            "a/b-",
            "a/b--c",
            "a\\b/c",
            "a/\u{1b}[31m",
            "retired/a/b",
            "a/b/c/d/e/f/g",
            &long,
        ] {
            let refusal = EntryName::parse(wrong).expect_err(wrong).to_string();
            assert!(refusal.contains("is no name of an entry") && !refusal.contains('\u{1b}'), "{refusal}");
        }
    }

    #[test]
    fn plans_of_no_scenario_are_kept_by_hand_and_a_slug_is_one_segment() {
        assert_eq!(EntryName::of("Something else", "x").map(|name| name.to_string()), Ok("by-hand/x".to_owned()));
        assert_eq!(EntryName::of("../up", "x").map(|name| name.to_string()), Ok("by-hand/x".to_owned()));
        assert_eq!(EntryName::of("retired", "x").map(|name| name.to_string()), Ok("by-hand/x".to_owned()));
        for wrong in ["a/b", "..", "", "X"] {
            assert!(EntryName::of("idle/a", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_end_of_a_name_is_enough_to_mean_it() {
        let name = EntryName::parse("idle/stream-stays-open/late-alarm").expect("a name");
        assert!(name.is_meant_by("late-alarm") && name.is_meant_by("stream-stays-open/late-alarm"));
        assert!(name.is_meant_by(name.as_str()) && !name.is_meant_by("alarm") && !name.is_meant_by(""));
    }
}
