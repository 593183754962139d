//! Forms: urlencoded and multipart bodies, of 3.x by media type and of 2.0 by `formData` parameters.

use super::{
    body,
    doc::{At, Doc, Target, reference_of},
    parameters::{collection_style, described},
    schema::Mode,
};
use crate::{
    compile::{
        args::{BodyDraft, Fields},
        text::{flag, text_of},
    },
    normal::{BodyKind, FieldEncoding, PartKind, Style},
    report::{Reason, WarningCode},
};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// How each field of a urlencoded form is written.
pub(super) fn url_encoded(
    doc: &Doc,
    properties: &IndexMap<&str, &Value>,
    encoding: Option<&Map<String, Value>>,
) -> IndexMap<String, FieldEncoding> {
    let one = |(name, schema): (&&str, &&Value)| {
        let own = encoding.and_then(|e| e.get(*name)).and_then(Value::as_object);
        let json_asked = own.is_some_and(|e| text_of(e, "contentType").contains("json"));
        let style = own.and_then(|e| match text_of(e, "style") {
            "form" => Some(Style::Form),
            "spaceDelimited" => Some(Style::SpaceDelimited),
            "pipeDelimited" => Some(Style::PipeDelimited),
            "deepObject" => Some(Style::DeepObject),
            _ => None,
        });
        let says_how = style.is_some() || own.is_some_and(|e| e.contains_key("explode"));
        let found = if json_asked || (!says_how && is_nested(doc, schema)) {
            FieldEncoding::Json
        } else {
            let style = style.unwrap_or(Style::Form);
            let explode = own.and_then(|e| crate::compile::text::as_flag(e.get("explode")));
            FieldEncoding::Styled {
                style,
                explode: explode.unwrap_or(matches!(style, Style::Form | Style::DeepObject)),
                allow_reserved: own.is_some_and(|e| flag(e.get("allowReserved"))),
            }
        };
        ((*name).to_owned(), found)
    };
    properties.iter().map(one).collect()
}

/// How each field of a multipart form is written.
pub(super) fn multipart(
    doc: &Doc,
    properties: &IndexMap<&str, &Value>,
    encoding: Option<&Map<String, Value>>,
) -> IndexMap<String, PartKind> {
    let one = |(name, schema): (&&str, &&Value)| {
        let own = encoding.and_then(|e| e.get(*name)).and_then(Value::as_object);
        // A list of types lets the sender choose: the first is as good as any, and a range is none.
        let asked = own.map(|e| text_of(e, "contentType")).and_then(|t| t.split(',').next());
        let asked = asked.map(str::trim).filter(|t| !t.is_empty() && !t.contains('*')).map(str::to_owned);
        let is_json = |t: &String| t.contains("json");
        let says_bytes = asked.as_ref().is_some_and(|t| {
            t == "application/octet-stream"
                || ["image/", "audio/", "video/", "application/zip"].iter().any(|p| t.starts_with(p))
        });
        let kind = if is_file(doc, schema) || says_bytes {
            PartKind::File { content_type: asked }
        } else if is_nested(doc, schema) || asked.as_ref().is_some_and(is_json) {
            PartKind::Json { content_type: asked.filter(|t| t != "application/json") }
        } else {
            PartKind::Text { content_type: asked }
        };
        ((*name).to_owned(), kind)
    };
    properties.iter().map(one).collect()
}

