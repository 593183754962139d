//! The builtin tools as the rest of the product sees them: through references and `Tool::call`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers end the test")]

mod catalogue;
mod docs;
mod documents;
mod drawings;
mod examples;
mod golden;
mod mail;
mod registry;
mod services;
mod source;
mod stand_in;
mod support;
mod tools;
mod web;

// What the generated files of `codegen/golden` name as their own crate's modules.
use providers::{contract, runtime};
