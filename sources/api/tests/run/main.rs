//! Imported APIs, called for real: a service over SQLite, a key file and a directory, and an upstream server
//! on loopback that remembers what it was sent and answers as it is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod counting;
mod credentials;
mod execution;
mod life;
mod oauth;
mod resolving;
mod upstream;
mod world;
