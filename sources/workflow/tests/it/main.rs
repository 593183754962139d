//! Workflows from outside: rules, runs, records and tools, over a real store and the real assembler.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it stands")]

mod cancellation;
mod engine;
mod examples;
mod iteration;
mod outside;
mod policies;
mod properties;
mod rules;
mod service;
mod support;
