//! The product as its clients see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod assembly;
mod auth;
mod description;
mod invoke;
mod keys;
mod requests;
mod tenants;
mod uploads;
