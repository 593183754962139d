//! The product as its clients see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod api;
mod assembly;
mod auth;
mod description;
mod invoke;
mod keys;
mod mcp;
mod requests;
mod tenants;
mod uploads;
