//! From documents to the normal form: the narrow protocol, fixtures for every trap, and hostile input.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it stands")]

mod corpus;
mod fixtures;
mod hostile;
mod narrow;
