//! Accounts and what belongs to them: API keys, credentials, models, apps and their conversations, the audit of calls,
//! the assembly of toolsets, and the chat service that all channels share.
//!
//! It depends on `domain` alone and receives tool sources and ports; it knows no source, no adapter and no HTTP.

pub mod accounts;
pub mod app;
pub mod assembly;
pub mod audit;
pub mod chat;
pub mod conversations;
pub mod credentials;
pub mod keys;
pub mod models;
