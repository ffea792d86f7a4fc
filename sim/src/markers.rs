//! The block of a document that a command writes: what stands between two comments, and nothing else of it.

use crate::error::Error;
use crate::files;
use std::path::Path;

/// The two lines around the block of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Markers {
    /// The line before the block.
    pub begin: &'static str,
    /// The line after the block.
    pub end: &'static str,
}

/// Around the table of `sim bench`.
pub const BENCH: Markers = Markers {
    begin: "<!-- sim bench: begin; written by `sim bench --write`, not by hand -->",
    end: "<!-- sim bench: end -->",
};

/// Around the table of `sim defects`.
pub const DEFECTS: Markers = Markers {
    begin: "<!-- sim defects: begin; written by `sim defects --run --write`, not by hand -->",
    end: "<!-- sim defects: end -->",
};

/// The largest document.
const BYTES_MAX: usize = 4 * 1024 * 1024;

impl Markers {
    /// Reads a document and checks that it has a place for the block and can be written, before anything is measured.
    ///
    /// # Errors
    /// A usage error that names the file and what is missing.
    pub fn check(self, path: &Path) -> Result<(), Error> {
        self.replaced(path, "")?;
        files::check_writable(path)
    }

    /// Writes the block into the document.
    ///
    /// # Errors
    /// As [`Markers::check`]; a harness error when it cannot be written. The file is as it was then.
    pub fn write(self, path: &Path, block: &str) -> Result<(), Error> {
        files::write_atomically(path, self.replaced(path, block)?.as_bytes())
    }

    fn replaced(self, path: &Path, block: &str) -> Result<String, Error> {
        let refuse = |problem: &str| Error::usage(format!("{}: {problem}", files::shown(path)));
        // A link would be replaced by a file.
        if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Err(refuse("is a link, which writing would replace: name the file itself"));
        }
        let bytes = files::read_bounded(path, "document", BYTES_MAX)?;
        let text = String::from_utf8(bytes).map_err(|_| refuse("is not UTF-8: check that it is a document"))?;
        self.replace(&text, block).map_err(|problem| refuse(&problem))
    }

    /// The document with another block between the markers, each of which is a line of its own and stands once.
    fn replace(self, document: &str, block: &str) -> Result<String, String> {
        let begin = line(document, self.begin)?;
        let end = line(document, self.end)?;
        if end < begin {
            return Err(format!("the line `{}` stands before the line `{}`: put them in order", self.end, self.begin));
        }
        let after_begin = begin + self.begin.len();
        Ok(format!("{}\n\n{}\n\n{}", &document[..after_begin], block.trim_matches('\n'), &document[end..]))
    }
}

/// Where the only such line begins.
fn line(document: &str, marker: &str) -> Result<usize, String> {
    let mut found = document.match_indices(marker).map(|(at, _)| at).filter(|at| {
        let is_first = *at == 0 || document[..*at].ends_with('\n');
        let after = &document[*at + marker.len()..];
        is_first && (after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n"))
    });
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => Err(format!("the line `{marker}` stands twice: remove one")),
        (None, _) => Err(format!("the line `{marker}` is missing: add it where the table is to stand")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = BENCH.begin;
    const END: &str = BENCH.end;

    fn replace(document: &str, block: &str) -> Result<String, String> {
        BENCH.replace(document, block)
    }

    fn document(block: &str) -> String {
        format!("# Performance\n\nprose\n\n{BEGIN}{block}{END}\n\nmore prose\n")
    }

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let written = document("\n\n| new |\n\n");
        assert_eq!(replace(&document("\n"), "| new |\n"), Ok(written.clone()));
        assert_eq!(replace(&document("\nold\n\nolder\n"), "| new |"), Ok(written.clone()));
        assert_eq!(replace(&written, "| new |\n"), Ok(written), "written twice it is the same");
        let bare = format!("{BEGIN}\n{END}");
        assert_eq!(replace(&bare, "x"), Ok(format!("{BEGIN}\n\nx\n\n{END}")));
    }

    #[test]
    fn a_document_without_its_markers_in_order_is_refused() {
        for (text, told) in [
            (String::new(), "begin; written by `sim bench --write`, not by hand -->` is missing"),
            (format!("{BEGIN}\n"), "end -->` is missing"),
            (format!("{END}\n{BEGIN}\n"), "put them in order"),
            (format!("{BEGIN}\n{BEGIN}\n{END}\n"), "stands twice"),
            (format!("{BEGIN}\n{END}\n{END}\n"), "stands twice"),
            (format!("    {BEGIN}\n{END}\n"), "is missing"),
            (format!("{BEGIN} and\n{END}\n"), "is missing"),
        ] {
            let refusal = replace(&text, "x").expect_err(&text);
            assert!(refusal.contains(told), "{text}: {refusal}");
        }
    }

    #[test]
    fn a_file_that_is_refused_is_left_alone() {
        let scratch = files::Scratch::new("bench-markers-test").expect("a folder");
        let path = scratch.path().join("P.md");
        std::fs::write(&path, "no markers").expect("written");
        let refusal = BENCH.write(&path, "x").expect_err("no markers").to_string();
        assert!(refusal.contains("P.md: the line `<!-- sim bench: begin"), "{refusal}");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "no markers");
        std::fs::write(&path, document("\n")).expect("written");
        BENCH.write(&path, "| new |").expect("it has its markers");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), document("\n\n| new |\n\n"));
        assert!(
            BENCH.check(&scratch.path().join("none.md")).is_err_and(|error| error.to_string().contains("cannot read"))
        );
    }
}
