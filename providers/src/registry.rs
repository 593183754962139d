//! The registry, generated from this crate's YAML and Rust files by `codegen` when the crate is built.

include!(concat!(env!("OUT_DIR"), "/registry.rs"));
