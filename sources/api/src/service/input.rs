//! What clients send.

use crate::credentials::{CredentialInput, HeaderInput};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A provider to create or change. On a change, what is left out stays as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderInput {
    /// Its name: 1 to 64 characters, unique in the account.
    pub name: Option<String>,
    /// The address of an icon.
    pub icon: Option<String>,
    /// What it is for; else what the document says.
    pub description: Option<String>,
    /// The document: OpenAPI 3, Swagger 2.0 or the narrow protocol, as a text (JSON or YAML) or as an object.
    pub openapi_schema: Option<DocumentText>,
    /// Where to fetch the document.
    pub url: Option<String>,
    /// An upload that holds the document.
    pub upload_id: Option<String>,
    /// Where requests go, if not to the document's own server. Empty: to the document's own again.
    pub server: Option<String>,
    /// Which operations to take: terms such as `tag:pets`, `path:/pets/**`, `method:get`, `id:list*`, `!id:x`.
    pub select: Option<Select>,
    /// Headers that go with every request. A masked value keeps the stored one.
    pub headers: Option<Vec<HeaderInput>>,
    /// Credentials by the name of the document's security scheme. A masked value keeps the stored one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<BTreeMap<String, CredentialInput>>))]
    pub credentials: Option<BTreeMap<String, CredentialInput>>,
}

/// A document to look at without storing anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentInput {
    /// The document, as a text (JSON or YAML) or as an object.
    pub openapi_schema: Option<DocumentText>,
    /// Where to fetch the document.
    pub url: Option<String>,
    /// An upload that holds the document.
    pub upload_id: Option<String>,
    /// Which operations to take.
    pub select: Option<Select>,
}

/// A document in a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DocumentText {
    /// As a text.
    Text(String),
    /// As an object.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    Object(Map<String, Value>),
}

/// A selection: one text of terms, or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Select {
    /// Terms separated by white space or commas.
    Text(String),
    /// Terms one by one.
    Terms(Vec<String>),
}

/// What to change of one tool. What is left out stays; `null` takes a change back.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolPatch {
    /// Whether it may be called.
    pub enabled: Option<bool>,
    /// The name callers see: a letter, then letters, digits, `_`, `-`; at most 64.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub rename: Change<String>,
    /// The title people see.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub title: Change<String>,
    /// The description models see.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub description: Change<String>,
    /// How long a call may take, in seconds: 1 to 600; 30 by default.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u32>))]
    pub timeout_s: Change<u32>,
    /// How much of an answer is read, in bytes: up to 16 MiB; 1 MiB by default.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u64>))]
    pub max_response_bytes: Change<u64>,
}

/// A field of a patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// It was left out.
    #[default]
    Keep,
    /// It was `null`: what was changed before is taken back.
    Reset,
    /// It is this now.
    Set(T),
}

impl<T> Change<T> {
    /// Does it to what is kept.
    pub(crate) fn apply(&self, kept: &mut Option<T>)
    where
        T: Clone,
    {
        match self {
            Self::Keep => {}
            Self::Reset => *kept = None,
            Self::Set(value) => *kept = Some(value.clone()),
        }
    }

    /// What it is now, where it was sent.
    pub(crate) fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Reset => None,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Reset, Self::Set))
    }
}

impl DocumentText {
    /// As a text.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Object(object) => Value::Object(object).to_string(),
        }
    }
}

impl Select {
    /// As one text; none where it selects everything.
    pub(crate) fn into_text(self) -> Option<String> {
        let text = match self {
            Self::Text(text) => text,
            Self::Terms(terms) => terms.join(" "),
        };
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }
}
