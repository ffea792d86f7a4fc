//! What the compiler cannot say about this workspace: layers, registries, headers, lengths, and paths in the documents.
//!
//! Method: every source file is read, its comments and texts are blanked out, and simple questions are asked of the rest.

#[path = "tidy/source.rs"]
mod source;

use model::defect::DEFECTS;
use source::{Source, read, root, sources};
use std::path::Path;

/// Functions have at most this many lines, from their name to their closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Fails with every complaint at once.
fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Complaints about every file below `folder`, whose question returns what is wrong.
fn complaints(folder: &str, question: impl Fn(&Source) -> Option<String>) -> Vec<String> {
    let asked =
        sources(folder).into_iter().filter_map(|source| Some(format!("{}: {}", source.path, question(&source)?)));
    asked.collect()
}

/// The banned words that stand in the code of a file.
fn words_in(source: &Source, words: &[&str]) -> Option<String> {
    let found: Vec<&str> = words.iter().copied().filter(|word| source.production.contains(word)).collect();
    (!found.is_empty()).then(|| format!("mentions {}", found.join(", ")))
}

#[test]
fn every_file_says_in_its_first_line_what_it_is_for() {
    assert_none(complaints("", |source| {
        let is_told = source.text.starts_with("//! ") && source.text.lines().next().is_some_and(|line| line.len() > 12);
        (!is_told).then(|| "does not begin with `//!` and a sentence".to_owned())
    }));
}

#[test]
fn functions_are_short() {
    assert_none(complaints("", |source| {
        let long: Vec<String> = source
            .functions()
            .filter(|function| function.line_count > FUNCTION_LINES_MAX)
            .map(|function| format!("`{}` has {} lines", function.name, function.line_count))
            .collect();
        (!long.is_empty()).then(|| long.join(", "))
    }));
}

#[test]
fn nothing_is_left_undone_or_silenced() {
    assert_none(complaints("", |source| {
        let words = ["todo!", "unimplemented!", "dbg!", "#[ignore", "allow(dead_code", "allow(unused"];
        let found: Vec<&str> = words.into_iter().filter(|word| source.code.contains(word)).collect();
        (!found.is_empty()).then(|| format!("has {}", found.join(", ")))
    }));
}

#[test]
fn no_select_is_used_but_the_planted_one() {
    let all = complaints("", |source| words_in(source, &["select!", "select as"]));
    assert_none(all.into_iter().filter(|told| !told.starts_with("sim/src/planted.rs")).collect());
}

#[test]
fn only_the_door_of_the_model_names_the_simulator() {
    let all = complaints("model/src", |source| words_in(source, &["madsim::", "use madsim", "extern crate madsim"]));
    assert_none(
        all.into_iter()
            .filter(|told| !told.starts_with("model/src/rt.rs") && !told.starts_with("model/src/rt/"))
            .collect(),
    );
}

#[test]
fn only_the_world_of_the_harness_names_the_simulated_runtime() {
    let all = complaints("sim/src", |source| words_in(source, &["madsim::", "use madsim"]));
    assert_none(all.into_iter().filter(|told| !told.starts_with("sim/src/world.rs")).collect());
}

#[test]
fn plans_traces_and_claims_know_no_machine() {
    let words = [
        "madsim",
        "tokio",
        "tracing",
        "std::fs",
        "std::env",
        "std::time",
        "std::thread",
        "std::process",
        "std::net",
        "println!",
    ];
    assert_none(complaints("scenarios/src", |source| words_in(source, &words)));
}

#[test]
fn the_session_core_does_not_know_that_it_can_be_controlled() {
    assert_none(complaints("model/src/session", |source| {
        source.words().any(|word| word == "control").then(|| "mentions `control`".to_owned())
    }));
}

