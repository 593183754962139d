//! The path of a request: literal parts and values, where no value can leave its segment.
//!
//! Servers and proxies decode and normalise paths in different orders, so a value is refused, not only
//! escaped, where some reading of it would climb out of its place.

use super::{
    args::{Args, refused},
    percent::Escape,
    style::Styled,
};
use crate::normal::{Operation, Parameter, Part, Segment};
use domain::ToolError;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// The path below the server's address, without the leading slash.
pub(crate) fn expand(operation: &Operation, args: Args<'_>) -> Result<String, ToolError> {
    let segments: Vec<String> = operation
        .path
        .iter()
        .map(|segment| expand_segment(operation, segment, args))
        .collect::<Result<_, _>>()?;
    Ok(segments.join("/"))
}

fn expand_segment(operation: &Operation, segment: &Segment, args: Args<'_>) -> Result<String, ToolError> {
    let mut text = String::new();
    let mut last = None;
    for part in &segment.0 {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Parameter(name) => {
                let parameter = operation.path_parameter(name).ok_or_else(|| {
                    ToolError::internal(format!("`{}` has no path parameter `{name}`", operation.name))
                })?;
                text.push_str(&expand_value(parameter, args)?);
                last = Some(parameter);
            }
        }
    }
    match last {
        Some(parameter) if text.is_empty() => Err(refused(&parameter.arg, "may not be empty in a path")),
        Some(parameter) if text.split('/').any(is_dots) => Err(refused(&parameter.arg, CLIMBS)),
        _ => Ok(text),
    }
}

const CLIMBS: &str = "may not have a part that is `.` or `..`: it would lead to another path";

fn expand_value(parameter: &Parameter, args: Args<'_>) -> Result<String, ToolError> {
    let value = args
        .get(&parameter.arg)
        .filter(|value| !value.is_null())
        .ok_or_else(|| refused(&parameter.arg, "is required: it is part of the path"))?;
    if climbs(value) {
        return Err(refused(&parameter.arg, CLIMBS));
    }
    if parameter.content.is_some() {
        return Ok(Escape::Component.apply(&value.to_string()).into_owned());
    }
    let escape = if parameter.allow_reserved { Escape::ReservedInPath } else { Escape::Component };
    let styled = Styled { style: parameter.style, explode: parameter.explode, name: &parameter.name, escape };
    styled.joined(value).ok_or_else(|| refused(&parameter.arg, "may not be empty in a path"))
}

/// Whether some text in the value, split at slashes of both kinds, has a part that means "up".
fn climbs(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split(['/', '\\']).any(|part| part == ".."),
        Value::Array(items) => items.iter().any(climbs),
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| climbs(member) || name.split(['/', '\\']).any(|part| part == "..")),
        _ => false,
    }
}

/// Whether a segment is one that readers of addresses take out: `.` or `..`, also in escapes.
fn is_dots(segment: &str) -> bool {
    let decoded = percent_decode_str(segment).collect::<Vec<u8>>();
    decoded == b"." || decoded == b".."
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
