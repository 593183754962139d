//! Parameters of all dialects: gathered from path and operation, each with its place, style and schema.

use super::{
    doc::{At, Doc, Target},
    lost,
    schema::{Mode, Schemas},
    security, warning,
};
use crate::{
    compile::{
        args::{Drafts, ParameterDraft},
        policy,
        text::{MAX_FIELD_TEXT, as_flag, description, flag, plain, text_of},
    },
    normal::{Api, Location, Parameter, Style, Withheld},
    report::{Reason, ReasonCode, WarningCode, Warnings},
};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// How many parameters an operation may have.
const MAX_PARAMETERS: usize = 1_000;

/// The parameters of an operation, by what becomes of them.
#[derive(Default)]
pub(super) struct Gathered<'d> {
    pub(super) drafts: Drafts,
    pub(super) withheld: Vec<Withheld>,
    pub(super) fixed_headers: Vec<(String, String)>,
    /// Swagger 2.0's body parameter.
    pub(super) body: Option<Target<'d>>,
    /// Swagger 2.0's form fields.
    pub(super) form: Vec<Target<'d>>,
}

/// What reads parameters.
pub(super) struct Reader<'a, 'd> {
    pub(super) doc: &'d Doc,
    pub(super) api: &'a Api,
    pub(super) schemas: &'a mut Schemas<'d>,
    pub(super) warnings: &'a mut Warnings,
}

/// A parameter as it stands in the document, and where.
type Placed<'d> = (&'d Map<String, Value>, String);

