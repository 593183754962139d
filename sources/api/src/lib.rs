//! API tools: documents that describe HTTP APIs, compiled to one normal form.

pub mod compile;
pub mod narrow;
pub mod normal;
mod openapi;
pub mod report;
