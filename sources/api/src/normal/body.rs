//! What goes into a request's body, and how.

use super::Style;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Whether one is always sent. A required spread body without any field present is sent empty
    /// (`{}`, or a form without fields); one that is not required is then left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The media type that was chosen, as the document writes it. It may be a range (`image/*`, `*/*`) for
    /// [`BodyKind::Binary`]: the type comes from the data URI then, else `application/octet-stream`.
    pub media_type: String,
    /// How it is written.
    pub kind: BodyKind,
    /// Which arguments it is made of.
    pub args: BodyArgs,
}

/// How a body is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BodyKind {
    /// A JSON text (`application/json`, `*+json`).
    Json,
    /// One JSON text a line: each item of an array is a line. A value that is no array is one line.
    JsonLines,
    /// `application/x-www-form-urlencoded`. Fields that are not listed are written by their value: scalars as
    /// they are, arrays of scalars one pair an item, everything else as JSON.
    UrlEncoded {
        /// By field's wire name.
        fields: IndexMap<String, FieldEncoding>,
    },
    /// `multipart/form-data` or another multipart type. Fields that are not listed are written by their value:
    /// scalars as text, arrays one part an item, objects as JSON.
    Multipart {
        /// By field's wire name.
        parts: IndexMap<String, PartKind>,
    },
    /// The argument is a text, sent as it is (plain text, XML, YAML, CSV, …).
    Text,
    /// The argument is base64 or a data URI (`data:image/png;base64,…`); the bytes are sent.
    Binary,
}

/// How one field of a urlencoded form is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldEncoding {
    /// In a query style: form, spaceDelimited, pipeDelimited, tabDelimited or deepObject. In `deepObject`,
    /// nested members go on as `f[a][b]=v`.
    Styled {
        /// The style.
        style: Style,
        /// Whether each item or member is a pair of its own.
        explode: bool,
        /// Reserved characters stay as they are.
        allow_reserved: bool,
    },
    /// As one JSON text.
    Json,
}

/// How one field of a multipart form is written. An array gives one part an item, except as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PartKind {
    /// As text.
    Text {
        /// The part's `Content-Type`, where the document asks for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
    },
    /// As one JSON text (`application/json`, or the type the document asks for).
    Json {
        /// The part's `Content-Type`, where it is not `application/json`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
    },
    /// The value is base64 or a data URI; its bytes are sent as a file (with a file name).
    File {
        /// The part's `Content-Type`, where the data URI does not say one; else `application/octet-stream`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
    },
}

/// Which arguments a body is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BodyArgs {
    /// One argument is the whole body. When it is absent no body is sent.
    Whole {
        /// The member of the arguments.
        arg: String,
    },
    /// Each field is an argument of its own.
    Spread {
        /// The fields.
        fields: Vec<BodyField>,
    },
}

/// One field of a spread body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyField {
    /// The member of the arguments.
    pub arg: String,
    /// The field's name in the body.
    pub name: String,
}
