//! The findings that an entry may be kept for: the headings of `FINDINGS.md`.

use crate::error::Error;
use crate::files;
use crate::text::{near_names, shortened};
use std::path::Path;

/// The largest file of findings.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// Checks that a finding stands in that file, by its number or by its heading.
///
/// # Errors
/// A usage error for a finding that does not, and for a file that cannot be read.
pub fn check(file: &Path, finding: &str) -> Result<(), Error> {
    let bytes = files::read_bounded(file, "file of findings", BYTES_MAX)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Error::usage(format!("{}: is not UTF-8 text: name the file of findings", files::shown(file))))?;
    let all: Vec<(&str, &str)> = headings(text).collect();
    if all.iter().any(|(number, heading)| [*number, *heading].contains(&finding.trim())) {
        return Ok(());
    }
    let last = all.last().map_or("no finding yet".to_owned(), |(number, _)| format!("findings up to {number}"));
    let remedy = near_names(finding, all.iter().map(|(_, heading)| *heading))
        .unwrap_or_else(|| "write its entry first, or give the number of another".to_owned());
    Err(Error::usage(format!(
        "--finding {}: {} has {last}, and not this one: {remedy}",
        shortened(finding, 60),
        files::shown(file)
    )))
}

/// Number and heading of each `## 7. A heading`.
fn headings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (number, heading) = line.strip_prefix("## ")?.split_once(". ")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| (number, heading.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::store::Store;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    #[test]
    fn a_finding_is_meant_by_its_number_or_its_heading() {
        let told = "# Findings\n\n## 1. A thing\n\ntext\n## 12. Another thing\n## Something else\n";
        assert_eq!(headings(told).collect::<Vec<_>>(), [("1", "A thing"), ("12", "Another thing")]);
    }

    #[test]
    fn every_entry_of_the_corpus_is_kept_for_a_finding_that_there_is() {
        let entries = Store::new(&root().join("seeds")).entries().expect("the corpus can be read");
        let findings: Vec<String> = entries.into_iter().filter_map(|stored| stored.entry.keeps.finding).collect();
        assert!(!findings.is_empty());
        for finding in findings {
            assert_eq!(check(&root().join("FINDINGS.md"), &finding), Ok(()), "{finding}");
        }
    }
}
