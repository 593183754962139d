//! The builtin tools.
//!
//! A tool is two files in a provider's folder and one line in its `positions.yaml`; `codegen` checks all of
//! them when this crate is built and writes the module [`registry`], with a typed parameter struct per tool
//! and the static table that references are resolved by. `docs/guides/builtin-tools.md` says how to add one.
//!
//! | module | purpose |
//! |---|---|
//! | [`contract`] | what a tool's author writes against |
//! | [`runtime`] | what the generated code is written against: metadata, parameters, how a tool is built |
//! | [`registry`] | the generated code |
//! | [`source`] | references -> tools |
//! | [`catalogue`] | what the registry offers, as it is shown |
//! | `upstream`, `findings`, `pictures`, `reading`, `webhook` | what tools of several providers share: calling a vendor's service, results of a search, made pictures, documents as text, bots of groups |
//!
//! Neighbours: `domain` for what a tool is, `egress` for every outgoing connection. This crate must never know
//! how it is deployed, who stores references, or a model.

pub mod catalogue;
pub mod contract;
mod findings;
mod lister;
mod nearest;
mod pictures;
mod reading;
pub mod registry;
pub mod runtime;
mod sealing;
pub mod source;
mod upstream;
mod webhook;

pub use contract::ToolDeps;
pub use source::BuiltinSource;
