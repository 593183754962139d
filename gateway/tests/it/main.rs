//! The binary as a person or a script uses it: processes, exit codes, what is printed where.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail their test")]

mod faults;
mod help;
mod offline;
mod serving;
mod support;
