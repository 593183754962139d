//! Talks to MCP servers: the wire, and nothing of what is stored or assembled.
//!
//! Every message is raw JSON from end to end (`message`), so that nothing a server says is lost. `era` knows
//! the protocol's versions, `http` and `crate::stdio` are the two transports, `pool` keeps their connections,
//! `breaker` stops calls to a server that is down.

pub(crate) mod breaker;
pub(crate) mod call;
pub(crate) mod era;
pub(crate) mod error;
pub(crate) mod headers;
pub(crate) mod http;
pub(crate) mod message;
pub(crate) mod pool;
pub(crate) mod sse;

/// The largest message that is taken from a server, in bytes.
pub(crate) const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// Told when a server says that its tools have changed.
pub(crate) type OnChange = std::sync::Arc<dyn Fn() + Send + Sync>;
