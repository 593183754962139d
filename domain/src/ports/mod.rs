//! The ports: what the product needs of the world, each named by capability.
//!
//! Adapters live under `infra/`, one technology each; one contract suite per port (`tests/contracts`) runs
//! against every adapter.

mod agent;
mod assembler;
mod audit;
mod blobs;
mod chat_model;
mod cipher;
mod clock;
mod credentials;
mod models;
mod queue;
mod retriever;
mod signal;
mod stdio_invoker;
mod table;
pub mod table_rules;

pub use agent::{
    Agent, AgentEvent, AgentEventKind, AgentLimits, AgentRequest, AgentSink, Review, SinkClosed,
};
pub use assembler::{Assembler, Assembly};
pub use audit::{AuditRecord, AuditSink, NoAudit};
pub use blobs::{Blob, BlobError, BlobInfo, BlobLink, Blobs, check_blob_key, upload_key};
pub use chat_model::{
    ChatError, ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatRole, ChatStream, ChatTool, ToolCall,
    Usage,
};
pub use cipher::{Cipher, CipherError, Scope, Sealed};
pub use clock::{Clock, SystemClock};
pub use credentials::{CredentialError, Credentials};
pub use models::{ModelEndpoint, ModelError, ModelFactory, ModelInfo, Models, OpenModel, Price};
pub use queue::{Delivery, MAX_DELAY, Queue, QueueError};
pub use retriever::{DatasetInfo, Passage, RetrieveError, Retriever};
pub use signal::{Signal, SignalError};
pub use stdio_invoker::{StdioContext, StdioError, StdioInvoker, StdioReply, StdioServer};
pub use table::{Condition, Item, Order, Page, Query, Range, Table, TableError, Write, query_all};
