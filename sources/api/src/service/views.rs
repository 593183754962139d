//! What clients are shown.

use super::Changes;
use crate::{
    credentials::CredentialView,
    normal::{Dialect, Operation, SecurityScheme, Server},
    record::{ProviderRecord, ToolOverride},
    report::Report,
};
use domain::{Annotations, Schema, catalog::Head, secret::MASK};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What became of a document that was only looked at.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Validated {
    /// It can be read.
    pub valid: bool,
    /// How many tools it gives.
    pub tools: usize,
    /// Whether nothing that a caller could use is lost.
    pub lossless: bool,
    /// What became of each operation.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub report: Report,
}

/// What an import did.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Imported {
    /// The provider's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The current revision.
    pub revision: u64,
    /// How many tools it has.
    pub tools: usize,
    /// Where requests go.
    pub server: String,
    /// What became of each operation.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub report: Report,
    /// What is different from the revision before; none for a new provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// A provider.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderView {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The address of an icon, or empty.
    pub icon: String,
    /// What it is for.
    pub description: String,
    /// The current revision.
    pub revision: u64,
    /// How many tools it has.
    pub tools: usize,
    /// What the document is written in.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub dialect: Dialect,
    /// The document's title.
    pub title: String,
    /// The API's own version.
    pub version: String,
    /// Where requests go; null where the operations' own servers decide.
    pub server: Option<String>,
    /// The document's servers.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub servers: Vec<Server>,
    /// Which operations were taken.
    pub select: Option<String>,
    /// Where the document was imported from.
    pub url: Option<String>,
    /// The document's size in bytes.
    pub document_bytes: u64,
    /// Headers that go with every request, masked.
    pub headers: Vec<HeaderView>,
    /// The stored credentials, masked.
    pub credentials: BTreeMap<String, CredentialView>,
    /// What the document's operations ask for.
    pub security_schemes: Vec<SchemeView>,
    /// When it was created.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
    /// The document's text; in lists, and where it is larger than 1 MiB, null.
    pub openapi_schema: Option<String>,
    /// Where a larger text can be read for an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi_schema_url: Option<String>,
}

/// A header, its value masked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeaderView {
    /// Its name.
    pub key: String,
    /// The mask.
    pub value: &'static str,
}

/// A security scheme of the document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchemeView {
    /// The name under which its credential is given.
    pub scheme: String,
    /// What it is.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub details: SecurityScheme,
    /// Whether a credential is stored for it.
    pub stored: bool,
}

/// A tool of a provider.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolView {
    /// Its id within the provider: the operationId.
    pub name: String,
    /// The name callers see, where it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
    /// A short name for people.
    pub title: String,
    /// What it does.
    pub description: String,
    /// The HTTP method.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub method: crate::normal::Method,
    /// The path as the document writes it.
    pub path: String,
    /// The top level of the arguments, for forms.
    pub inputs: Vec<InputView>,
    /// What a caller fills in.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub args_schema: Schema,
    /// What the result looks like, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub output_schema: Option<Schema>,
    /// How it behaves.
    pub annotations: Annotations,
    /// Whether it may be called.
    pub enabled: bool,
    /// It is on its way out.
    pub deprecated: bool,
    /// Its tags.
    pub tags: Vec<String>,
    /// How long a call may take, in seconds.
    pub timeout_s: u64,
    /// How much of an answer is read, in bytes.
    pub max_response_bytes: u64,
}

/// One argument, for forms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputView {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Whether it must be given.
    pub required: bool,
    /// Its JSON type; `any` where it may have several.
    #[serde(rename = "type")]
    pub kind: String,
}

impl ProviderView {
    /// What is shown of a head.
    pub(crate) fn of(head: Head<ProviderRecord>) -> Self {
        let record = head.record;
        let base =
            crate::base::of(&record.api.servers, record.server.as_deref(), record.document.url.as_deref());
        let scheme = |(name, details): (String, SecurityScheme)| SchemeView {
            stored: record.credentials.contains_key(&name),
            scheme: name,
            details,
        };
        Self {
            id: head.id,
            name: record.name,
            icon: record.icon,
            description: record.description,
            revision: head.revision,
            tools: head.bodies,
            dialect: record.api.dialect,
            title: record.api.title,
            version: record.api.version,
            server: base.ok().map(String::from),
            servers: record.api.servers,
            select: record.select,
            url: record.document.url,
            document_bytes: record.document.bytes,
            headers: record.headers.into_iter().map(|h| HeaderView { key: h.key, value: MASK }).collect(),
            security_schemes: record.api.security_schemes.into_iter().map(scheme).collect(),
            credentials: record.credentials.iter().map(|(name, c)| (name.clone(), c.view())).collect(),
            created_at: record.created_at,
            updated_at: record.updated_at,
            openapi_schema: None,
            openapi_schema_url: None,
        }
    }
}

impl ToolView {
    /// What is shown of an operation.
    pub(crate) fn of(operation: &Operation, changes: &ToolOverride) -> Self {
        Self {
            name: operation.name.clone(),
            rename: changes.rename.clone(),
            title: changes.title.clone().unwrap_or_else(|| operation.title.clone()),
            description: changes.description.clone().unwrap_or_else(|| operation.description.clone()),
            method: operation.method,
            path: operation.path_template.clone(),
            inputs: inputs(operation.args_schema.value()),
            args_schema: operation.args_schema.clone(),
            output_schema: operation.output_schema.clone(),
            annotations: operation.annotations,
            enabled: !changes.disabled,
            deprecated: operation.deprecated,
            tags: operation.tags.clone(),
            timeout_s: changes.timeout().as_secs(),
            max_response_bytes: changes.max_bytes(),
        }
    }
}

/// The members of an object's schema.
fn inputs(schema: &Value) -> Vec<InputView> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
    let Some(members) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let input = |(name, member): (&String, &Value)| {
        let target = referred(schema, member);
        let text = |of: &Value| of["description"].as_str().map(str::to_owned);
        InputView {
            name: name.clone(),
            description: text(member).or_else(|| text(target)).unwrap_or_default(),
            required: required.contains(&name.as_str()),
            kind: kind_of(target),
        }
    };
    members.iter().map(input).collect()
}

/// What a `$ref` into the same schema leads to; one step is enough for a form.
fn referred<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|r| root.pointer(r.strip_prefix('#')?));
    target.unwrap_or(schema)
}

fn kind_of(schema: &Value) -> String {
    let named = match &schema["type"] {
        Value::String(kind) => Some(kind.as_str()),
        Value::Array(kinds) => {
            let mut real = kinds.iter().filter_map(Value::as_str).filter(|k| *k != "null");
            real.next().filter(|_| real.next().is_none())
        }
        _ => None,
    };
    named.unwrap_or("any").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_are_the_top_level_of_the_arguments() {
        let schema = json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "which"},
                "tags": {"type": ["array", "null"]},
                "pet": {"$ref": "#/$defs/Pet"},
                "either": {"anyOf": []}
            },
            "required": ["id"],
            "$defs": {"Pet": {"type": "object", "description": "a pet"}}
        });
        let found: Vec<_> =
            inputs(&schema).into_iter().map(|i| (i.name, i.kind, i.required, i.description)).collect();
        let row = |name: &str, kind: &str, required, description: &str| {
            (name.to_owned(), kind.to_owned(), required, description.to_owned())
        };
        assert_eq!(
            found,
            [
                row("id", "integer", true, "which"),
                row("tags", "array", false, ""),
                row("pet", "object", false, "a pet"),
                row("either", "any", false, ""),
            ]
        );
    }
}
