//! Compiles the registry of this folder to `OUT_DIR/registry.rs`.

fn main() -> std::process::ExitCode {
    codegen::build_script()
}