#[test]
fn nothing_in_the_core_or_the_framework_happens_on_drop() {
    // A reset drops what is pending and runs no code at all (platform fact 103): an effect on drop would be one.
    for folder in ["model/src/session", "model/src/agents"] {
        assert_none(complaints(folder, |source| {
            source.production.contains("Drop for").then(|| "implements `Drop`".to_owned())
        }));
    }
}

#[test]
fn each_defect_has_exactly_one_site() {
    let model: Vec<Source> =
        sources("model/src").into_iter().filter(|source| source.path != "model/src/defect.rs").collect();
    let wrong = DEFECTS.iter().filter_map(|info| {
        let name = format!("{:?}", info.defect);
        let sites: Vec<&str> =
            model.iter().flat_map(|source| vec![source.path.as_str(); source.defect_sites(&name)]).collect();
        (sites.len() != 1).then(|| format!("{} has {} sites: {}", info.name, sites.len(), sites.join(", ")))
    });
    assert_none(wrong.collect());
}

#[test]
fn every_invariant_in_the_folder_is_in_the_registry() {
    let all = sources("scenarios/src/invariants");
    let names: Vec<&str> = scenarios::invariants::ALL.iter().map(|invariant| invariant.name).collect();
    let claims: Vec<&Source> = all.iter().filter(|source| source.production.contains("const INVARIANT")).collect();
    let missing = claims.iter().map(|source| kebab(source.stem())).filter(|name| !names.contains(&name.as_str()));
    assert_none(
        missing.map(|name| format!("scenarios/src/invariants: {name} is not registered under that name")).collect(),
    );
    assert_eq!(claims.len(), names.len(), "a file a claim");
}

#[test]
fn every_scenario_in_the_folder_is_in_the_catalog_under_its_path() {
    let ids: Vec<&str> = scenarios::catalog::all().map(|scenario| scenario.id).collect();
    let files: Vec<String> = sources("scenarios/src/catalog")
        .iter()
        .filter(|source| source.production.contains("const SCENARIO:"))
        .map(|source| kebab(source.path.trim_start_matches("scenarios/src/catalog/").trim_end_matches(".rs")))
        .collect();
    let missing = files.iter().filter(|file| !ids.contains(&file.as_str()));
    assert_none(
        missing.map(|file| format!("scenarios/src/catalog: {file} is not in the catalog under that id")).collect(),
    );
    assert_eq!(files.len(), ids.len(), "a file a scenario");
}

#[test]
fn every_path_in_the_documents_exists() {
    let mut complaints = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md"] {
        let text = read(&root().join(document));
        let missing = paths_in(&text).into_iter().filter(|path| !root().join(path).exists());
        complaints.extend(missing.map(|path| format!("{document}: {path} does not exist")));
    }
    assert_none(complaints);
}

/// What a document names in backticks and looks like a path of this checkout.
fn paths_in(document: &str) -> Vec<String> {
    // Text between fences shows sessions and output; single backticks name things.
    let prose: String = document.split("```").step_by(2).collect();
    let quoted = prose.split('`').skip(1).step_by(2);
    let is_path = |text: &&str| {
        let top = ["model/", "scenarios/", "sim/", "seeds/", ".ci/", ".cargo/"];
        let is_file = [".rs", ".md", ".toml"].iter().any(|end| text.ends_with(end));
        let is_plain = !text.contains(|each: char| each.is_whitespace() || "<>*{}$…:".contains(each));
        is_plain && (is_file || top.iter().any(|top| text.starts_with(top)))
    };
    quoted.filter(is_path).map(str::to_owned).collect()
}

fn kebab(snake: &str) -> String {
    snake.replace('_', "-")
}

#[test]
fn paths_are_found_in_prose_and_not_in_examples() {
    let document = "See `model/src/rt.rs`, `README.md` and `cargo run -p sim`.\n```\n`sim/none.rs`\n```\nAlso `seeds/`, `seeds/<id>.json`.";
    assert_eq!(paths_in(document), ["model/src/rt.rs", "README.md", "seeds/"]);
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).starts_with(root()));
}
