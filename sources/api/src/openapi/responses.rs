//! What comes back: the media types and the schema of the successful response.

use super::{
    doc::{At, Doc, object_or_empty},
    schema::{Mode, Schemas},
};
use crate::report::Warnings;
use domain::Schema;
use serde_json::{Map, Value, json};

/// The largest output schema that is kept, in bytes of JSON.
const MAX_BYTES: usize = 24 * 1024;
/// How many media types are kept.
const MAX_MEDIA_TYPES: usize = 8;

/// What an operation answers when all is well.
#[derive(Default)]
pub(super) struct Success {
    pub(super) accept: Vec<String>,
    pub(super) schema: Option<Schema>,
}

/// Reads the successful response. Whatever is wrong with it costs no more than its schema.
pub(super) fn success<'d>(
    doc: &'d Doc,
    operation: &'d Map<String, Value>,
    pointer: &str,
    schemas: &mut Schemas<'d>,
) -> Success {
    let Some((status, value)) = chosen(object_or_empty(operation.get("responses"))) else {
        return Success::default();
    };
    let at = format!("{pointer}/responses/{status}");
    let Ok(target) = doc.follow(value, at) else {
        return Success::default();
    };
    let response = object_or_empty(Some(target.value));
    let at = At::pointer(&target.pointer);
    if doc.is_v2() {
        let produces = operation.get("produces").or_else(|| doc.get("produces")).and_then(Value::as_array);
        let media: Vec<&str> = produces.into_iter().flatten().filter_map(Value::as_str).collect();
        let is_json = media.is_empty() || media.iter().any(|m| m.contains("json"));
        let schema = response.get("schema").filter(|_| is_json);
        return Success {
            accept: accept(&media),
            schema: schema.and_then(|s| keep(schemas, s, &at.name("schema"))),
        };
    }
    let content = object_or_empty(response.get("content"));
    let media: Vec<&str> = content.keys().map(String::as_str).collect();
    let json = content.iter().find(|(media, _)| media.contains("json"));
    let schema = json.and_then(|(media, described)| {
        let at = at.name("content");
        keep(schemas, described.get("schema")?, &at.name(media).name("schema"))
    });
    Success { accept: accept(&media), schema }
}

/// 200 first, then what else says success, then the default.
fn chosen(responses: &Map<String, Value>) -> Option<(&String, &Value)> {
    let rank = |status: &str| match status {
        "200" => 0,
        "201" => 1,
        "202" => 2,
        "203" | "206" | "207" => 3,
        s if s.eq_ignore_ascii_case("2xx") => 4,
        s if s.starts_with('2') && s.len() == 3 => 5,
        "default" => 6,
        _ => 7,
    };
    let ranked = responses.iter().filter(|(_, value)| value.is_object());
    ranked
        .map(|(s, v)| (rank(s), s, v))
        .filter(|(rank, ..)| *rank < 7)
        .min_by_key(|(rank, ..)| *rank)
        .map(|(_, s, v)| (s, v))
}

/// JSON first: that is what can be taken apart.
fn accept(media: &[&str]) -> Vec<String> {
    let is_type = |m: &&&str| m.contains('/') && m.chars().all(|c| matches!(c, ' '..='~')) && m.len() <= 200;
    let mut kept: Vec<String> = media.iter().filter(is_type).map(|m| m.trim().to_owned()).collect();
    kept.sort_by_key(|m| !m.contains("json"));
    kept.truncate(MAX_MEDIA_TYPES);
    kept
}

fn keep<'d>(schemas: &mut Schemas<'d>, schema: &'d Value, at: &At<'_>) -> Option<Schema> {
    // What the answer looks like is a help and no more: what is odd in it is not worth a warning.
    let mut unheard = Warnings::default();
    let converted = schemas.convert(schema, at, Mode::Response, &mut unheard).ok()?;
    if converted == json!({}) || crate::compile::report_parts::json_bytes(&converted) > MAX_BYTES {
        return None;
    }
    let members = Map::from_iter([("root".to_owned(), converted)]);
    let mut bundle = schemas.bundle_whole(members, MAX_BYTES).ok()??;
    let mut whole = bundle.members.shift_remove("root")?;
    if let Value::Object(map) = &mut whole
        && !bundle.defs.is_empty()
    {
        map.insert("$defs".into(), bundle.defs.into());
    }
    (crate::compile::report_parts::json_bytes(&whole) <= MAX_BYTES).then(|| Schema::new(whole))
}
