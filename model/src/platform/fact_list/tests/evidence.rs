//! What the sources say about facts: comments where one is modelled, and tests that are named after one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A comment `Fact: N. <sentence> [<sources>]`.
pub struct Comment {
    /// Number of the fact.
    pub number: String,
    /// Everything after the number and its full stop, on one line.
    pub text: String,
    /// Path below the checkout.
    pub file: String,
}

/// What all sources say.
#[derive(Default)]
pub struct Evidence {
    /// The comments, by file and line.
    pub comments: Vec<Comment>,
    /// Tests by the number of their fact: path and name.
    pub tests: BTreeMap<String, Vec<(String, String)>>,
}

impl Evidence {
    /// Reads the sources of the workspace.
    pub fn read() -> Self {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned();
        let mut files = Vec::new();
        for folder in ["model/src", "scenarios/src", "sim/src", "sim/tests"] {
            collect(&root.join(folder), &mut files);
        }
        files.sort();
        let mut evidence = Evidence::default();
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a source can be read");
            let file = path.strip_prefix(&root).expect("below the checkout").to_string_lossy().replace('\\', "/");
            evidence.add(&file, &text);
        }
        evidence
    }

    /// Adds what one file says.
    pub fn add(&mut self, file: &str, text: &str) {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let line = line.trim();
            for number in name_of_test(line).map(numbers).unwrap_or_default() {
                let name = name_of_test(line).unwrap_or_default().to_owned();
                self.tests.entry(number.to_owned()).or_default().push((file.to_owned(), name));
            }
            let Some(begun) = line.strip_prefix("// Fact: ") else { continue };
            let mut said = begun.to_owned();
            // A comment ends with the bracket of its sources.
            while !said.ends_with(']') {
                let Some(more) = lines.next_if(|next| next.trim().starts_with("// ")) else { break };
                said.push(' ');
                said.push_str(more.trim().trim_start_matches("// "));
            }
            let (number, text) = said.split_once(". ").unwrap_or((&said, ""));
            let (number, text) = (number.to_owned(), text.to_owned());
            self.comments.push(Comment { number, text, file: file.to_owned() });
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            // Its own examples are no evidence.
            if !path.ends_with("fact_list") {
                collect(&path, files);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// The name of the function that a line begins, if it is named after a fact.
fn name_of_test(line: &str) -> Option<&str> {
    let name = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))?;
    name.starts_with("fact_").then(|| name.split(['(', '<']).next().unwrap_or(name))
}

/// The numbers that a test's name begins with: `fact_46_143_a_close` has two.
pub fn numbers(name: &str) -> Vec<&str> {
    let is_number = |part: &&str| {
        let digits = part.trim_end_matches(|last: char| last.is_ascii_lowercase());
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) && part.len() <= digits.len() + 1
    };
    name.split('_').skip(1).take_while(is_number).collect()
}
