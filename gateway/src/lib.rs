//! Every function in one process, and the command line.
//!
//! | module | purpose |
//! |---|---|
//! | [`app`] | configuration -> services -> one router; used by `serve`, by commands without a server, by tests |
//! | [`serve`] | the server: its lock, its listener, its end |
//! | [`data`] | the data directory: the admin key and the lock |
//! | [`cli`] | the command line; every command is a call of the public HTTP API |
//!
//! It mounts the functions' routers as they are and adds only what one process needs. It must never know how a
//! tool works.

pub mod app;
pub mod cli;
pub mod data;
mod local_routes;
pub mod serve;
