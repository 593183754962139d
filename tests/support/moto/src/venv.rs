//! The Python environment that moto lives in, made once per machine and version.

use anyhow::{Context as _, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const REQUIREMENT: &str = "moto[server]==5.2.5";
const NAME: &str = "venv-moto-5.2.5";

/// The server's program. The first call on a machine installs it, which takes a minute; test processes that
/// come meanwhile wait for it.
pub(crate) fn moto_server() -> Result<PathBuf> {
    let cache = cache()?;
    fs::create_dir_all(&cache)?;
    let venv = cache.join(NAME);
    let (program, ready) = (venv.join("bin/moto_server"), venv.join(".ready"));
    if ready.exists() {
        return Ok(program);
    }
    let lock = fs::File::create(cache.join(format!("{NAME}.lock")))?;
    lock.lock()?;
    if !ready.exists() {
        install(&venv)?;
        fs::write(&ready, REQUIREMENT)?;
    }
    Ok(program)
}

fn install(venv: &Path) -> Result<()> {
    if venv.exists() {
        fs::remove_dir_all(venv).context("a half-made environment could not be removed")?;
    }
    run(command(Path::new("python3")).args(["-m", "venv"]).arg(venv))?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        REQUIREMENT,
    ];
    run(command(&venv.join("bin/python")).args(pip))
}

fn cache() -> Result<PathBuf> {
    let base = match (env::var_os("XDG_CACHE_HOME"), env::var_os("HOME")) {
        (Some(cache), _) if !cache.is_empty() => PathBuf::from(cache),
        (_, Some(home)) => PathBuf::from(home).join(".cache"),
        _ => bail!("neither XDG_CACHE_HOME nor HOME is set"),
    };
    Ok(base.join("haft"))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("{command:?} does not start"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server that tests talk to is a program of its own"
)]
pub(crate) fn command(program: &Path) -> Command {
    Command::new(program)
}
