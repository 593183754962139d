//! The client, the loop and the knowledge over real connections: a scripted model, a real store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where it stands")]

mod client;
mod faults;
mod knowledge;
mod quirks;
mod rounds;
mod support;
