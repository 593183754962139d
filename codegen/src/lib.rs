//! The build-time compiler of the builtin tool registry.
//!
//! It reads a registry folder (YAML files that describe providers and tools, Rust files that implement them,
//! icons), checks that all of it agrees, and writes ONE Rust file: module declarations, a typed parameter
//! struct per tool, static metadata, icons and the factory table. A mistake in the folder becomes a build
//! error with file, line, column and a hint; all mistakes are reported at once.
//!
//! The emitted file speaks to two modules of the crate that includes it: `crate::contract` (what a tool's
//! author writes against) and `crate::runtime` (what the generated code is written against).
//!
//! Neighbours: `providers/build.rs` calls [`build_script`]; the command line calls [`scaffold::new_tool`].
//! It must never know what a tool does, nor depend on any other crate of the product.

mod diagnostic;
mod emit;
mod names;
mod registry;
pub mod scaffold;
mod source;
mod yaml;

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use diagnostic::{Diagnostic, Report};

/// Where the emitted file will lie, which decides how it names the files it includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Anywhere (a build's output folder): files are named by absolute paths.
    Elsewhere,
    /// In the registry folder itself: files are named relative to it.
    InRegistry,
}

/// The result of compiling a registry.
#[derive(Debug)]
pub struct Generated {
    /// The text of the Rust file.
    pub source: String,
    /// Every file and folder that was read: when one changes, the registry must be compiled again.
    pub inputs: Vec<PathBuf>,
}

/// Compiles the registry in `folder`.
///
/// # Errors
/// Everything that is wrong in the folder, in the order of files and lines.
pub fn generate(folder: &Path, output: Output) -> Result<Generated, Report> {
    let (registry, inputs) = registry::read(folder)?;
    let base = match output {
        Output::Elsewhere => Some(folder),
        Output::InRegistry => None,
    };
    Ok(Generated { source: emit::file(&registry, base), inputs })
}

/// The whole `main` of a build script: compiles the registry in the package's own folder to
/// `OUT_DIR/registry.rs`, tells cargo which files to watch, and prints what is wrong to standard error.
pub fn build_script() -> ExitCode {
    match run_build_script() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // Nothing is left to do when standard error itself is gone.
            let _ = writeln!(io::stderr(), "\n{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run_build_script() -> Result<(), BuildScriptError> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let target = PathBuf::from(variable("OUT_DIR")?).join("registry.rs");
    let mut cargo = io::stdout().lock();
    for input in registry::watched(&folder) {
        writeln!(cargo, "cargo::rerun-if-changed={}", input.display())?;
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let generated = generate(&folder, Output::Elsewhere).map_err(|report| report.below(&name))?;
    for input in &generated.inputs {
        writeln!(cargo, "cargo::rerun-if-changed={}", input.display())?;
    }
    std::fs::write(target, generated.source)?;
    Ok(())
}

fn variable(name: &'static str) -> Result<std::ffi::OsString, BuildScriptError> {
    std::env::var_os(name).filter(|value| value != OsStr::new("")).ok_or(BuildScriptError::Variable(name))
}

#[derive(Debug, thiserror::Error)]
enum BuildScriptError {
    #[error("{0} is not set: this function runs inside a cargo build script only")]
    Variable(&'static str),
    #[error(transparent)]
    Registry(#[from] Report),
    #[error("cannot write the generated registry: {0}")]
    Io(#[from] io::Error),
}
