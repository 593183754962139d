//! A child process and all its descendants: started with nothing of our environment, ended whole, reaped.

use super::stderr::Stderr;
use domain::ports::{StdioError, StdioServer};
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret;
use std::{process::Stdio, sync::Arc, time::Duration};
use tokio::{
    process::{Child, ChildStdin, ChildStdout},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// What of our own environment a child gets: where programs and the home are, and language. Nothing else.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/// How long a child may take to end after its input was closed, and again after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long its last words may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running child.
pub(super) struct Process {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) keeper: Keeper,
}

/// Looks after a child until it has ended and been reaped.
pub(super) struct Keeper {
    child: Child,
    group: Group,
    stderr: Arc<Stderr>,
    stderr_reader: JoinHandle<()>,
}

/// A process group. Whatever of it still runs is killed when this is dropped.
struct Group(Option<Pid>);

/// Starts a server's command.
pub(super) fn start(server: &StdioServer) -> Result<Process, StdioError> {
    #[expect(clippy::disallowed_methods, reason = "the one place where child processes are started")]
    let mut command = tokio::process::Command::new(&server.command);
    command
        .args(&server.args)
        .env_clear()
        .envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(server.env.iter().map(|(name, value)| (name, value.expose_secret())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let failed = |reason: String| StdioError::Start { command: server.command.clone(), reason };
    let mut child = command.spawn().map_err(|e| {
        failed(match e.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no such command: install it, or give its full path".to_owned()
            }
            _ => e.to_string(),
        })
    })?;
    let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(output)) = pipes else {
        return Err(failed("its pipes could not be opened".to_owned()));
    };
    let stderr = Arc::new(Stderr::new(server.env.values().cloned().collect()));
    let stderr_reader = tokio::spawn({
        let (stderr, id) = (Arc::clone(&stderr), server.id.clone());
        async move { stderr.read(output, &id).await }
    });
    Ok(Process { stdin, stdout, keeper: Keeper { child, group, stderr, stderr_reader } })
}

impl Keeper {
    /// Waits until the child has ended by itself, or ends it once `stop` is set. Its input must be closed
    /// at the same time. `reader` ends when its output has been read. Says how it ended.
    pub(super) async fn keep(mut self, stop: CancellationToken, reader: JoinHandle<()>) -> String {
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = stop.cancelled() => self.end().await,
        };
        // What the child leaves running is of no use to anyone, and would hold the pipes.
        self.group.kill();
        let _ = tokio::time::timeout(LAST_WORDS, reader).await;
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.stderr_reader).await;
        self.stderr_reader.abort();
        let ended = match status {
            Ok(status) => format!("the process ended ({status})"),
            Err(error) => format!("the process is lost ({error})"),
        };
        match self.stderr.end() {
            end if end.is_empty() => ended,
            end => format!("{ended}; its last words: {end}"),
        }
    }

    async fn end(&mut self) -> std::io::Result<std::process::ExitStatus> {
        if let Ok(status) = tokio::time::timeout(GRACE, self.child.wait()).await {
            return status;
        }
        self.group.signal(Signal::TERM);
        if let Ok(status) = tokio::time::timeout(GRACE, self.child.wait()).await {
            return status;
        }
        self.group.signal(Signal::KILL);
        self.child.wait().await
    }
}

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // It fails when nobody is left in the group, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
