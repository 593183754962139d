//! Agents: the client of language models, the loop that calls tools, and the knowledge they search.
//!
//! | module | purpose |
//! |---|---|
//! | [`client`] | OpenAI-compatible chat completions, tolerant of what services really send |
//! | [`runner`] | the loop: turns of a model, calls of tools, budgets, events |
//! | [`knowledge`] | datasets: documents kept and searched here, or a service elsewhere |
//!
//! Neighbours: `domain` for the ports it implements (`ModelFactory`, `ChatModel`, `Agent`, `Retriever`), `egress` for
//! every connection. It knows no channel, no HTTP route, and nothing of how apps or conversations are stored.

pub mod client;
pub mod knowledge;
pub mod runner;

pub use client::OpenAiModels;
pub use knowledge::Knowledge;
pub use runner::AgentRunner;
