//! Accounts and what belongs to them: API keys, credentials, the audit of calls, and the assembly of toolsets.
//!
//! It depends on `domain` alone and receives tool sources and ports; it knows no source, no adapter and no HTTP.

pub mod accounts;
pub mod assembly;
pub mod audit;
pub mod credentials;
pub mod keys;
