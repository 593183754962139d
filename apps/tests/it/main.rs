//! Apps, models and chats over a real store, a real cipher and a scripted model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where it stands")]

mod apps;
mod chats;
mod failures;
mod models;
mod support;
