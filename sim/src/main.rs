//! The program `sim`: parse, dispatch, exit code.

/// A run makes and drops tens of thousands of small values on a thread of its own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    sim::cli::main(std::env::args_os()).into()
}
