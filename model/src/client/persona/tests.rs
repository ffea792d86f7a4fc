//! Every persona against a server that does what a script says, as the real clients were measured: the delays and reactions
//! are those of the public client-behaviour tables, to the millisecond.

mod calls;
mod listeners;
mod script;
mod sessions;

use super::*;
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_say_the_version() {
    let names: BTreeSet<&str> = PERSONAS.iter().map(|persona| persona.name).collect();
    assert_eq!(names.len(), PERSONAS.len());
    for persona in PERSONAS {
        assert!(find(persona.name).is_some_and(|found| std::ptr::eq(found, *persona) || found.name == persona.name));
        assert!(persona.name.contains(|each: char| each.is_ascii_digit()), "{}", persona.name);
        assert!(!persona.story.ends_with('.'), "{}", persona.name);
    }
    assert!(find("ts-sdk").is_none());
}

#[test]
fn what_was_only_read_says_so() {
    let read = |persona: &&&Persona| matches!(persona.origin, Origin::Source(_));
    let names: Vec<&str> = PERSONAS.iter().filter(read).map(|persona| persona.name).collect();
    assert_eq!(names, ["go-sdk-2026-08", "csharp-sdk-2026", "vscode-2026"]);
    assert_eq!(go::GO_SDK.origin.to_string(), "source of the Go SDK of August and September 2026 only");
}
