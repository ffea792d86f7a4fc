//! Tells the program how it was built: `sim bench` prints the profile beside its figures, and what a campaign writes is
//! a function of the sources.

use std::fs;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// What the behaviour of a run, a check or a report is made of.
const SOURCES: [&str; 4] = ["../model/src", "../scenarios/src", "src", "../Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // `debug` or `release`; assertions are on in both, so the program could not tell them apart by itself.
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=SIM_PROFILE={profile}");
    let mut digest = Xxh3::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        add(&mut digest, Path::new(source));
    }
    println!("cargo::rustc-env=SIM_BUILD={:016x}", digest.digest());
}

/// Adds a file, or every file below a folder in the order of their names; names are part of it, places of folders not.
fn add(digest: &mut Xxh3, path: &Path) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder of sources can be read");
        let mut entries: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| add(digest, entry));
        return;
    }
    let name = path.to_string_lossy().replace('\\', "/");
    let text = fs::read(path).expect("a source can be read");
    digest.update(&(name.len() as u64).to_le_bytes());
    digest.update(name.as_bytes());
    digest.update(&(text.len() as u64).to_le_bytes());
    digest.update(&text);
}
