//! The product as its clients see it.

mod assembly;
mod auth;
mod description;
mod invoke;
mod keys;
mod requests;
mod tenants;
mod uploads;
