//! Every rule of `clippy.toml` and of the workspace's lint list is shown to fire, in the simulated form and in the real one.
//!
//! Method: a crate that breaks each rule once is checked by `cargo clippy` under the workspace's configuration, in both
//! forms; what is said is compared, line by line, with what the crate's comments say must be said. It has a folder of its
//! own for what is built, so that neither the workspace's build nor its lock is touched.

use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A form in which the model is built.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Simulated,
    Real,
}

impl Form {
    fn flags(self) -> &'static str {
        match self {
            Form::Simulated => "--cfg madsim",
            Form::Real => "",
        }
    }
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn fixture() -> PathBuf {
    package().join("tests/lint-fixture")
}

fn workspace() -> &'static Path {
    package().parent().expect("the package lies in the workspace")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What clippy says about the fixture: (line, lint, the whole message).
fn said(form: Form) -> Vec<(usize, String, String)> {
    // The versions that the workspace uses; cargo takes out what the fixture does not need.
    let lock = read(&workspace().join("Cargo.lock"));
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(if form == Form::Real { "lint-real" } else { "lint-simulated" });
    copy_fixture(&folder);
    std::fs::write(folder.join("Cargo.lock"), lock).expect("the lock file can be written");
    let output = Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--message-format=json", "--quiet"])
        .current_dir(&folder)
        .env("CLIPPY_CONF_DIR", workspace())
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTFLAGS", form.flags())
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo clippy can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let said: Vec<_> = text.lines().filter_map(message).collect();
    assert!(!said.is_empty(), "clippy said nothing:\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn copy_fixture(folder: &Path) {
    for file in ["Cargo.toml", "src/lib.rs", "futures/Cargo.toml", "futures/src/lib.rs"] {
        let parent = folder.join(file);
        std::fs::create_dir_all(parent.parent().expect("a file in a folder")).expect("a folder for the fixture");
        std::fs::copy(fixture().join(file), folder.join(file)).expect("the fixture can be copied");
    }
}

fn message(line: &str) -> Option<(usize, String, String)> {
    let message: Json = serde_json::from_str(line).ok()?;
    let message = message.get("message")?;
    let lint = message["code"]["code"].as_str()?.trim_start_matches("clippy::").to_owned();
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"] == true)?;
    let at = outermost(span)["line_start"].as_u64()?;
    Some((usize::try_from(at).ok()?, lint, message["message"].as_str()?.to_owned()))
}

/// Where a macro that made this place is used.
fn outermost(span: &Json) -> &Json {
    let made_by = &span["expansion"]["span"];
    if made_by.is_null() { span } else { outermost(made_by) }
}

/// What the comments of the fixture demand: (line, lint).
fn demanded(form: Form) -> BTreeSet<(usize, String)> {
    let source = read(&fixture().join("src/lib.rs"));
    let only_simulated =
        source.lines().position(|line| line == "#[cfg(madsim)]").expect("the fixture has a part of the simulator");
    let part_end =
        only_simulated + source.lines().skip(only_simulated).position(|line| line == "}").expect("the part ends");
    let lines = source.lines().enumerate().skip(1).filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter(|(at, _)| form == Form::Simulated || !(only_simulated..=part_end).contains(at))
        .filter_map(|(at, line)| Some((at + 1, line.split_once(" // ")?.1.to_owned())))
        .collect()
}

/// The paths that `clippy.toml` bans.
fn banned() -> Vec<String> {
    let rules = read(&workspace().join("clippy.toml"));
    let paths = rules.lines().filter_map(|line| line.split_once("path = \"")?.1.split_once('"'));
    paths.map(|(path, _)| path.to_owned()).collect()
}

#[test]
fn every_rule_fires_in_a_form_that_has_what_it_bans() {
    let mut reported: BTreeSet<(usize, String)> = BTreeSet::new();
    for form in [Form::Simulated, Form::Real] {
        let fired: BTreeSet<_> = said(form).into_iter().map(|(at, lint, _)| (at, lint)).collect();
        let silent: Vec<_> = demanded(form).difference(&fired).cloned().collect();
        assert!(
            silent.is_empty(),
            "clippy is silent about these lines of the fixture, built with {:?}: {silent:?}",
            form.flags()
        );
        reported.extend(fired);
    }
    let source = read(&fixture().join("src/lib.rs"));
    let is_reported = |path: &String| {
        let mut uses = source.lines().enumerate().filter(|(_, line)| uses(line, path));
        uses.any(|(at, _)| reported.iter().any(|(line, lint)| *line == at + 1 && lint.starts_with("disallowed_")))
    };
    let silent: Vec<_> = banned().into_iter().filter(|path| !is_reported(path)).collect();
    assert!(silent.is_empty(), "clippy.toml bans these paths, and no use of them is reported: {silent:?}");
}

/// Whether a line uses a path, and not one that only begins with it.
fn uses(line: &str, path: &str) -> bool {
    let longer = |rest: &str| rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    line.split_once(path).is_some_and(|(_, rest)| !longer(rest))
}

#[test]
fn the_fixture_has_the_lint_list_of_the_workspace() {
    let list = |text: &str, heading: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| *line != heading).skip(1);
        lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let (ours, theirs) = (read(&workspace().join("Cargo.toml")), read(&fixture().join("Cargo.toml")));
    for kind in ["rust", "clippy"] {
        let ours = list(&ours, &format!("[workspace.lints.{kind}]"));
        assert!(!ours.is_empty());
        assert_eq!(ours, list(&theirs, &format!("[lints.{kind}]")), "{kind}");
    }
}

#[test]
fn a_build_without_the_simulation_says_what_to_do() {
    // The compiler alone is enough: the sentence comes before it misses any dependency.
    let output = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"))
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-o"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-simulation.rmeta"))
        .arg(package().join("src/lib.rs"))
        .output()
        .expect("rustc can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let first = said.lines().find(|line| line.starts_with("error")).unwrap_or_default();
    assert!(first.contains("unset RUSTFLAGS") && first.contains("--cfg madsim"), "{first}");
}
