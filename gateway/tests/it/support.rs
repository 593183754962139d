//! Runs the binary in a directory of its own, with nothing of this process's environment but `PATH`.

use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
};
use tempfile::TempDir;

pub(crate) const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// A directory in which commands run; their data directory is `.haft` in it.
pub(crate) struct Place {
    dir: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What a command did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A server that runs until it is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    // Kept open: a server whose reader has gone could fail on a write.
    _out: BufReader<ChildStdout>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), variables: Vec::new() }
    }

    /// The same place, where commands find this variable set.
    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn data(&self, name: &str) -> PathBuf {
        self.dir.path().join(".haft").join(name)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done::from(&self.command(HAFT, args).output().unwrap())
    }

    /// Starts `haft serve` on a free port and waits until it accepts.
    pub(crate) fn serve(&self) -> Served {
        Served::start(self.command(HAFT, &["serve", "--addr", "127.0.0.1:0"]))
    }

    #[expect(clippy::disallowed_methods, reason = "the test runs the binary that it tests")]
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }
}

impl Served {
    /// Starts a command that serves, and waits for the line that says where.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let Some(url) = line.trim().strip_prefix("listening on ").map(str::to_owned) else {
            let output = child.wait_with_output().unwrap();
            panic!("it does not serve: {line}{}", String::from_utf8_lossy(&output.stderr));
        };
        Self { child, url, _out: out }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, waits for the end, and gives the exit code with what was logged.
    pub(crate) fn end(mut self, place: &Place, signal: &str) -> Done {
        let killed = place.command("kill", &[signal, &self.pid().to_string()]).status().unwrap();
        assert!(killed.success());
        let status = self.child.wait().unwrap();
        let mut err = String::new();
        let stderr = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut BufReader::new(stderr), &mut err).unwrap();
        Done { code: status.code(), out: String::new(), err }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn failed(self) -> Self {
        assert_eq!(self.code, Some(1), "{}{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }
}

impl From<&Output> for Done {
    fn from(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
