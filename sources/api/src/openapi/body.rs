//! Bodies: which media type is chosen, how it is written, which arguments it is made of.

use super::{
    doc::{At, Doc, Target},
    form,
    schema::{Mode, Schemas, file_schema, has_bare_discriminator, raw_properties},
    warning,
};
use crate::{
    compile::{
        args::BodyDraft,
        text::{flag, text_of},
    },
    normal::{BodyKind, Method},
    report::{Reason, WarningCode, Warnings},
};
use serde_json::{Map, Value, json};

/// What reads bodies.
pub(super) struct Reader<'a, 'd> {
    pub(super) doc: &'d Doc,
    pub(super) schemas: &'a mut Schemas<'d>,
    pub(super) warnings: &'a mut Warnings,
}

/// How a media type is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Json,
    JsonLines,
    UrlEncoded,
    Multipart,
    Any,
    Text,
    Binary,
}

impl<'d> Reader<'_, 'd> {
    /// The body of a 3.x operation.
    pub(super) fn of_v3(
        &mut self,
        operation: &'d Map<String, Value>,
        pointer: &str,
        method: Method,
    ) -> Result<Option<BodyDraft>, Reason> {
        let Some(value) = operation.get("requestBody").filter(|v| !v.is_null()) else {
            return Ok(None);
        };
        let at = format!("{pointer}/requestBody");
        let target = self.doc.follow(value, at.clone()).map_err(|p| p.into_reason(format!("{at}/$ref")))?;
        let at = At::pointer(&target.pointer);
        let Some(body) = target.value.as_object() else {
            self.drop_body(&at, "The request body is not an object");
            return Ok(None);
        };
        if matches!(method, Method::Head | Method::Trace) {
            self.drop_body(&at, &format!("A {method} request has no body"));
            return Ok(None);
        }
        let content = body.get("content").and_then(Value::as_object);
        let Some((media, described)) = content.and_then(|c| self.choose(c)) else {
            if content.is_some_and(|c| !c.is_empty()) || flag(body.get("required")) {
                self.drop_body(&at, "The request body has no usable media type");
            }
            return Ok(None);
        };
        let said = text_of(body, "description");
        let at = at.name("content");
        let at = at.name(media);
        let schema = described.get("schema").filter(|s| !s.is_null());
        let pointer = at.name("schema").to_string();
        let source = schema.map(|value| Target { value, pointer });
        let encoding = described.get("encoding").and_then(Value::as_object);
        self.draft(media, source.as_ref(), encoding, flag(body.get("required")), said).map(Some)
    }

    /// The body of a 2.0 operation, in the first media type it consumes that we can write.
    pub(super) fn of_v2(
        &mut self,
        parameter: &Target<'d>,
        consumes: &[&str],
    ) -> Result<Option<BodyDraft>, Reason> {
        let Some(map) = parameter.value.as_object() else {
            return Ok(None);
        };
        let pointer = format!("{}/schema", parameter.pointer);
        let source = map.get("schema").map(|value| Target { value, pointer });
        let is_text = |s: &Target<'_>| s.value.get("type").is_some_and(|t| t == "string");
        let best =
            consumes.iter().copied().filter(|m| !matches!(family(m), Family::UrlEncoded | Family::Multipart));
        let media = best.min_by_key(|media| family(media)).unwrap_or("application/json");
        // A list of everything under the sun says nothing: an object is JSON.
        let media = if source.as_ref().is_some_and(|s| !is_text(s)) && matches!(family(media), Family::Binary)
        {
            "application/json"
        } else {
            media
        };
        self.draft(media, source.as_ref(), None, flag(map.get("required")), text_of(map, "description"))
            .map(Some)
    }

    fn draft(
        &mut self,
        media: &str,
        source: Option<&Target<'d>>,
        encoding: Option<&Map<String, Value>>,
        required: bool,
        said: &str,
    ) -> Result<BodyDraft, Reason> {
        let converted = match source {
            Some(source) => self.schemas.convert(
                source.value,
                &At::pointer(&source.pointer),
                Mode::Request,
                self.warnings,
            )?,
            None => json!({}),
        };
        let kind_of = self.family_of(media, source);
        let properties = source.map(|s| raw_properties(self.doc, s.value)).unwrap_or_default();
        let kind = match kind_of {
            Family::Json | Family::Any => BodyKind::Json,
            Family::JsonLines => BodyKind::JsonLines,
            Family::UrlEncoded => {
                BodyKind::UrlEncoded { fields: form::url_encoded(self.doc, &properties, encoding) }
            }
            Family::Multipart => {
                BodyKind::Multipart { parts: form::multipart(self.doc, &properties, encoding) }
            }
            Family::Text => BodyKind::Text,
            Family::Binary => BodyKind::Binary,
        };
        let schema = self.whole(&kind, media, converted, source, said);
        let may_spread =
            matches!(kind, BodyKind::Json | BodyKind::UrlEncoded { .. } | BodyKind::Multipart { .. });
        let mut fields = match source {
            Some(source) if may_spread && !has_bare_discriminator(self.doc, source.value) => {
                self.schemas.fields(&schema, source.value)
            }
            _ => None,
        };
        if let (BodyKind::Multipart { parts }, Some(fields)) = (&kind, &mut fields) {
            form::mark_files(parts, &mut fields.properties);
        }
        let media_type = match kind_of {
            Family::Any => "application/json",
            _ => media.trim(),
        };
        Ok(BodyDraft { required, media_type: media_type.to_owned(), kind, schema, fields })
    }

    /// What the whole body looks like as an argument.
    fn whole(
        &mut self,
        kind: &BodyKind,
        media: &str,
        converted: Value,
        source: Option<&Target<'_>>,
        said: &str,
    ) -> Value {
        let is_text = converted.get("type").is_some_and(|t| t == "string");
        let mut schema = match kind {
            BodyKind::Binary => return file_schema(said),
            BodyKind::Text if is_text => converted,
            BodyKind::Text => {
                if let Some(source) = source.filter(|s| s.value.get("type").is_none_or(|t| t != "string")) {
                    let message = format!("The body is `{media}`: the model writes it as a text.");
                    let at = At::pointer(&source.pointer);
                    self.warnings.push(warning(WarningCode::TextBody, &at, message));
                }
                json!({"type": "string", "description": format!("The body, as {media}.")})
            }
            BodyKind::JsonLines if converted.get("type").is_none_or(|t| t != "array") => {
                json!({"type": "array", "items": converted, "description": "One item a line."})
            }
            BodyKind::UrlEncoded { .. } | BodyKind::Multipart { .. } if converted == json!({}) => {
                json!({"type": "object"})
            }
            _ => converted,
        };
        if let Value::Object(map) = &mut schema
            && !map.contains_key("description")
            && !said.trim().is_empty()
        {
            let said = crate::compile::text::description(said, crate::compile::text::MAX_FIELD_TEXT);
            map.insert("description".into(), said.into());
        }
        schema
    }

    /// The media type to use: what models write best first, and one with a schema before one without.
    fn choose(&self, content: &'d Map<String, Value>) -> Option<(&'d str, &'d Value)> {
        let rank = |(media, described): &(&'d str, &'d Value)| {
            let schema = described.get("schema").filter(|s| !s.is_null());
            let family = family(media);
            let has_file = || {
                schema
                    .is_some_and(|s| raw_properties(self.doc, s).values().any(|p| form::is_file(self.doc, p)))
            };
            // A form with a file can only go as multipart.
            let family = match family {
                Family::Multipart if !has_file() => (Family::UrlEncoded, 1),
                family => (family, 0),
            };
            (schema.is_none(), family)
        };
        let usable = content.iter().filter(|(media, _)| media.contains('/')).map(|(m, d)| (m.as_str(), d));
        usable.min_by_key(rank)
    }

    /// A range of media types is what its schema is.
    fn family_of(&self, media: &str, source: Option<&Target<'d>>) -> Family {
        let family = family(media);
        if family != Family::Any {
            return family;
        }
        let followed = source.and_then(|s| self.doc.follow(s.value, String::new()).ok());
        match followed.map(|t| t.value) {
            Some(schema) if form::is_file(self.doc, schema) => Family::Binary,
            Some(schema) if schema.get("type").is_some_and(|t| t == "string") => Family::Binary,
            _ => Family::Any,
        }
    }

    fn drop_body(&mut self, at: &At<'_>, what: &str) {
        self.warnings.push(warning(WarningCode::BodyDropped, at, format!("{what}: none is sent.")));
    }
}

