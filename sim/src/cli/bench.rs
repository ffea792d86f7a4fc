//! `sim bench`: what runs cost on this machine.

use super::args::{self, Changes, Format};
use super::console::{Console, complain};
use crate::bench::{self, Memory, Speed};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::text::table;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use serde_json::json;
use std::fmt::Write;

/// Arguments of `sim bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Seeds of each scenario to time
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seeds: u32,
    /// Runs over which the growth of memory is read
    #[arg(long, value_name = "COUNT", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    memory_runs: u32,
    /// Only this scenario; may be repeated
    #[arg(long = "scenario", value_name = "ID")]
    scenarios: Vec<String>,
    #[command(flatten)]
    changes: Changes,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Measures and prints.
///
/// # Errors
/// Usage errors of the arguments; harness errors of runs and the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let mut speeds = Vec::new();
    let mut all_plans: Vec<Plan> = Vec::new();
    for scenario in args::scenarios_named(&args.scenarios)? {
        complain(&format!("bench: {}", scenario.id));
        let plans: Result<Vec<Plan>, Error> =
            (0..u64::from(args.seeds)).map(|seed| changes.draw(scenario, Seed(seed))).collect();
        let plans = plans?;
        speeds.push(bench::speed(scenario.id, &plans)?);
        all_plans.extend(plans);
    }
    let memory = bench::memory(&all_plans, args.memory_runs as usize)?;
    let last_line_ms = bench::start_to_last_line_ms(&["--seed", "1"])?;
    match args.format {
        Format::Text => console.print(&text(&speeds, memory.as_ref(), last_line_ms))?,
        Format::Json => console.print_json(&json!({
            "profile": profile(),
            "speed": speeds,
            "memory": memory,
            "start_to_last_line_ms": last_line_ms,
        }))?,
    }
    Ok(ExitCode::Held)
}

fn text(speeds: &[Speed], memory: Option<&Memory>, last_line_ms: f64) -> String {
    let head = ["scenario", "runs", "events", "digested/s", "kept/s", "judged/s", "kept:digested", "virtual:wall"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(speeds.iter().map(|speed| {
        vec![
            speed.scenario.clone(),
            speed.run_count.to_string(),
            speed.events_per_run.to_string(),
            format!("{:.0}", speed.digested_per_s),
            format!("{:.0}", speed.kept_per_s),
            format!("{:.0}", speed.judged_per_s),
            format!("{:.3}", speed.kept_over_digested),
            format!("{:.0}", speed.virtual_over_wall),
        ]
    }));
    let mut out = format!("{} build, one run at a time\n", profile());
    out.push_str(&table(&rows, &[1, 2, 3, 4, 5, 6, 7]));
    match memory {
        Some(memory) => {
            let Memory { run_count, before_kib, after_kib, bytes_per_run } = memory;
            let _ = writeln!(
                out,
                "memory over {run_count} runs: {before_kib} KiB before, {after_kib} KiB after, {bytes_per_run:.1} bytes a run"
            );
        }
        None => out.push_str("memory: not available\n"),
    }
    let _ = writeln!(out, "`sim --seed 1`, start to last line: {last_line_ms:.1} ms");
    out
}

/// How this program was built: `debug` or `release`.
fn profile() -> &'static str {
    env!("SIM_PROFILE")
}
