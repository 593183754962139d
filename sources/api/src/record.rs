//! What is stored of a provider and of its tools.
//!
//! The head of a catalog holds the [`ProviderRecord`]; each body holds one [`Operation`]. The document's text is
//! kept in the blob store, since heads are read with every assembly and must stay small.

use crate::{
    credentials::{StoredCredential, StoredHeader},
    normal::{Api, Operation},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// How long a call may take, where nothing else is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time a call may be given.
pub const MAX_TIMEOUT: Duration = Duration::from_mins(10);
/// How much of an answer is read, where nothing else is set.
pub const DEFAULT_RESPONSE_BYTES: u64 = 1024 * 1024;
/// The most of an answer that may be read.
pub const MAX_RESPONSE_BYTES: u64 = 16 * 1024 * 1024;

/// A provider as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderRecord {
    /// Its name, unique in the account.
    pub name: String,
    /// An address of an icon, or empty.
    #[serde(default)]
    pub icon: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// What its operations share.
    pub api: Api,
    /// Whether any operation asks for a security scheme.
    #[serde(default)]
    pub asks_for_credentials: bool,
    /// The address the user chose; else the document's own.
    #[serde(default)]
    pub server: Option<String>,
    /// Which operations were taken, as the user wrote it.
    #[serde(default)]
    pub select: Option<String>,
    /// The document.
    pub document: DocumentRecord,
    /// Headers that go with every request.
    #[serde(default)]
    pub headers: Vec<StoredHeader>,
    /// Credentials, by name.
    #[serde(default)]
    pub credentials: BTreeMap<String, StoredCredential>,
    /// Where requests and token requests may go: the origins that credentials were given for.
    #[serde(default)]
    pub origins: Vec<String>,
    /// What was changed of single tools, by their id.
    #[serde(default)]
    pub overrides: BTreeMap<String, ToolOverride>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Where a document's text is, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRecord {
    /// The blob's key.
    pub blob: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The address it was imported from.
    #[serde(default)]
    pub url: Option<String>,
}

/// What was changed of one tool. It holds over updates of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOverride {
    /// It is switched off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// The name callers see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
    /// The title people see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description models see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How long a call may take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u32>,
    /// How much of an answer is read, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_response_bytes: Option<u64>,
}

impl ProviderRecord {
    /// What was changed of a tool.
    pub(crate) fn override_of(&self, tool: &str) -> Option<&ToolOverride> {
        self.overrides.get(tool)
    }

    /// The address an operation is sent to, or why there is none.
    pub(crate) fn base_of(&self, operation: &Operation) -> Result<url::Url, String> {
        crate::base::of(operation.servers(&self.api), self.server.as_deref(), self.document.url.as_deref())
    }
}

impl ToolOverride {
    /// Whether nothing is changed.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How long a call may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout_s.map_or(DEFAULT_TIMEOUT, |s| Duration::from_secs(s.into()).min(MAX_TIMEOUT))
    }

    /// How much of an answer is read.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_response_bytes.map_or(DEFAULT_RESPONSE_BYTES, |bytes| bytes.clamp(1, MAX_RESPONSE_BYTES))
    }
}