impl<'d> Reader<'_, 'd> {
    /// Gathers the parameters of lists: those of the path first, then the operation's, which win.
    pub(super) fn gather(&mut self, lists: [(Option<&'d Value>, String); 2]) -> Result<Gathered<'d>, Reason> {
        // Both lists may have one; the operation's wins, in the place of the path's.
        let mut found: IndexMap<(String, String), Placed<'d>> = IndexMap::new();
        for (list, pointer) in lists {
            for (i, value) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
                let at = format!("{pointer}/{i}");
                if let Some((map, at)) = self.followed(value, at)? {
                    found.insert((plain_of(map, "name"), plain_of(map, "in")), (map, at));
                }
                if found.len() > MAX_PARAMETERS {
                    let message = format!("An operation may have at most {MAX_PARAMETERS} parameters.");
                    return Err(Reason::new(ReasonCode::SchemaTooLarge, pointer, message));
                }
            }
        }
        let mut gathered = Gathered::default();
        for (map, pointer) in found.into_values() {
            self.parameter(map, &pointer, &mut gathered)?;
        }
        Ok(gathered)
    }

    fn followed(&mut self, value: &'d Value, at: String) -> Result<Option<Placed<'d>>, Reason> {
        let target = self.doc.follow(value, at.clone()).map_err(|p| p.into_reason(format!("{at}/$ref")))?;
        let Some(map) = target.value.as_object() else {
            let message = "A parameter that is not an object is left out.";
            self.warnings.add(WarningCode::ParameterDropped, at, message);
            return Ok(None);
        };
        Ok(Some((map, target.pointer)))
    }

    fn parameter(
        &mut self,
        map: &'d Map<String, Value>,
        pointer: &str,
        out: &mut Gathered<'d>,
    ) -> Result<(), Reason> {
        let at = At::pointer(pointer);
        let name = plain_of(map, "name");
        let place = plain_of(map, "in");
        let location = match place.trim().to_ascii_lowercase().as_str() {
            "path" => Location::Path,
            "query" => Location::Query,
            "header" => Location::Header,
            "cookie" => Location::Cookie,
            "body" | "formdata" | "form" => {
                let target = Target {
                    value: self.doc.root.pointer(pointer).unwrap_or(&Value::Null),
                    pointer: pointer.to_owned(),
                };
                if place == "body" {
                    out.body.get_or_insert(target);
                } else {
                    out.form.push(target);
                }
                return Ok(());
            }
            _ => {
                return self.unusable(map, &at, &format!("A parameter's place is `{place}`, which is none."));
            }
        };
        if name.is_empty() {
            return self.unusable(map, &at, "A parameter has no name.");
        }
        if self.keep_back(map, &name, location, &at, out) {
            return Ok(());
        }
        let draft = self.draft(map, name, location, &at)?;
        out.drafts.put(draft);
        Ok(())
    }

    /// A parameter that cannot be sent: it costs the operation where the API needs it.
    fn unusable(&mut self, map: &Map<String, Value>, at: &At<'_>, what: &str) -> Result<(), Reason> {
        if flag(map.get("required")) {
            return Err(lost(ReasonCode::Parameter, at, format!("{what} It is required.")));
        }
        let message = format!("{what} It is left out.");
        self.warnings.push(warning(WarningCode::ParameterDropped, at, message));
        Ok(())
    }

    /// Headers that the executor sets, and what a model may not fill.
    fn keep_back(
        &mut self,
        map: &'d Map<String, Value>,
        name: &str,
        location: Location,
        at: &At<'_>,
        out: &mut Gathered<'d>,
    ) -> bool {
        if location == Location::Header
            && matches!(name.to_ascii_lowercase().as_str(), "accept" | "content-type")
        {
            if let Some(value) = only_value(map) {
                out.fixed_headers.push((name.to_owned(), value));
            }
            return true;
        }
        let withheld = policy::is_withheld(name, location)
            || security::is_key(&self.api.security_schemes, name, location);
        if withheld {
            self.warnings.push(policy::withheld_warning(name, location, &at.to_string()));
            if !policy::is_of_the_connection(name) {
                out.withheld.push(Withheld {
                    name: name.to_owned(),
                    location,
                    required: flag(map.get("required")),
                });
            }
        }
        withheld
    }

    fn draft(
        &mut self,
        map: &'d Map<String, Value>,
        name: String,
        location: Location,
        at: &At<'_>,
    ) -> Result<ParameterDraft, Reason> {
        let (content, schema) = self.schema_of(map, at)?;
        let (style, explode) = self.style_of(map, location, at);
        let parameter = Parameter {
            arg: String::new(),
            name,
            location,
            required: location == Location::Path || flag(map.get("required")),
            style,
            explode,
            allow_reserved: flag(map.get("allowReserved")),
            content,
        };
        Ok(ParameterDraft { parameter, schema: described(schema, map) })
    }

    /// The media type of a content-typed parameter, and the schema.
    fn schema_of(
        &mut self,
        map: &'d Map<String, Value>,
        at: &At<'_>,
    ) -> Result<(Option<String>, Value), Reason> {
        if let Some(schema) = map.get("schema").filter(|s| !s.is_null()) {
            let converted = self.schemas.convert(schema, &at.name("schema"), Mode::Request, self.warnings)?;
            return Ok((None, converted));
        }
        let content = map.get("content").and_then(Value::as_object).and_then(|c| c.iter().next());
        if let Some((media, described)) = content {
            let at = at.name("content");
            let at = at.name(media);
            let schema = match described.get("schema") {
                Some(schema) => {
                    self.schemas.convert(schema, &at.name("schema"), Mode::Request, self.warnings)?
                }
                None => json!({}),
            };
            return Ok((Some(media.clone()), schema));
        }
        // Swagger 2.0 writes the schema into the parameter; some 3.x documents do so by mistake.
        if ["type", "enum", "items", "$ref", "format"].iter().any(|key| map.contains_key(*key)) {
            if !self.doc.is_v2() {
                let message = "The parameter has its type in itself, as in Swagger 2.0, instead of a schema.";
                self.warnings.push(warning(WarningCode::Repaired, at, message));
            }
            let whole = self.doc.root.pointer(&at.to_string()).unwrap_or(&Value::Null);
            let converted = self.schemas.convert(whole, at, Mode::Request, self.warnings)?;
            return Ok((None, converted));
        }
        self.warnings.push(warning(
            WarningCode::Repaired,
            at,
            "The parameter has no schema: it is taken for a text.",
        ));
        Ok((None, json!({"type": "string"})))
    }

    fn style_of(&mut self, map: &Map<String, Value>, location: Location, at: &At<'_>) -> (Style, bool) {
        let default = match location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        if let Some(found) = collection_style(map, default, self.doc.is_v2()) {
            return found;
        }
        let style = match text_of(map, "style") {
            "" => default,
            "simple" => Style::Simple,
            "label" => Style::Label,
            "matrix" => Style::Matrix,
            "form" => Style::Form,
            "spaceDelimited" => Style::SpaceDelimited,
            "pipeDelimited" => Style::PipeDelimited,
            "deepObject" => Style::DeepObject,
            _ => {
                self.warnings.push(warning(
                    WarningCode::Repaired,
                    at,
                    "A style that is not known is ignored.",
                ));
                default
            }
        };
        let legal = match location {
            Location::Path => matches!(style, Style::Simple | Style::Label | Style::Matrix),
            Location::Header => style == Style::Simple,
            Location::Cookie => style == Style::Form,
            Location::Query => !matches!(style, Style::Simple | Style::Label | Style::Matrix),
        };
        let style = if legal {
            style
        } else {
            let message =
                format!("The style `{}` is not one for a {}.", text_of(map, "style"), location.as_str());
            self.warnings.push(warning(WarningCode::Repaired, at, message));
            default
        };
        (style, as_flag(map.get("explode")).unwrap_or(matches!(style, Style::Form | Style::DeepObject)))
    }
}

/// Swagger 2.0's `collectionFormat`. In 2.0 an array without one is separated by commas.
pub(super) fn collection_style(
    map: &Map<String, Value>,
    default: Style,
    is_v2: bool,
) -> Option<(Style, bool)> {
    let format = text_of(map, "collectionFormat");
    let in_query = default == Style::Form;
    match format {
        "multi" if in_query => Some((Style::Form, true)),
        "ssv" if in_query => Some((Style::SpaceDelimited, false)),
        "tsv" if in_query => Some((Style::TabDelimited, false)),
        "pipes" if in_query => Some((Style::PipeDelimited, false)),
        "" if !is_v2 => None,
        _ => Some((default, false)),
    }
}

/// What a parameter says of itself goes before what its schema says.
pub(super) fn described(mut schema: Value, map: &Map<String, Value>) -> Value {
    if let Value::Object(out) = &mut schema {
        let said = text_of(map, "description");
        if !said.trim().is_empty() {
            out.insert("description".into(), description(said, MAX_FIELD_TEXT).into());
        }
        if flag(map.get("deprecated")) {
            out.insert("deprecated".into(), true.into());
        }
    }
    schema
}

/// The one value a header can have, or the one it has unless told otherwise.
fn only_value(map: &Map<String, Value>) -> Option<String> {
    let schema = map.get("schema").and_then(Value::as_object).unwrap_or(map);
    let value = schema.get("const").or_else(|| schema.get("default"));
    let value = value.or_else(|| schema.get("enum")?.as_array()?.first());
    let value = value.filter(|v| v.is_string()).map(plain)?;
    let usable = !value.is_empty() && value.chars().all(|c| matches!(c, ' '..='~'));
    usable.then_some(value)
}

/// A scalar member as text.
fn plain_of(map: &Map<String, Value>, key: &str) -> String {
    match map.get(key) {
        Some(Value::Null) | None => String::new(),
        Some(value) => plain(value),
    }
}
