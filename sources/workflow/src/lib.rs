//! Workflows: graphs of nodes that are published and then are tools like any other.
//!
//! [`graph`] reads a document, [`validate`] says what is wrong with it, [`Plan`] makes it ready, [`Engine`]
//! runs it and tells of it by events, [`service`] keeps drafts, versions and records of runs, and
//! [`WorkflowSource`] gives published workflows as tools.
//!
//! Tool nodes go through the `Assembler` port and `Toolset::invoke`, language models and datasets through ports,
//! HTTP through the egress guard. This crate knows no other source, no web framework and no adapter.

mod deps;
mod engine;
mod error;
pub mod graph;
mod mermaid;
mod nodes;
mod plan;
mod problem;
mod record;
mod run_record;
mod runner;
pub mod service;
mod source;
mod store;
pub mod validate;

pub use deps::{EngineDeps, LateAssembler, NoModels};
pub use engine::{
    EndEvent, Engine, Event, EventSink, Nesting, NoEvents, NodeData, NodeEvent, NodeStatus, RunError,
    RunLimits, RunStatus,
};
pub use error::WorkflowError;
pub use mermaid::mermaid;
pub use plan::Plan;
pub use problem::{GraphCode, GraphProblem};
pub use record::{Draft, Published, Workflow, WorkflowFields};
pub use run_record::{NodeRecord, RunRecord};
pub use runner::RunHandle;
pub use service::Workflows;
pub use source::WorkflowSource;
