//! The command line: one command a file, shared arguments in `args`, everything printed through `console`.

pub mod args;
mod bench;
mod bench_part;
mod conform;
mod console;
mod contract;
mod corpus;
mod defects;
mod fuzz;
mod list;
mod meta;
mod operations;
mod plan;
mod reach;
mod replay;
mod run;
mod shrink;
mod worker;
mod workers;

use crate::error::Error;
use crate::exit_code::ExitCode;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use console::{Color, Console, complain};
use std::ffi::OsString;

/// Runs MCP sessions in Durable Objects from a seed, the same way every time, and judges what happened.
///
/// Exit codes: 0 held, 2 usage or bad input, 10 safety, 11 liveness, 12 crash, 13 nondeterminism, 14 a fault was not
/// delivered or a situation not reached, 20 harness error, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "sim", version, subcommand_negates_reqs = true)]
struct CommandLine {
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    #[command(flatten)]
    run: run::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run a seed through every scenario, or through one (the default)
    Run(run::Args),
    /// Print the scenarios, invariants and defects; or the rows of reach
    List(list::Args),
    /// Print the plan that a scenario draws from a seed
    Plan(plan::Args),
    /// Run a plan from a file
    Replay(replay::Args),
    /// Make a plan that fails as small and simple as it can be, while it fails in the same way
    Shrink(shrink::Args),
    /// Check the rows of the seed contract, each in a world of its own
    Contract(contract::Args),
    /// Replay what probes did on the real runtime, and compare
    Conform(conform::Args),
    /// Replay the plans that are kept for ever; add, list and retire them
    Corpus(corpus::Args),
    /// Check that runs repeat: the same seeds in two processes, in opposite orders
    Meta(meta::Args),
    /// Run many seeds: what fails is folded, run again in a fresh process, made small and kept
    Fuzz(fuzz::Args),
    /// Run many seeds, and print which situations they came to and how close they came to the others
    Reach(reach::Args),
    /// Print what can be broken and the check predicted to catch it; with `--run`, which check does, and how soon
    Defects(defects::Args),
    /// Print the suspension points of the modelled host
    Operations(operations::Args),
    /// Measure what must be fast or small, or set two builds against each other
    Bench(bench::Args),
    #[command(hide = true)]
    BenchPart(bench_part::Args),
    #[command(hide = true)]
    Worker(worker::Args),
}

/// Does what the arguments ask for and returns how it ended; the first argument is the name of the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed = match parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return not_understood(&error),
    };
    let mut console = Console::new(parsed.color);
    dispatch(parsed, &mut console).unwrap_or_else(|error| {
        complain(&format!("error: {error}"));
        error.exit_code()
    })
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
    let mut command = CommandLine::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    if let Some((name, argument)) = misplaced(&command, &matches) {
        let text =
            format!("{argument} stands before the command '{name}', which does not take it there: write it behind");
        return Err(command.error(ErrorKind::ArgumentConflict, text));
    }
    CommandLine::from_arg_matches(&matches)
}

/// An argument of the default command before the name of another; what every command takes may stand anywhere.
fn misplaced<'a>(command: &clap::Command, matches: &'a ArgMatches) -> Option<(&'a str, String)> {
    let name = matches.subcommand_name()?;
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let mut arguments = command.get_arguments().filter(|argument| !argument.is_global_set());
    arguments.find(|argument| given(argument.get_id().as_str())).map(|argument| {
        let long = argument.get_long().map_or_else(|| argument.get_id().to_string(), |long| format!("--{long}"));
        (name, long)
    })
}

fn dispatch(parsed: CommandLine, console: &mut Console) -> Result<ExitCode, Error> {
    match parsed.command.unwrap_or(Command::Run(parsed.run)) {
        Command::Run(args) => run::execute(&args, console),
        Command::List(args) => list::execute(&args, console),
        Command::Plan(args) => plan::execute(&args, console),
        Command::Replay(args) => replay::execute(&args, console),
        Command::Shrink(args) => shrink::execute(&args, console),
        Command::Contract(args) => contract::execute(&args, console),
        Command::Conform(args) => conform::execute(&args, console),
        Command::Corpus(args) => corpus::execute(&args, console),
        Command::Meta(args) => meta::execute(&args, console),
        Command::Fuzz(args) => fuzz::execute(&args, console),
        Command::Reach(args) => reach::execute(&args, console),
        Command::Defects(args) => defects::execute(&args, console),
        Command::Operations(args) => operations::execute(&args, console),
        Command::Bench(args) => bench::execute(&args, console),
        Command::BenchPart(args) => bench_part::execute(&args, console),
        Command::Worker(args) => worker::execute(&args),
    }
}

/// Help and version are results; everything else that the parser refuses becomes one sentence.
fn not_understood(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that went away is none of our business here either.
        let _ = error.print();
        return ExitCode::Held;
    }
    complain(&sentence_of(&error.to_string()));
    ExitCode::Usage
}

/// The parser's complaint without its usage block: `error: …; …`, tips joined to the sentence they belong to.
fn sentence_of(told: &str) -> String {
    let told = told.split("\n\nUsage:").next().unwrap_or(told);
    let told = told.split("\n\nFor more information").next().unwrap_or(told);
    let mut sentence = String::new();
    for line in told.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("tip: ").unwrap_or(line);
        let glue = if sentence.is_empty() {
            ""
        } else if sentence.ends_with(':') || line.starts_with('[') {
            " "
        } else {
            "; "
        };
        sentence.push_str(glue);
        sentence.push_str(line);
    }
    crate::text::printable(&sentence).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn what_every_command_takes_may_stand_before_it_and_nothing_else() {
        let parsed = |arguments: &[&str]| parse(arguments.iter().map(OsString::from));
        assert!(parsed(&["sim", "--color", "always", "list"]).is_ok());
        let complaint = parsed(&["sim", "--seed", "1", "list"]).map(drop).expect_err("the seed is of the run");
        let told = "error: --seed stands before the command 'list', which does not take it there: write it behind";
        assert_eq!(sentence_of(&complaint.to_string()), told);
    }

    #[test]
    fn a_complaint_of_the_parser_becomes_one_sentence() {
        let complaint = CommandLine::try_parse_from(["sim", "--seeed", "1"]).expect_err("unknown flag");
        let sentence = sentence_of(&complaint.to_string());
        assert_eq!(sentence, "error: unexpected argument '--seeed' found; a similar argument exists: '--seed'");
        let complaint = CommandLine::try_parse_from(["sim", "--seed", "\u{1b}[31m"]).expect_err("no seed");
        let sentence = sentence_of(&complaint.to_string());
        assert!(!sentence.contains('\n') && !sentence.contains('\u{1b}'), "{sentence}");
    }
}