impl<'d> body::Reader<'_, 'd> {
    /// The form of a 2.0 operation.
    pub(super) fn form(
        &mut self,
        parameters: &[Target<'d>],
        consumes: &[&str],
    ) -> Result<Option<BodyDraft>, Reason> {
        let named: Vec<_> = parameters
            .iter()
            .filter_map(|target| Some((target, target.value.as_object()?)))
            .filter(|(_, map)| !text_of(map, "name").is_empty())
            .collect();
        let has_file = named.iter().any(|(target, _)| is_file(self.doc, target.value));
        let offers = |media: &str| consumes.iter().any(|c| c.starts_with(media));
        let is_multipart = has_file || (offers("multipart/") && !offers("application/x-www-form-urlencoded"));
        let mut fields = Fields::default();
        let mut encodings = IndexMap::new();
        let mut parts = IndexMap::new();
        for (target, map) in named {
            let name = text_of(map, "name");
            let at = At::pointer(&target.pointer);
            let source = map.get("schema").unwrap_or(target.value);
            let schema = self.schemas.convert(source, &at, Mode::Request, self.warnings)?;
            fields.properties.insert(name.to_owned(), described(schema, map));
            if flag(map.get("required")) && !fields.required.iter().any(|r| r == name) {
                fields.required.push(name.to_owned());
            }
            let (style, explode) =
                collection_style(map, Style::Form, self.doc.is_v2()).unwrap_or((Style::Form, true));
            let styled = FieldEncoding::Styled { style, explode, allow_reserved: false };
            encodings.insert(
                name.to_owned(),
                if is_nested(self.doc, source) { FieldEncoding::Json } else { styled },
            );
            let part = if is_file(self.doc, source) {
                PartKind::File { content_type: None }
            } else if is_nested(self.doc, source) {
                PartKind::Json { content_type: None }
            } else {
                PartKind::Text { content_type: None }
            };
            parts.insert(name.to_owned(), part);
        }
        if fields.properties.is_empty() {
            return Ok(None);
        }
        if !self.doc.is_v2() {
            let at = At::pointer(&parameters[0].pointer);
            self.warnings.add(
                WarningCode::Repaired,
                at,
                "Form fields among the parameters are taken for the body.",
            );
        }
        let schema = json!({"type": "object", "properties": fields.properties, "required": fields.required});
        let (media_type, kind) = if is_multipart {
            ("multipart/form-data", BodyKind::Multipart { parts })
        } else {
            ("application/x-www-form-urlencoded", BodyKind::UrlEncoded { fields: encodings })
        };
        Ok(Some(BodyDraft {
            required: !fields.required.is_empty(),
            media_type: media_type.to_owned(),
            kind,
            schema,
            fields: Some(fields),
        }))
    }
}

/// Says of fields that are sent as files, because their encoding wants it, that they hold bytes.
pub(super) fn mark_files(parts: &IndexMap<String, PartKind>, properties: &mut Map<String, Value>) {
    for (name, part) in parts {
        if let (PartKind::File { .. }, Some(Value::Object(schema))) = (part, properties.get_mut(name))
            && schema.get("type").is_some_and(|t| t == "string")
        {
            schema.entry("contentEncoding").or_insert_with(|| "base64".into());
        }
    }
}

/// Whether a schema is a file, or a list of files.
pub(super) fn is_file(doc: &Doc, schema: &Value) -> bool {
    let followed = followed(doc, schema);
    let Some(map) = followed.as_object() else {
        return false;
    };
    let is_media = |media: &str| !media.is_empty() && !media.starts_with("text/") && !media.contains("json");
    let own = map.get("type").is_some_and(|t| t == "file")
        || text_of(map, "format") == "binary"
        || (is_media(text_of(map, "contentMediaType")) && !map.contains_key("contentEncoding"));
    own || map.get("items").is_some_and(|items| {
        let items = self::followed(doc, items);
        items.get("format").is_some_and(|f| f == "binary") || items.get("type").is_some_and(|t| t == "file")
    })
}

/// Whether a schema is an object, or a list of objects: nothing that a form has a way to write.
fn is_nested(doc: &Doc, schema: &Value) -> bool {
    let is_object = |schema: &Value| {
        let says = |kind: &Value| {
            kind == "object" || kind.as_array().is_some_and(|l| l.iter().any(|k| k == "object"))
        };
        match schema.get("type") {
            Some(kind) => says(kind),
            None => {
                ["properties", "allOf", "additionalProperties"].iter().any(|key| schema.get(key).is_some())
            }
        }
    };
    let followed = followed(doc, schema);
    is_object(followed) || followed.get("items").is_some_and(|items| is_object(self::followed(doc, items)))
}

fn followed<'d>(doc: &'d Doc, schema: &'d Value) -> &'d Value {
    let target = reference_of(schema).and_then(|r| doc.resolve(r).ok());
    target.map_or(schema, |t| t.value)
}
