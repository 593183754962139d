//! What the registry offers, in the shape in which it is shown. Hidden providers are left out.

use domain::{Annotations, ToolSpec};
use serde::Serialize;
use serde_json::Value;

use crate::registry::{CATEGORIES, PROVIDERS};
use crate::runtime::{Category, Choice, Icon, Param, ParamKind, Provider, Text, ToolEntry};

/// A provider with its tools.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderView {
    /// The id in references.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// What it offers.
    pub description: Text,
    /// The colour behind its icon, as `#RRGGBB`.
    pub background: &'static str,
    /// The name of its category.
    pub category: &'static str,
    /// What an account stores to use it.
    pub credentials: Vec<ParamView>,
    /// Its tools, in their order.
    pub tools: Vec<ToolView>,
}

/// A tool.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolView {
    /// The id in references.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// What it does.
    pub description: Text,
    /// What a call may do.
    pub annotations: Annotations,
    /// What an app's author sets.
    pub params: Vec<ParamView>,
    /// What a caller fills in, in short.
    pub inputs: Vec<InputView>,
    /// What a caller fills in: the whole JSON Schema.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub args_schema: &'static Value,
}

/// A tool and whose it is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolDetail {
    /// The tool.
    #[serde(flatten)]
    pub tool: ToolView,
    /// Its provider.
    pub provider: ProviderSummary,
}

/// A provider without its tools.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderSummary {
    /// The id in references.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// What it offers.
    pub description: Text,
    /// The colour behind its icon, as `#RRGGBB`.
    pub background: &'static str,
    /// The name of its category.
    pub category: &'static str,
}

/// A parameter.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ParamView {
    /// The key in `params`.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Text>,
    /// `string`, `number`, `boolean`, `select` or `password`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether it must be set.
    pub required: bool,
    /// The value when none is set.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub default: Value,
    /// The least allowed.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub min: Value,
    /// The greatest allowed.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub max: Value,
    /// Whether a number must be whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
    /// The options of a select.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub options: &'static [Choice],
}

/// An argument, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputView {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether it must be given.
    pub required: bool,
    /// Its JSON type; `any` where there is more than one.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Every category, in order.
pub fn categories() -> &'static [Category] {
    CATEGORIES
}

/// Every provider with its tools, in order.
pub fn providers() -> impl Iterator<Item = ProviderView> {
    available().map(|provider| ProviderView {
        name: provider.name,
        label: provider.label,
        description: provider.description,
        background: provider.background,
        category: provider.category,
        credentials: params(provider.credentials),
        tools: provider.tools.values().map(|entry| tool_view(entry)).collect(),
    })
}

/// Every tool as the runtime sees it, with its provider's id, in order.
pub fn specs() -> impl Iterator<Item = (&'static str, &'static ToolSpec)> {
    available().flat_map(|provider| provider.tools.values().map(|entry| (provider.name, entry.spec())))
}

/// One tool and its provider.
pub fn tool(provider: &str, tool: &str) -> Option<ToolDetail> {
    let provider = find(provider)?;
    let entry = provider.tools.get(tool)?;
    Some(ToolDetail {
        tool: tool_view(entry),
        provider: ProviderSummary {
            name: provider.name,
            label: provider.label,
            description: provider.description,
            background: provider.background,
            category: provider.category,
        },
    })
}

/// A provider's icon: bytes and media type.
pub fn icon(provider: &str) -> Option<Icon> {
    find(provider).map(|provider| provider.icon)
}

/// The credentials that a provider declares.
pub fn credentials(provider: &str) -> Option<&'static [Param]> {
    find(provider).map(|provider| provider.credentials)
}

fn available() -> impl Iterator<Item = &'static Provider> {
    PROVIDERS.values().filter(|provider| provider.available)
}

fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.get(name).filter(|provider| provider.available)
}

fn tool_view(entry: &'static ToolEntry) -> ToolView {
    let args_schema = entry.spec().args_schema.value();
    ToolView {
        name: entry.name,
        label: entry.label,
        description: entry.description,
        annotations: entry.annotations,
        params: params(entry.params),
        inputs: inputs(args_schema),
        args_schema,
    }
}

fn params(params: &'static [Param]) -> Vec<ParamView> {
    params.iter().map(param).collect()
}

fn param(param: &'static Param) -> ParamView {
    let mut view = ParamView {
        name: param.name,
        label: param.label,
        help: param.help,
        kind: "string",
        required: param.required,
        default: Value::Null,
        min: Value::Null,
        max: Value::Null,
        integer: false,
        options: &[],
    };
    match param.kind {
        ParamKind::String { default } => view.default = default.into(),
        ParamKind::Number { default, min, max } => {
            view.kind = "number";
            (view.default, view.min, view.max) = (default.into(), min.into(), max.into());
        }
        ParamKind::Integer { default, min, max } => {
            (view.kind, view.integer) = ("number", true);
            (view.default, view.min, view.max) = (default.into(), min.into(), max.into());
        }
        ParamKind::Boolean { default } => (view.kind, view.default) = ("boolean", default.into()),
        ParamKind::Select { default, options } => {
            (view.kind, view.default, view.options) = ("select", default.into(), options);
        }
        ParamKind::Password => view.kind = "password",
    }
    view
}

/// The arguments of a schema, in short.
fn inputs(schema: &Value) -> Vec<InputView> {
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .map(|(name, property)| InputView {
            name: name.clone(),
            description: property.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            required: required(name),
            kind: json_type(schema, property),
        })
        .collect()
}

fn json_type(root: &Value, property: &Value) -> String {
    match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            match &kinds.iter().filter(|kind| *kind != "null").collect::<Vec<_>>()[..] {
                [Value::String(kind)] => kind.clone(),
                _ => "any".to_owned(),
            }
        }
        _ => described_elsewhere(root, property),
    }
}

/// The type behind a reference, or that all alternatives but null have.
fn described_elsewhere(root: &Value, property: &Value) -> String {
    if let Some(target) = property.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
        return root.pointer(target).map_or_else(|| "any".to_owned(), |target| json_type(root, target));
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| property.get(*key)).and_then(Value::as_array);
    let mut kinds: Vec<_> =
        alternatives.into_iter().flatten().map(|schema| json_type(root, schema)).collect();
    kinds.retain(|kind| kind != "null");
    kinds.dedup();
    match &kinds[..] {
        [kind] => kind.clone(),
        _ if property.get("enum").is_some() => "string".to_owned(),
        _ => "any".to_owned(),
    }
}
