//! API tools: documents that describe HTTP APIs, compiled to one normal form.

pub mod normal;
