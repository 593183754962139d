//! Projections of a tool's schema for what each model provider accepts.
//!
//! `args_schema` is full JSON Schema; every provider accepts a part of it, and one schema outside that part
//! makes it refuse a whole request. [`project`] turns a schema into one the provider takes, and tells what
//! was lost on the way. A projection is what a model reads: arguments are always validated against the
//! original, after [`restore`] has undone what the projection made a model write differently.
//!
//! | module | purpose |
//! |---|---|
//! | `rules` | what each dialect accepts, as data |
//! | `walk`, `lenient`, `typed`, `union` | schemas to projected schemas |
//! | `flatten` | `$ref` and `allOf` folded into one schema |
//! | `root` | the top level, which every dialect wants plain |
//! | `names`, `restore` | property names, and the way back for arguments |
//!
//! Knows no provider's wire format beyond its schemas.

mod flatten;
mod keywords;
mod lenient;
mod names;
mod restore;
mod root;
mod rules;
mod typed;
mod union;
mod walk;

use std::{fmt, str::FromStr};

pub use restore::restore;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The largest schema that is projected, and the largest projection, in bytes of JSON.
pub const MAX_BYTES: usize = 1024 * 1024;

/// A projection beyond this is made again with less in it, where references are inlined.
const PREFERRED_BYTES: usize = 128 * 1024;

/// A model provider's idea of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI with `strict: true`: everything required, closed objects, constrained decoding.
    #[serde(rename = "openai_strict")]
    OpenAiStrict,
    /// OpenAI and what is compatible with it.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic's own API.
    Anthropic,
    /// Google's `Schema` object, a part of OpenAPI 3.0.
    Gemini,
    /// Amazon Bedrock's Converse, whatever the model.
    Bedrock,
    /// Alibaba's Qwen.
    Qwen,
    /// Moonshot's Kimi.
    Moonshot,
}

/// A schema as a provider accepts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The projected schema: an object with `properties`.
    pub schema: Value,
    /// What the projection does not say that the original does, in the order it was met.
    pub losses: Vec<Loss>,
}

/// Something a projection does not say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Loss {
    /// JSON pointer into the original schema.
    pub path: String,
    /// What is lost there, and what stands in its place.
    pub what: String,
}

/// Why a schema cannot be put into a dialect at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be expressed for this model provider, at `{path}`: {reason}")]
pub struct Unrepresentable {
    /// JSON pointer into the original schema.
    pub path: String,
    /// What is in the way.
    pub reason: String,
}

/// Puts `schema` into `dialect`.
pub fn project(schema: &Value, dialect: Dialect) -> Result<Projection, Unrepresentable> {
    let too_large = |what: &str| Unrepresentable {
        path: String::new(),
        reason: format!("{what} has more than {MAX_BYTES} bytes"),
    };
    if json_size(schema) > MAX_BYTES {
        return Err(too_large("the schema"));
    }
    let rules = dialect.rules();
    let mut projection = root::project_root(schema, rules, EFFORTS[0])?;
    // What is inlined can grow far beyond what it was; then less of it has to do.
    for effort in &EFFORTS[1..] {
        if rules.references == rules::References::Kept || json_size(&projection.schema) <= PREFERRED_BYTES {
            break;
        }
        projection = root::project_root(schema, rules, *effort)?;
    }
    if json_size(&projection.schema) > MAX_BYTES {
        return Err(too_large("the projection"));
    }
    Ok(projection)
}

/// How much of a schema is described.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// How often a reference is inlined inside itself.
    recursion: usize,
    /// Most schemas inside each other.
    depth: usize,
}

const EFFORTS: [Effort; 4] = [
    Effort { recursion: 2, depth: 64 },
    Effort { recursion: 1, depth: 20 },
    Effort { recursion: 1, depth: 12 },
    Effort { recursion: 1, depth: 6 },
];

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 7] = [
        Self::OpenAiStrict,
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Qwen,
        Self::Moonshot,
    ];

    /// The name in configuration and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiStrict => "openai_strict",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Qwen => "qwen",
            Self::Moonshot => "moonshot",
        }
    }

    const fn rules(self) -> &'static rules::Rules {
        match self {
            Self::OpenAiStrict => &rules::OPENAI_STRICT,
            Self::OpenAi => &rules::OPENAI,
            Self::Anthropic => &rules::ANTHROPIC,
            Self::Gemini => &rules::GEMINI,
            Self::Bedrock => &rules::BEDROCK,
            Self::Qwen => &rules::QWEN,
            Self::Moonshot => &rules::MOONSHOT,
        }
    }
}

/// A name that is no dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no schema dialect; one of openai, openai_strict, anthropic, gemini, bedrock, qwen, moonshot is"
)]
pub struct UnknownDialect(pub String);

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.as_str() == name);
        found.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn json_size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}
