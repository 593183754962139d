//! Servers against real processes: every test goes through the stored records, assembly and the one road of calls.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

mod era;
mod harness;
mod http_faults;
mod lifecycle;
#[cfg(feature = "real-servers")]
mod real;
mod review;
mod schedule;
mod stdio_faults;
