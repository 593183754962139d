//! What the generated registry is written against.
//!
//! [`metadata`](self) types hold what the YAML files say, as constants; [`params`](check) turn a reference's
//! `params` into checked values; [`build`](erase) makes a `domain::Tool` of what a factory returns.

mod build;
mod metadata;
mod params;

pub use build::{BuildError, BuildFn, LazySpec, ToolEntry, erase};
pub use domain::Annotations;
pub use metadata::{Category, Choice, Icon, Param, ParamKind, Provider, Registry, Text};
pub use params::{Checked, ParamProblem, check, present};
pub use secrecy::SecretString;
