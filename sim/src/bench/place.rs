//! Where and when figures were taken: build, date, commit and class of machine, without names of hosts and paths.

use super::child;
use crate::error::Error;
use crate::text::shortened;
use model::iso_time::to_iso;
use serde::Serialize;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What could not be found out.
const UNKNOWN: &str = "unknown";

/// Where and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Day, in UTC.
    pub date: String,
    /// How this program was built: `debug` or `release`.
    pub profile: &'static str,
    /// The commit of the checkout that it was run in, and whether its sources were changed since.
    pub commit: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Cores that this process may use; 0 for unknown.
    pub cores: usize,
    /// Memory of the machine in GiB, rounded; nothing where the system does not tell it.
    pub memory_gib: Option<u64>,
    /// Processes that wanted a core in the minute before: beside other work rates are low. Nothing where it is not told.
    pub load: Option<f64>,
}

impl Place {
    /// Looks around.
    ///
    /// # Errors
    /// An interruption.
    pub fn here() -> Result<Self, Error> {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Ok(Self {
            date: today(),
            profile: env!("SIM_PROFILE"),
            commit: commit()?,
            cpu: cpu_model(&cpu).unwrap_or_else(|| UNKNOWN.to_owned()),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_gib: super::memory::kib_of(&memory, "MemTotal").map(|kib| (kib + 512 * 1024) / (1024 * 1024)),
            load: load_of(&std::fs::read_to_string("/proc/loadavg").unwrap_or_default()),
        })
    }

    /// All of it in one line.
    pub fn line(&self) -> String {
        let cores = if self.cores == 1 { "1 core".to_owned() } else { format!("{} cores", self.cores) };
        let memory = self.memory_gib.map_or_else(String::new, |gib| format!(", {gib} GiB"));
        let load = self.load.map_or_else(String::new, |load| format!(", load {load:.1} before"));
        format!("{}, commit {}, {} build, {}, {cores}{memory}{load}", self.date, self.commit, self.profile, self.cpu)
    }
}

fn today() -> String {
    #[expect(clippy::disallowed_methods, reason = "the day on which figures were taken, outside of any run")]
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = to_iso(u64::try_from(since_epoch.as_millis()).unwrap_or(0));
    now.split('T').next().unwrap_or(UNKNOWN).to_owned()
}

/// The short name of the commit that is checked out here.
fn commit() -> Result<String, Error> {
    let git = |arguments: &[&str]| child::run(Command::new("git").args(arguments), None);
    let Ok(named) = git(&["rev-parse", "--short", "HEAD"])? else { return Ok(UNKNOWN.to_owned()) };
    let name = named.stdout.trim();
    if named.code != Some(0) || name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(UNKNOWN.to_owned());
    }
    // Only what goes into the program: the table itself is about to change.
    let changed = git(&["diff", "--quiet", "HEAD", "--", "*.rs", "*.toml", "Cargo.lock"])?;
    let is_changed = changed.is_ok_and(|ended| ended.code == Some(1));
    Ok(if is_changed { format!("{name} with changes") } else { name.to_owned() })
}

/// The first figure of `0.52 0.58 0.59 1/467 1234`.
fn load_of(loadavg: &str) -> Option<f64> {
    loadavg.split_whitespace().next()?.parse().ok()
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let model = line.split_once(':')?.1.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(shortened(&model, 80)).filter(|model| !model.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_of_the_cpu_is_read_and_safe_to_show() {
        let told = "processor\t: 0\nvendor_id\t: X\nmodel name\t: Some(R)  Processor @ 2.80GHz\nmodel name\t: other\n";
        assert_eq!(cpu_model(told).as_deref(), Some("Some(R) Processor @ 2.80GHz"));
        assert_eq!(cpu_model("model name\t: a\u{1b}[31mb").as_deref(), Some("a\\u{1b}[31mb"));
        assert_eq!(cpu_model("model name\t:\n"), None);
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn a_place_is_told_in_one_line() {
        let place = Place {
            date: "2026-11-30".to_owned(),
            profile: "release",
            commit: "28bb9d7".to_owned(),
            cpu: "Some CPU".to_owned(),
            cores: 2,
            memory_gib: Some(24),
            load: Some(6.69),
        };
        let line = "2026-11-30, commit 28bb9d7, release build, Some CPU, 2 cores, 24 GiB, load 6.7 before";
        assert_eq!(place.line(), line);
        let lesser = Place { cores: 1, memory_gib: None, load: None, ..place };
        assert!(lesser.line().ends_with("Some CPU, 1 core"));
    }

    #[test]
    fn the_load_is_the_first_figure() {
        assert_eq!(load_of("6.69 6.21 5.79 8/467 1234\n"), Some(6.69));
        assert_eq!((load_of(""), load_of("much")), (None, None));
    }

    #[test]
    fn today_is_a_day() {
        let today = today();
        assert!(today.len() == 10 && today.as_str() > "2026-01-01", "{today}");
    }
}
