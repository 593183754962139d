//! The body of a request: JSON, JSON lines, urlencoded, multipart, text, bytes.
//!
//! A body is made whole, as bytes: it is sent again after a retry or a redirect.

use super::{
    args::{Args, pointer, refused, refused_at},
    files::{self, NOT_A_FILE},
    multipart::{self, Part},
    percent::Escape,
    style::{Pairs, Styled, text_of},
};
use crate::normal::{Body, BodyArgs, BodyKind, FieldEncoding, PartKind, Style};
use bytes::Bytes;
use domain::ToolError;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// A body ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// What it is.
    pub(crate) content_type: String,
    /// Its bytes.
    pub(crate) bytes: Bytes,
}

/// Makes the body; none where the arguments give none and none is required.
pub(crate) async fn encode(body: &Body, args: Args<'_>) -> Result<Option<Encoded>, ToolError> {
    let gathered;
    let (value, place) = match &body.args {
        BodyArgs::Whole { arg } => match args.get(arg) {
            Some(value) => (value, Place::Whole(arg)),
            None if body.required => return Err(refused(arg, "is required: it is the body")),
            None => return Ok(None),
        },
        BodyArgs::Spread { fields } => {
            let present = |field: &crate::normal::BodyField| {
                args.get(&field.arg).map(|value| (field.name.clone(), value.clone()))
            };
            let members: Map<String, Value> = fields.iter().filter_map(present).collect();
            if members.is_empty() && !body.required {
                return Ok(None);
            }
            gathered = Value::Object(members);
            (&gathered, Place::Spread(fields))
        }
    };
    write(body, value, &place).await.map(Some)
}

/// Where a body's value stands in the arguments, to point at it.
enum Place<'a> {
    Whole(&'a str),
    Spread(&'a [crate::normal::BodyField]),
}

impl Place<'_> {
    fn whole(&self) -> String {
        match self {
            Self::Whole(arg) => pointer(arg),
            Self::Spread(_) => String::new(),
        }
    }

    fn field(&self, name: &str) -> String {
        match self {
            Self::Whole(arg) => pointer(arg) + &pointer(name),
            Self::Spread(fields) => {
                let arg = fields.iter().find(|field| field.name == name);
                pointer(arg.map_or(name, |field| &field.arg))
            }
        }
    }
}

async fn write(body: &Body, value: &Value, place: &Place<'_>) -> Result<Encoded, ToolError> {
    let plain = |bytes: Vec<u8>| Encoded { content_type: body.media_type.clone(), bytes: bytes.into() };
    Ok(match &body.kind {
        BodyKind::Json => plain(json(value)?),
        BodyKind::JsonLines => plain(json_lines(value)?),
        BodyKind::Text => plain(text_of(value).into_bytes()),
        BodyKind::UrlEncoded { fields } => plain(urlencoded(value, fields, place)?.into_bytes()),
        BodyKind::Multipart { parts } => {
            let parts = multipart_parts(value, parts, place)?;
            multipart::encode(&body.media_type, parts).await?
        }
        BodyKind::Binary => binary(&body.media_type, value, place)?,
    })
}

fn json(value: &Value) -> Result<Vec<u8>, ToolError> {
    serde_json::to_vec(value).map_err(ToolError::internal)
}

fn json_lines(value: &Value) -> Result<Vec<u8>, ToolError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut lines = Vec::new();
    for item in items {
        lines.extend(json(item)?);
        lines.push(b'\n');
    }
    Ok(lines)
}

fn binary(media_type: &str, value: &Value, place: &Place<'_>) -> Result<Encoded, ToolError> {
    let file = value.as_str().and_then(files::decode).ok_or_else(|| refused_at(place.whole(), NOT_A_FILE))?;
    let content_type = match file.media_type {
        Some(own) if media_type.contains('*') => own,
        None if media_type.contains('*') => "application/octet-stream".to_owned(),
        _ => media_type.to_owned(),
    };
    Ok(Encoded { content_type, bytes: file.bytes.into() })
}

fn urlencoded(
    value: &Value,
    fields: &IndexMap<String, FieldEncoding>,
    place: &Place<'_>,
) -> Result<String, ToolError> {
    let members = match value {
        Value::Object(members) => members,
        // A form that its document describes as one text comes ready made.
        Value::String(text) => return Ok(text.clone()),
        _ => {
            return Err(refused_at(place.whole(), "must be an object: its members are the form's fields"));
        }
    };
    let mut pairs = Pairs::new();
    for (name, member) in members {
        pairs.extend(form_field(name, member, fields.get(name)));
    }
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(pairs.join("&"))
}

fn form_field(name: &str, value: &Value, encoding: Option<&FieldEncoding>) -> Pairs {
    let component = |text: &str| Escape::Component.apply(text).into_owned();
    let styled = |style, explode, allow_reserved| Styled {
        style,
        explode,
        name,
        escape: if allow_reserved { Escape::ReservedInQuery } else { Escape::Component },
    };
    match encoding {
        Some(FieldEncoding::Styled { style, explode, allow_reserved }) => {
            styled(*style, *explode, *allow_reserved).pairs(value)
        }
        None if is_scalar(value) || is_flat_list(value) => styled(Style::Form, true, false).pairs(value),
        _ => vec![(component(name), component(&value.to_string()))],
    }
}

fn multipart_parts(
    value: &Value,
    kinds: &IndexMap<String, PartKind>,
    place: &Place<'_>,
) -> Result<Vec<Part>, ToolError> {
    let Value::Object(members) = value else {
        return Err(refused_at(place.whole(), "must be an object: its members are the form's parts"));
    };
    let mut parts = Vec::new();
    for (name, member) in members {
        let kind = kinds.get(name);
        let items = match (member, kind) {
            (Value::Array(items), kind) if !matches!(kind, Some(PartKind::Json { .. })) => items.as_slice(),
            (one, _) => std::slice::from_ref(one),
        };
        for item in items {
            let part = part(name, item, kind);
            parts.push(part.ok_or_else(|| refused_at(place.field(name), NOT_A_FILE))?);
        }
    }
    Ok(parts)
}

/// One part; none where the value should be a file and is not.
fn part(name: &str, value: &Value, kind: Option<&PartKind>) -> Option<Part> {
    let text = |content_type: Option<String>, text: String| Part {
        name: name.to_owned(),
        file_name: None,
        content_type,
        bytes: text.into_bytes(),
    };
    let as_json = |content_type: &Option<String>| {
        let content_type = content_type.clone().unwrap_or_else(|| "application/json".to_owned());
        text(Some(content_type), value.to_string())
    };
    Some(match kind {
        Some(PartKind::Json { content_type }) => as_json(content_type),
        Some(PartKind::Text { content_type }) => text(content_type.clone(), text_of(value)),
        Some(PartKind::File { content_type }) => {
            let file = files::decode(value.as_str()?)?;
            let content_type = file
                .media_type
                .or_else(|| content_type.clone().filter(|t| !t.contains(['*', ','])))
                .unwrap_or_else(|| "application/octet-stream".to_owned());
            let file_name = file.name.unwrap_or_else(|| format!("{name}{}", files::extension(&content_type)));
            Part {
                name: name.to_owned(),
                file_name: Some(file_name),
                content_type: Some(content_type),
                bytes: file.bytes,
            }
        }
        None if is_scalar(value) => text(None, text_of(value)),
        None => as_json(&None),
    })
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn is_flat_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(is_scalar))
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