fn family(media: &str) -> Family {
    let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" | "text/json" | "application/x-json" => Family::Json,
        "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/jsonlines"
        | "application/x-jsonlines"
        | "application/json-lines"
        | "application/json-seq" => Family::JsonLines,
        "application/x-www-form-urlencoded" => Family::UrlEncoded,
        "*/*" | "application/*" => Family::Any,
        e if e.ends_with("+json") => Family::Json,
        e if e.starts_with("multipart/") => Family::Multipart,
        e if e.starts_with("text/") || e.ends_with("+xml") || e.ends_with("+yaml") => Family::Text,
        "application/xml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/javascript"
        | "application/graphql"
        | "application/sql"
        | "application/sparql-query"
        | "application/toml"
        | "application/csv"
        | "application/rtf"
        | "application/jwt"
        | "application/jose" => Family::Text,
        _ => Family::Binary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_known_by_family() {
        let table = [
            ("application/json; charset=utf-8", Family::Json),
            ("application/vnd.api+json", Family::Json),
            ("application/x-ndjson", Family::JsonLines),
            ("multipart/form-data", Family::Multipart),
            ("Text/XML", Family::Text),
            ("image/*", Family::Binary),
            ("*/*", Family::Any),
            ("application/zip", Family::Binary),
        ];
        for (media, expected) in table {
            assert_eq!(family(media), expected, "{media}");
        }
    }
}
