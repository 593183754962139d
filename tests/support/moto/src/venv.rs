//! The Python environment that moto lives in, installed once per machine by the script that installs all tools.

use anyhow::{Context as _, Result, bail};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Prints the environment's folder; of several processes that come at once, one installs and the others wait.
const INSTALL: &str = "source ../lib.sh && tool_venv moto requirements.txt";

/// The server's program. The first call on a machine installs it, which takes a minute.
pub(crate) fn moto_server() -> Result<PathBuf> {
    let mut bash = command(Path::new("bash"));
    bash.args(["-c", INSTALL]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = bash.output().context("bash does not start")?;
    if !output.status.success() {
        bail!("moto could not be installed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let folder = String::from_utf8(output.stdout).context("the folder's name is no text")?;
    Ok(Path::new(folder.trim()).join("bin/moto_server"))
}

#[expect(clippy::disallowed_methods, reason = "the server that tests talk to is a program of its own")]
pub(crate) fn command(program: &Path) -> Command {
    Command::new(program)
}
