//! The `haft` binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    haft::cli::main()
}
