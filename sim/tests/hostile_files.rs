//! No file that is handed in makes the program panic, grow or hang: each is read, or refused in one sentence.
//!
//! Method: good files are mutated, and every parser reads what comes of it, each file on its own stream of random numbers,
//! so that a complaint is reproduced by its number alone. `HOSTILE_FILES=5000000` sets how many files each parser reads,
//! `HOSTILE_FROM` the first number, `HOSTILE_PARSER` one parser.

#[path = "hostile_files/largest.rs"]
mod largest;
#[path = "hostile_files/mutate.rs"]
mod mutate;
#[path = "hostile_files/parsers.rs"]
mod parsers;
#[path = "hostile_files/program.rs"]
mod program;

use mutate::mutated;
use parsers::Parser;
use scenarios::rng::Rng;
use scenarios::seed::{Entropy, Seed};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Files that each parser reads unless the environment says otherwise.
const FILE_COUNT: u64 = 2_000;
/// The stack that a parser gets, in bytes: a file must not choose how deep it goes.
const STACK_BYTES: usize = 1024 * 1024;

/// A number from the environment.
fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
        Err(_) => otherwise,
    }
}

/// The file of that number.
fn file(parser: &Parser, number: u64) -> Vec<u8> {
    mutated(&parser.bases, &mut Rng::named(&Entropy::of("hostile files", Seed(number)), parser.name))
}

/// What is wrong with how a parser deals with a file, and whether it accepted it.
fn read(parser: &Parser, bytes: &[u8]) -> Result<bool, String> {
    catch_unwind(AssertUnwindSafe(|| (parser.read)(bytes))).unwrap_or_else(|_| Err("panicked".to_owned()))
}

/// Reads that many files, and counts those that are accepted.
fn accepted(parser: &Parser, from: u64, count: u64) -> u64 {
    let mut accepted = 0;
    for number in from..from + count {
        let bytes = file(parser, number);
        match read(parser, &bytes) {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(complaint) => {
                let start: String = String::from_utf8_lossy(&bytes).chars().take(2_000).collect();
                panic!("{} file {number} of {} bytes: {complaint}\n{start:?}", parser.name, bytes.len());
            }
        }
    }
    accepted
}

#[test]
fn every_parser_reads_or_refuses_every_file() {
    let (from, count) = (number("HOSTILE_FROM", 0), number("HOSTILE_FILES", FILE_COUNT));
    let only = std::env::var("HOSTILE_PARSER").ok();
    for parser in parsers::all().into_iter().filter(|parser| only.as_deref().is_none_or(|only| parser.name == only)) {
        let name = parser.name;
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let reader = thread.spawn(move || accepted(&parser, from, count)).expect("a thread can be started");
        let accepted = reader.join().unwrap_or_else(|_| panic!("{name}: see above"));
        println!("{name}: {count} files, {accepted} accepted");
        // Files that are all refused, or all accepted, would test little.
        assert!(count < 1_000 || (count / 500..count * 19 / 20).contains(&accepted), "{name}: {accepted} of {count}");
    }
}

#[test]
fn the_good_files_are_accepted() {
    for parser in parsers::all() {
        assert!(!parser.bases.is_empty(), "{}", parser.name);
        for base in &parser.bases {
            assert_eq!(read(&parser, base.bytes()), Ok(true), "{}", parser.name);
        }
    }
}

#[test]
fn a_file_is_the_same_whenever_it_is_made() {
    let parser = &parsers::all()[0];
    assert!((0..50).all(|number| file(parser, number) == file(parser, number)));
    assert!((1..50).any(|number| file(parser, number) != file(parser, 0)));
}

#[test]
fn a_parser_that_is_wrong_is_told() {
    let wrong = [
        ("panicked", (|_| panic!("on purpose")) as fn(&[u8]) -> Result<bool, String>),
        ("the refusal is no line", |_| parsers::sentence("two\nlines").map(|()| false)),
        ("the refusal has 5000 characters", |_| parsers::sentence(&"x".repeat(5_000)).map(|()| false)),
    ];
    for (expected, read_wrongly) in wrong {
        let parser = Parser { name: "wrong", bases: Vec::new(), read: read_wrongly };
        let told = read(&parser, b"").expect_err(expected);
        assert!(told.starts_with(expected), "{told}");
    }
}
