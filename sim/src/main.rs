//! The program `sim`: parse, dispatch, exit code.

fn main() -> std::process::ExitCode {
    sim::cli::main(std::env::args_os()).into()
}
