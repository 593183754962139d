//! API tools: documents that describe HTTP APIs become tools, and calls of these tools become requests.
//!
//! | module | purpose |
//! |---|---|
//! | [`compile`], [`narrow`], `openapi` | from a document's text to the normal form |
//! | [`normal`] | the normal form: all that is known of an operation |
//! | [`report`] | what became of every operation |
//! | [`record`], [`credentials`] | what is stored of a provider |
//! | [`service`] | creating, updating, listing, changing, deleting |
//! | [`source`] | references become tools |
//! | `tool`, `execute` | a call becomes a request, its answer a result |
//!
//! Neighbours: `domain` for tools, catalogs and ports; `egress`, through which alone it reaches a network. It
//! knows no web framework, no adapter, and none of the other sources.

mod base;
pub mod compile;
pub mod credentials;
mod execute;
pub mod narrow;
pub mod normal;
mod openapi;
pub mod record;
pub mod report;
pub mod service;
pub mod source;
#[cfg(test)]
mod testing;
mod tool;

pub use service::{ApiTools, ApiToolsPorts};
pub use source::ApiSource;
