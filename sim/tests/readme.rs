//! The README's runs are real: each command in a `console` block prints what stands below it.
//!
//! A line `...` in the block stands for any number of lines. `UPDATE_README=1` writes what the commands print now: a
//! block between two such lines stays the paragraph that begins as its first line does.

use std::path::{Path, PathBuf};
use std::process::Command;

const PROMPT: &str = "$ cargo run -p sim -- ";

struct Block {
    arguments: Vec<String>,
    expected: Vec<String>,
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")
}

fn readme() -> String {
    std::fs::read_to_string(path()).expect("the README is there")
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "```console" {
            continue;
        }
        let command = lines.next().and_then(|line| line.strip_prefix(PROMPT)).expect("a console block is one command");
        let expected = lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
        blocks.push(Block { arguments: command.split_whitespace().map(str::to_owned).collect(), expected });
    }
    blocks
}

fn output(arguments: &[String]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("sim-readme-{}", std::process::id()));
    copy(&path().with_file_name("seeds"), &folder.join("seeds"));
    let run = Command::new(env!("CARGO_BIN_EXE_sim")).args(arguments).current_dir(&folder).output();
    let run = run.expect("the program runs");
    std::fs::remove_dir_all(&folder).expect("the scratch folder goes");
    String::from_utf8(run.stdout).expect("the output is text").lines().map(str::to_owned).collect()
}

/// A copy of the corpus: whatever a command of the README does to it, it does to that.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a scratch folder");
    for entry in std::fs::read_dir(from).expect("the folder can be read") {
        let from = entry.expect("the folder can be read").path();
        let to = to.join(from.file_name().expect("an entry has a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("the file can be copied");
        }
    }
}

/// Whether `actual` is what `expected` describes.
fn matches(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((line, rest)) if line == "..." => (0..=actual.len()).any(|skipped| matches(rest, &actual[skipped..])),
        Some((line, rest)) => actual.first() == Some(line) && matches(rest, &actual[1..]),
    }
}

/// What the block shall show of what the command prints now.
fn shown(expected: &[String], actual: &[String]) -> Vec<String> {
    let elided = "...".to_owned();
    let Some(first) = expected.iter().find(|line| **line != elided).filter(|_| expected.contains(&elided)) else {
        return actual.to_vec();
    };
    let paragraph = actual.split(String::is_empty).find(|lines| lines.first() == Some(first));
    let paragraph = paragraph.expect("the command still prints the paragraph that the README shows");
    [std::slice::from_ref(&elided), paragraph, std::slice::from_ref(&elided)].concat()
}

#[test]
fn the_runs_in_the_readme_print_what_it_shows() {
    let found = blocks(&readme());
    assert!(found.len() >= 2, "the README shows a run and a failure");
    for block in found {
        let actual = output(&block.arguments);
        if std::env::var_os("UPDATE_README").is_some() {
            let now = shown(&block.expected, &actual).join("\n");
            let command = format!("{PROMPT}{}\n", block.arguments.join(" "));
            let updated = readme().replacen(&(command.clone() + &block.expected.join("\n")), &(command + &now), 1);
            std::fs::write(path(), updated).expect("the README can be written");
            continue;
        }
        assert!(
            matches(&block.expected, &actual),
            "README: `{PROMPT}{}` prints\n{}",
            block.arguments.join(" "),
            actual.join("\n")
        );
    }
}

#[test]
fn an_ellipsis_stands_for_any_number_of_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(matches(&lines("..."), &[]));
    assert!(!matches(&lines("a\n...\ne"), &lines("a\nb\nc\nd")));
}
