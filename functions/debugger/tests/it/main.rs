//! The routes of apps, models, datasets and the debugger, behind the layers that every function has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where it stands")]

mod routes;
mod support;
