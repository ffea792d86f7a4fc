//! The built program on mutated files: it ends with 2 and one sentence, or runs what is still a plan.

use crate::mutate::{Base, mutated};
use crate::{number, parsers};
use scenarios::plan::{Action, Plan};
use scenarios::rng::Rng;
use scenarios::seed::{Entropy, Seed};
use std::path::Path;
use std::process::{Command, Stdio};

/// Files that the program is given unless `HOSTILE_REPLAYS` says otherwise.
const FILE_COUNT: u64 = 40;
/// How a run of a plan may end; 20 is a plan that asks for what no run can give, such as a pin that is too large.
const CODES: [i32; 6] = [0, 10, 11, 12, 14, 20];

/// Whether a run of it takes little: the files are hostile, and large plans are valid.
fn is_small(plan: &Plan) -> bool {
    let steps: usize = plan.clients.iter().map(|client| client.steps.len()).sum();
    let calls: usize = plan.callers.iter().map(|caller| caller.calls.len()).sum();
    let text = plan.to_json();
    let times = plan.clients.iter().flat_map(|client| &client.steps).map(|step| step.at_ms);
    let is_code_short = |action: &Action| action.code().is_none_or(|code| code.len() <= 1_000);
    let is_short = plan.clients.iter().flat_map(|client| &client.steps).all(|step| is_code_short(&step.action));
    plan.clients.len() + plan.storage.len() + steps + calls + plan.faults.len() < 100
        && is_short
        && text.len() < 20_000
        && plan.world.isolate_count <= 20
        && times.chain([plan.settle.quiet_ms, plan.settle.quiet_after_ms]).all(|ms| ms <= 10_000_000)
}

#[test]
fn the_program_ends_with_a_sentence_or_with_the_code_of_a_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let bases: Vec<Base> = parsers::plans().iter().map(|bytes| Base::new(bytes)).collect();
    let (mut run, mut refused) = (0, 0);
    for number in 0..number("HOSTILE_REPLAYS", FILE_COUNT) {
        let bytes = mutated(&bases, &mut Rng::named(&Entropy::of("hostile replays", Seed(number)), "plan"));
        let plan = Plan::parse(&bytes);
        if plan.as_ref().is_ok_and(|plan| !is_small(plan)) {
            continue;
        }
        std::fs::write(folder.join("plan.json"), &bytes).expect("the file can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_sim"))
            .args(["replay", "plan.json"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("sim can be started");
        let told = String::from_utf8(output.stderr).expect("the program writes UTF-8");
        let code = output.status.code().unwrap_or(-1);
        let shown = format!("file {number} ended with {code}: {told}{:?}", String::from_utf8_lossy(&bytes));
        if code == 2 {
            refused += 1;
            let sentence = told.strip_prefix("error: ").and_then(|told| told.strip_suffix('\n')).expect(&shown);
            assert_eq!(parsers::sentence(sentence), Ok(()), "{shown}");
            assert!(output.stdout.is_empty(), "{shown}");
        } else {
            run += 1;
            assert!(plan.is_ok() && CODES.contains(&code), "{shown}");
        }
    }
    println!("{run} run, {refused} refused");
    assert!(refused > run / 10, "{run} run, {refused} refused");
    // A leftover folder hurts nobody: it lies where cargo keeps such things.
    let _ = std::fs::remove_dir_all(&folder);
}
