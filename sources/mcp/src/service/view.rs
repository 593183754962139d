//! How servers and tools look from outside. Secrets are masked.

use super::health::Health;
use crate::{
    definition::{Definition, Skipped, StoredTool},
    record::{ChangePolicy, ServerRecord, Transport, TransportKind},
    scan::Flag,
};
use domain::{Annotations, Schema, catalog::Head, ports::Sealed, secret::MASK};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerView {
    /// Its id, as references name it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The address of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// How it is reached.
    pub transport: TransportKind,
    /// Where it is, over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of every request, masked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The command, over stdio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its environment, masked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How long a call may take without a sign of progress, in seconds.
    pub timeout_s: u32,
    /// Whether its tools may be used.
    pub enabled: bool,
    /// What happens when it changes a tool's definition.
    pub on_change: ChangePolicy,
    /// Whether its own word counts on how its tools behave.
    pub trust_annotations: bool,
    /// How many calls may run at the same time.
    pub max_concurrency: u32,
    /// The catalog's revision.
    pub revision: u64,
    /// How it is doing.
    pub status: ServerStatus,
    /// How many tools can be used.
    pub tools: usize,
    /// How many changed definitions wait for approval.
    pub pending_changes: usize,
    /// The tools that it lists and that cannot be used.
    pub skipped: Vec<Skipped>,
    /// What else is to be said of its list.
    pub notes: Vec<String>,
    /// The protocol version that is spoken with it.
    pub protocol_version: Option<String>,
    /// What it says of itself.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub server_info: Option<Value>,
    /// How the last calls and discoveries went.
    pub health: Health,
    /// When its tools were last read into the catalog.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub discovered_at: Option<Timestamp>,
    /// When it was created.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When its description was last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// How a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ServerStatus {
    /// It answered last time.
    Ready,
    /// It did not answer last time. Its catalog is kept.
    Failing,
    /// It is switched off.
    Disabled,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolView {
    /// Its name, as the server knows it and as references name it.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does.
    pub description: String,
    /// What a caller fills in.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub args_schema: Schema,
    /// What its structured result looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub output_schema: Option<Schema>,
    /// How it behaves, as policies see it.
    pub annotations: Annotations,
    /// How the server says it behaves, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub hints: Option<Value>,
    /// Pictures, as they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<Object>>))]
    pub icons: Option<Value>,
    /// A hash of the definition in use.
    pub hash: String,
    /// What is suspicious in it.
    pub flags: Vec<Flag>,
    /// The server has changed it; the approved definition is in use.
    pub pending_change: bool,
    /// Why its arguments cannot be validated, so that it cannot be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl ServerView {
    pub(super) fn new(head: &Head<ServerRecord>, health: Health) -> Self {
        let record = &head.record;
        let masked = |map: &BTreeMap<String, Sealed>| -> BTreeMap<String, String> {
            map.keys().map(|name| (name.clone(), MASK.to_owned())).collect()
        };
        let none = BTreeMap::new;
        let (url, headers, command, args, env) = match &record.transport {
            Transport::Http { url, headers } => {
                (Some(url.to_string()), masked(headers), None, Vec::new(), none())
            }
            Transport::Stdio { command, args, env } => {
                (None, none(), Some(command.clone()), args.clone(), masked(env))
            }
        };
        Self {
            id: head.id.clone(),
            name: record.name.clone(),
            description: record.description.clone(),
            icon: record.icon.clone(),
            transport: record.transport.kind(),
            url,
            headers,
            command,
            args,
            env,
            timeout_s: record.timeout_s,
            enabled: record.enabled,
            on_change: record.on_change,
            trust_annotations: record.trust_annotations,
            max_concurrency: record.max_concurrency,
            revision: head.revision,
            status: match (record.enabled, health.failures) {
                (false, _) => ServerStatus::Disabled,
                (true, 0) => ServerStatus::Ready,
                (true, _) => ServerStatus::Failing,
            },
            tools: record.found.tools,
            pending_changes: record.found.pending,
            skipped: record.found.skipped.clone(),
            notes: record.found.notes.clone(),
            protocol_version: record.found.era.clone(),
            server_info: record.found.server.clone(),
            health,
            discovered_at: record.found.at,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}

impl ToolView {
    pub(super) fn new(tool: &StoredTool, record: &ServerRecord) -> Option<Self> {
        let definition = Definition::read(&tool.definition).ok()?;
        let problem = definition.args_schema.check().err();
        Some(Self {
            annotations: ours(&definition, record),
            name: definition.name,
            title: definition.title,
            description: definition.description,
            args_schema: definition.args_schema,
            output_schema: definition.output_schema,
            hints: tool.definition.get("annotations").cloned(),
            icons: tool.definition.get("icons").cloned(),
            hash: tool.hash.clone(),
            flags: tool.flags.clone(),
            pending_change: tool.pending.is_some(),
            problem: problem.map(|e| e.to_string()),
        })
    }

    /// Whether its name, title or description has this text, in lower case.
    pub(super) fn matches(&self, text: &str) -> bool {
        [&self.name, &self.title, &self.description]
            .into_iter()
            .any(|field| field.to_lowercase().contains(text))
    }
}

/// How policies see a tool: at its worst, unless the account trusts what the server says.
pub(crate) fn ours(definition: &Definition, record: &ServerRecord) -> Annotations {
    if record.trust_annotations { definition.claimed } else { Annotations::default() }
}
