//! The composition root: configuration in, ports and sources out.
//!
//! Only this crate names adapters. A feature brings each family of them: `local` (SQLite, directory, key file).
//! Functions and the gateway take what they need from [`Services`]; this crate knows no route.

pub mod config;
pub mod environment;
#[cfg(feature = "local")]
mod services;
mod studio;

pub use config::{Config, ConfigError, Defaults};
pub use environment::{Environment, ProcessEnvironment};
#[cfg(feature = "local")]
pub use infra_directory::{DirectoryBlobs, LinkError, OpenBlob};
#[cfg(feature = "local")]
pub use services::{BootError, Services};
pub use studio::Studio;
