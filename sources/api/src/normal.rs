//! The normal form: what both front ends ([`crate::narrow`], [`crate::openapi`]) compile to, and all that an
//! executor needs.
//!
//! An executor sends a request from four things: an [`Operation`], its document's [`Api`] (servers and
//! security schemes), a base address chosen from the servers or given by the user, and credentials. It never
//! looks at the document again. Everything here is data: serialisable, comparable, without I/O.
//!
//! # How arguments become a request
//!
//! Arguments are one JSON object that meets [`Operation::args_schema`]. Its members are
//!
//! - one per [`Parameter`], under [`Parameter::arg`]. That is the wire name made legal for every model
//!   provider (`[A-Za-z0-9_.-]`, at most 64 characters); where one name stands in two places the first of
//!   path, query, header, cookie keeps it and the others are called `name_query`, `name_header`,
//!   `name_cookie`;
//! - those of the body, in one of two ways ([`BodyArgs`]): **spread**, one member per field of a plain object,
//!   when no field would collide with a parameter; else **whole**, under one member (`body`, or
//!   `request_body` where a parameter is called `body`).
//!
//! An absent member is not sent. A `null` for a parameter is not sent either; inside a body it is.
//! Scalars are written as JSON writes them, texts without quotes.
//!
//! # What is on the wire already
//!
//! Literal texts of [`Operation::path`] and [`Operation::fixed_query`] are percent-encoded and go out as they
//! are. Values are not encoded: that is the executor's work, by location and style.

mod body;
mod security;
mod server;

pub use body::{Body, BodyArgs, BodyField, BodyKind, FieldEncoding, PartKind};
pub use security::{ApiKeyIn, OAuthFlow, OAuthFlowKind, SchemeUse, SecurityScheme};
pub use server::{Server, ServerProblem, ServerVariable};

use domain::{Annotations, Schema};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A compiled document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// What its operations share.
    pub api: Api,
    /// What can be called, in the order of the document.
    pub operations: Vec<Operation>,
}

/// What the operations of a document share. Stored with the provider; operations are stored one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Api {
    /// Its name for people; empty where the document gives none.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// The API's own version, as the document writes it.
    pub version: String,
    /// What the document is written in.
    pub dialect: Dialect,
    /// Where it is served. Empty: the user must give an address.
    pub servers: Vec<Server>,
    /// How callers prove who they are, by the name operations refer to.
    pub security_schemes: IndexMap<String, SecurityScheme>,
}

/// What a document is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dialect {
    /// The narrow protocol: `server`, `description`, `paths`.
    #[default]
    #[serde(rename = "narrow")]
    Narrow,
    /// Swagger 2.0.
    #[serde(rename = "2.0")]
    Swagger20,
    /// OpenAPI 3.0.
    #[serde(rename = "3.0")]
    OpenApi30,
    /// OpenAPI 3.1 and later.
    #[serde(rename = "3.1")]
    OpenApi31,
}

/// One callable operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// The tool's id, unique in the document: its operationId as written, else a stable name made of method
    /// and path.
    pub name: String,
    /// A short name for people: its summary, else its name.
    pub title: String,
    /// What it does, for a model.
    pub description: String,
    /// The method.
    pub method: Method,
    /// The path below the server's address, split at `/`: the segments are joined by `/` and put after the
    /// base address and one `/`. `/pets/` has the segments `pets` and an empty one; no segment means the base
    /// address itself.
    pub path: Vec<Segment>,
    /// The path as the document writes it, for people and filters.
    pub path_template: String,
    /// Query pairs that stand in the path itself, already encoded; they go before all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed_query: Vec<(String, String)>,
    /// Headers with the one value the document allows (`Accept`, `Content-Type`). They win over what the
    /// executor would set itself and lose to the provider's own headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed_headers: Vec<(String, String)>,
    /// Headers and cookies the API wants that a model may not fill, because they carry a credential. They must
    /// come from the provider's headers or credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
    /// Servers of this operation alone; empty: those of the [`Api`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// What goes into path, query, headers and cookies, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// What goes into the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// What a caller fills in: a JSON Schema (2020-12) of one object, complete in itself (`$defs`).
    pub args_schema: Schema,
    /// What a successful JSON response looks like, where the document says so and it is small enough to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Schema>,
    /// Media types of successful responses, for `Accept`; empty: anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// Ways to be let in, any one of which is enough; all schemes of one way are needed together. Empty:
    /// nothing is asked for. A way without schemes: anonymous calls are let in too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<Vec<SchemeUse>>,
    /// It is on its way out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How it behaves, guessed from method and names.
    pub annotations: Annotations,
    /// Where it stands in the document (a JSON pointer).
    pub pointer: String,
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// GET
    Get,
    /// PUT
    Put,
    /// POST
    Post,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
    /// HEAD
    Head,
    /// PATCH
    Patch,
    /// TRACE
    Trace,
}

