//! The workers of commands that run many seeds: how many, how they are bounded, and how they are started.

use super::args::Changes;
use crate::planted::Leak;
use crate::supervisor::{MEMORY_LIMIT_MIB, RUN_LIMIT_S, WorkerSpec};
use clap::ValueEnum;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments about workers.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Workers {
    /// Workers at the same time, 1 to 1024; as many as there are cores when absent
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    jobs: Option<u16>,
    /// Wall-clock time that one run may take, 1 to 86400 seconds
    #[arg(long, value_name = "SECONDS", default_value_t = RUN_LIMIT_S, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_limit_s: u64,
    /// Memory that one worker may map, 2048 to 1048576 MiB; its allocator alone reserves one GiB
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_LIMIT_MIB, value_parser = clap::value_parser!(u64).range(2_048..=1_048_576))]
    memory_limit_mib: u64,
}

impl Workers {
    /// How many at the same time.
    pub fn jobs(&self) -> NonZeroUsize {
        let asked = self.jobs.and_then(|jobs| NonZeroUsize::new(usize::from(jobs)));
        asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }

    /// Wall-clock time that one run may take, in seconds.
    pub fn run_limit_s(&self) -> u64 {
        self.run_limit_s
    }

    /// Memory that one worker may map, in MiB.
    pub fn memory_limit_mib(&self) -> u64 {
        self.memory_limit_mib
    }

    /// The limits as they are typed, where they are not the usual ones.
    pub fn as_arguments(&self) -> impl Iterator<Item = String> {
        let run = (self.run_limit_s != RUN_LIMIT_S).then(|| format!("--run-limit-s {}", self.run_limit_s));
        let memory = self.memory_limit_mib != MEMORY_LIMIT_MIB;
        run.into_iter().chain(memory.then(|| format!("--memory-limit-mib {}", self.memory_limit_mib)))
    }

    /// One kind runs the seeds, the other repeats some, elsewhere, without an environment, at other addresses.
    pub fn specs(&self, changes: &Changes, leak: Option<Leak>) -> [WorkerSpec; 2] {
        let mut arguments = changes.as_arguments();
        arguments.push(format!("--memory-limit-mib={}", self.memory_limit_mib));
        // Longer than whoever asked waits: it matters only when nobody waits any more.
        arguments.push(format!("--run-limit-s={}", 2 * self.run_limit_s + 10));
        let leak = leak.and_then(|leak| leak.to_possible_value());
        arguments.extend(leak.map(|leak| format!("--plant-leak={}", leak.get_name())));
        let plain = WorkerSpec::plain(Duration::from_secs(self.run_limit_s));
        let runner = WorkerSpec { arguments: arguments.clone(), ..plain };
        arguments.push("--heap-ballast-kib=4321".to_owned());
        let repeater =
            WorkerSpec { arguments, directory: PathBuf::from("/"), is_environment_cleared: true, ..runner.clone() };
        [runner, repeater]
    }
}
