//! The only crate that opens outgoing connections for the product.
//!
//! A caller builds a request on a [`Client`]; before a connection is opened its
//! address is judged by the [`Policy`], and the connection uses exactly the address
//! that was judged. Every redirect goes through the same gate. Time, size and the
//! number of redirects are bounded.
//!
//! Neighbours: `providers`, `sources/*`, `agent` and `audio` call it; configuration
//! is read elsewhere and arrives as a [`Policy`]. This crate must never know what a
//! tool is, who is calling, or where a secret comes from.
//!
//! | module | purpose |
//! |---|---|
//! | `address` | what kind of address is this, and what is embedded in it |
//! | `policy` | which kinds are allowed |
//! | `target` | is this URL one that may be requested at all |
//! | `resolve` | names to judged addresses |
//! | `client`, `request`, `redirect`, `response` | the HTTP client itself |
//!
//! What is not covered: child processes (stdio MCP servers have their own network)
//! and the AWS SDK.

mod address;
mod client;
mod error;
mod policy;
mod redirect;
mod request;
mod resolve;
mod response;
mod target;

pub use address::AddressClass;
pub use client::{Client, ClientBuilder};
pub use error::{Blocked, EgressError, Stage};
pub use policy::{ALLOW_SETTING, Policy, PolicyError, Refusal};
pub use request::RequestBuilder;
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use response::{Capped, Response};
pub use target::safe_url;

pub use reqwest::{Body, multipart};
