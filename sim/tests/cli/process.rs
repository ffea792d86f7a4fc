//! Runs the program in a folder of its own, and shows what came of it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a command said and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON: {error}\n{}{}", self.stdout, self.stderr))
    }

    /// All three, as a snapshot shows them.
    pub fn shown(&self) -> String {
        format!("exit code: {}\n----- stdout -----\n{}----- stderr -----\n{}", self.code, self.stdout, self.stderr)
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Compares with a snapshot; counts and the digest of the whole run are blanked.
pub fn assert_ran(name: &str, ran: &Ran) {
    let filters = vec![
        (r"\brun [0-9a-f]{16}", "run [digest]"),
        (r#""run_digest": "[0-9a-f]{16}""#, r#""run_digest": "[digest]""#),
        (r"  +\d+ events", "  [count] events"),
        (r"\d+ operations", "[count] operations"),
        (r"event \d+ of \d+", "event [count] of [count]"),
        (r#""(event_count|operation_count|event)": \d+"#, r#""$1": "[count]""#),
        // Progress is told every few seconds of the clock on the wall.
        (r"(?m)^(fuzz|shrink): \d+ of .*\n", ""),
    ];
    insta::with_settings!({filters => filters, omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "../snapshots"}, {
        insta::assert_snapshot!(format!("cli__{name}"), ran.shown());
    });
}

/// A folder that is gone after the test.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A folder for one test; names are unique in this program.
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }

    /// Runs the program in the folder.
    pub fn sim(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().expect("sim can be started").into()
    }

    /// Runs it where no other program is found.
    pub fn sim_without_path(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).env("PATH", "").output().expect("sim can be started").into()
    }

    /// Runs it with a standard output that nobody reads.
    pub fn sim_into_closed_pipe(&self, arguments: &[&str]) -> Ran {
        let mut child =
            self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sim can be started");
        drop(child.stdout.take());
        child.wait_with_output().expect("sim ends").into()
    }

    /// Runs it with that folder for temporary files, and interrupts it once it has said its first line.
    #[cfg(unix)]
    pub fn sim_interrupted(&self, signal: &str, arguments: &[&str], temporary: &str) -> Ran {
        let mut command = self.command(arguments);
        command.env("TMPDIR", self.0.join(temporary)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("sim can be started");
        let mut told = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
        told.read_line(&mut String::new()).expect("it says what it does");
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.expect("a signal can be sent").success());
        let mut ran = Ran::from(child.wait_with_output().expect("sim ends"));
        told.read_to_string(&mut ran.stderr).expect("the program writes UTF-8");
        ran
    }

    /// The same, once a file or folder of that name is there.
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "the test waits for another process, in real time")]
    pub fn sim_interrupted_after(&self, place: &str, signal: &str, arguments: &[&str], temporary: &str) -> Ran {
        let mut command = self.command(arguments);
        command.env("TMPDIR", self.0.join(temporary)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("sim can be started");
        while !self.0.join(place).exists() {
            assert!(child.try_wait().expect("its state").is_none(), "it ended before {place} was there");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.expect("a signal can be sent").success());
        child.wait_with_output().expect("sim ends").into()
    }

    /// Runs it with a variable of the environment.
    pub fn sim_with(&self, variable: &str, value: &str, arguments: &[&str]) -> Ran {
        self.command(arguments).env(variable, value).output().expect("sim can be started").into()
    }

    /// Whether a folder in the folder has nothing in it.
    pub fn is_empty(&self, name: &str) -> bool {
        std::fs::read_dir(self.0.join(name)).expect("the folder can be read").next().is_none()
    }

    /// Runs it with its standard output in a file.
    pub fn sim_into_file(&self, file: &str, arguments: &[&str]) -> Ran {
        let file = std::fs::File::options().write(true).open(file).expect("the file can be opened");
        self.command(arguments).stdout(file).output().expect("sim can be started").into()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sim"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        // Whoever runs the tests may have a taste in colours.
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
            command.env_remove(variable);
        }
        command
    }

    /// Where a file of the folder is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).expect("the file can be written");
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes a folder in the folder.
    pub fn make_folder(&self, name: &str) {
        std::fs::create_dir_all(self.0.join(name)).expect("the folder can be made");
    }

    /// All files below the folder, in order.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.0.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("the folder can be read") {
                let path = entry.expect("the folder can be read").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(&self.0).expect("below the folder").to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover folder hurts nobody: it lies where cargo keeps such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
