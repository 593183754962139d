//! Workflows from outside: rules, runs, records and tools, over a real store and the real assembler.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where it stands")]
#![expect(clippy::needless_pass_by_value, reason = "cases read better when `json!` stands in the call")]
#![expect(unreachable_pub, reason = "one binary: nothing is reached from outside")]

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
