//! The client, the loop and the knowledge over real connections: a scripted model, a real store.

mod client;
mod faults;
mod knowledge;
mod quirks;
mod rounds;
mod support;
