//! Streamable HTTP: a connection is an address, an era and, before 2026-07-28, a session.
//!
//! `wire` sends one message and reads what comes back; `exchange` makes a request out of it; `session` keeps
//! what the server knows us by; `listen` hears of changes between calls.

mod exchange;
mod listen;
mod session;
mod wire;

pub(crate) use listen::params as listen_params;
pub(crate) use session::HttpConnection;
pub(crate) use wire::Wire;