/// What stands between two slashes of a path: parts that are put together without anything between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Segment(pub Vec<Part>);

/// A part of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text, already percent-encoded.
    Literal(String),
    /// The value of the path parameter with this wire name.
    Parameter(String),
}

/// One parameter: where its value comes from and how it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The member of the arguments that holds the value.
    pub arg: String,
    /// The name on the wire.
    pub name: String,
    /// Where it goes.
    pub location: Location,
    /// Whether the API needs it. Path parameters always are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// How arrays and objects are written; scalars look alike in all but `label` and `matrix`.
    pub style: Style,
    /// Whether each item or member is written on its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explode: bool,
    /// Reserved characters (RFC 3986) stay as they are. In a path this lets a value span segments (`{+name}`):
    /// `/` is kept, but `?`, `#` and `%` are encoded and `.` and `..` segments refused all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_reserved: bool,
    /// The value is written in this media type (JSON for all practical purposes) instead of a style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Where a parameter goes. The order is the order of precedence for argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// Into the path, at its placeholder.
    Path,
    /// Into the query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// How a value is written (OpenAPI's parameter styles, and one of Swagger 2.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    /// `a,b`; an object as `k,v,k,v` or, exploded, `k=v,k=v`. Path and header.
    Simple,
    /// `.a.b` (not exploded: `.a,b`). Path.
    Label,
    /// `;p=a;p=b` (not exploded: `;p=a,b`). Path.
    Matrix,
    /// `p=a&p=b` (not exploded: `p=a,b`); an exploded object as `k=v&k=v`. Query and cookie.
    Form,
    /// `p=a%20b`. Query.
    SpaceDelimited,
    /// `p=a|b` (the bar encoded). Query.
    PipeDelimited,
    /// `p=a%09b` (Swagger 2.0's `tsv`). Query.
    TabDelimited,
    /// `p[k]=v`. Query.
    DeepObject,
}

/// Something the API wants that a model may not fill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// Its wire name.
    pub name: String,
    /// Header, query or cookie.
    pub location: Location,
    /// Whether the API needs it.
    pub required: bool,
}

impl Operation {
    /// The path parameter a placeholder stands for.
    pub fn path_parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|p| p.location == Location::Path && p.name == name)
    }

    /// The servers it may be sent to: its own, else the document's.
    pub fn servers<'a>(&'a self, api: &'a Api) -> &'a [Server] {
        if self.servers.is_empty() { &api.servers } else { &self.servers }
    }
}

impl Method {
    /// All of them, in the order documents list them.
    pub const ALL: [Self; 8] =
        [Self::Get, Self::Put, Self::Post, Self::Delete, Self::Options, Self::Head, Self::Patch, Self::Trace];

    /// As on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Head => "HEAD",
            Self::Patch => "PATCH",
            Self::Trace => "TRACE",
        }
    }

    /// As a key of a path item.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Post => "post",
            Self::Delete => "delete",
            Self::Options => "options",
            Self::Head => "head",
            Self::Patch => "patch",
            Self::Trace => "trace",
        }
    }

    /// Whether calling it twice does no more than once, by HTTP's own definition.
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Patch)
    }

    /// Whether it changes nothing, by HTTP's own definition.
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Location {
    /// As documents write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

impl Dialect {
    /// A readable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Swagger20 => "Swagger 2.0",
            Self::OpenApi30 => "OpenAPI 3.0",
            Self::OpenApi31 => "OpenAPI 3.1",
        }
    }
}
