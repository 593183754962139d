//! One object of arguments from parameters and body: what each member is called, and whether the body's
//! fields stand beside the parameters or under one member. The rules are told in [`crate::normal`].

use super::names::UniqueNames;
use crate::normal::{Body, BodyArgs, BodyField, BodyKind, Location, Parameter};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet, hash_map::Entry};

/// The longest member name that every model provider accepts.
const MAX_NAME: usize = 64;
/// How many characters a number behind a name may take.
const NUMBER: usize = 6;

/// A parameter whose argument has no name yet.
pub(crate) struct ParameterDraft {
    /// With an empty `arg`.
    pub(crate) parameter: Parameter,
    /// What its value looks like.
    pub(crate) schema: Value,
}

/// A body whose arguments have no names yet.
pub(crate) struct BodyDraft {
    pub(crate) required: bool,
    pub(crate) media_type: String,
    pub(crate) kind: BodyKind,
    /// What the whole of it looks like.
    pub(crate) schema: Value,
    /// Its fields, where it is a plain object that may be spread.
    pub(crate) fields: Option<Fields>,
}

/// The fields of a plain object.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Fields {
    pub(crate) properties: Map<String, Value>,
    pub(crate) required: Vec<String>,
}

/// How members are called.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Naming {
    /// As the document writes them (the narrow protocol).
    AsWritten,
    /// Made legal for every model provider.
    Legal,
}

/// The object of arguments.
pub(crate) struct Arguments {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// Its members.
    pub(crate) properties: Map<String, Value>,
    pub(crate) required: Vec<String>,
}

impl Arguments {
    /// Puts parameters and body together.
    pub(crate) fn assemble(drafts: Vec<ParameterDraft>, body: Option<BodyDraft>, naming: Naming) -> Self {
        let mut names = Names::new(naming);
        let mut args = vec![String::new(); drafts.len()];
        // The order of precedence decides who keeps a name; the order of the document decides where it stands.
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|&i| drafts[i].parameter.location);
        for i in order {
            let p = &drafts[i].parameter;
            args[i] = names.claim(&p.name, p.location.as_str());
        }
        let wire: HashSet<String> = drafts.iter().map(|d| d.parameter.name.clone()).collect();
        let mut out = Self {
            parameters: Vec::with_capacity(drafts.len()),
            body: None,
            properties: Map::new(),
            required: Vec::new(),
        };
        for (draft, arg) in drafts.into_iter().zip(args) {
            out.add(&arg, &draft.parameter.name, draft.schema, draft.parameter.required);
            out.parameters.push(Parameter { arg, ..draft.parameter });
        }
        if let Some(body) = body {
            out.add_body(body, &mut names, &wire);
        }
        out
    }

    /// The whole as a JSON Schema, with the shared parts that it refers to.
    pub(crate) fn schema(
        properties: Map<String, Value>,
        required: &[String],
        defs: Map<String, Value>,
    ) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        if !defs.is_empty() {
            schema.insert("$defs".into(), Value::Object(defs));
        }
        Value::Object(schema)
    }

    fn add(&mut self, arg: &str, name: &str, schema: Value, required: bool) {
        self.properties.insert(arg.to_owned(), named(schema, arg, name));
        if required {
            self.required.push(arg.to_owned());
        }
    }

    fn add_body(&mut self, body: BodyDraft, names: &mut Names, wire: &HashSet<String>) {
        let free = |name: &String| !wire.contains(name) && names.is_free(name);
        let spread = body.fields.filter(|fields| {
            (body.required || fields.required.is_empty()) && fields.properties.keys().all(free)
        });
        let args = if let Some(fields) = spread {
            let required: HashSet<String> = fields.required.into_iter().collect();
            let mut list = Vec::with_capacity(fields.properties.len());
            for (name, schema) in fields.properties {
                let arg = names.claim(&name, "body");
                self.add(&arg, &name, schema, required.contains(&name));
                list.push(BodyField { arg, name });
            }
            BodyArgs::Spread { fields: list }
        } else {
            let arg = if names.is_free("body") { "body" } else { "request_body" };
            let arg = names.claim(arg, "whole");
            self.add(&arg, &arg, body.schema, body.required);
            BodyArgs::Whole { arg }
        };
        self.body =
            Some(Body { required: body.required, media_type: body.media_type, kind: body.kind, args });
    }
}

/// Says the wire name in the description where the argument's name does not let one guess it.
fn named(mut schema: Value, arg: &str, name: &str) -> Value {
    let is_foreign = |c: char| c.is_alphanumeric() && !c.is_ascii();
    if arg != name
        && name.contains(is_foreign)
        && let Value::Object(map) = &mut schema
    {
        let said = map.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = format!("`{name}`{}{said}", if said.is_empty() { "" } else { ": " });
        map.insert("description".into(), said.into());
    }
    schema
}

/// Member names that are taken.
struct Names {
    naming: Naming,
    taken: UniqueNames,
}

impl Names {
    fn new(naming: Naming) -> Self {
        Self { naming, taken: UniqueNames::default() }
    }

    fn legal(&self, name: &str) -> String {
        match self.naming {
            Naming::AsWritten => name.to_owned(),
            Naming::Legal => legal_name(name),
        }
    }

    fn is_free(&self, name: &str) -> bool {
        !self.taken.has(&self.legal(name))
    }

    /// The name, else the name and where it goes, else that with a number.
    fn claim(&mut self, name: &str, place: &str) -> String {
        let base = self.legal(name);
        let base = if base.is_empty() { place.to_owned() } else { base };
        if self.taken.take(&base) {
            return base;
        }
        // A number behind it must fit too.
        let suffix = format!("_{place}");
        let room = MAX_NAME.saturating_sub(suffix.len() + NUMBER);
        let cut = base.char_indices().nth(room).map_or(base.len(), |(at, _)| at);
        self.taken.claim(format!("{}{suffix}", &base[..cut]))
    }
}

/// A name of `[A-Za-z0-9_.-]`, at most 64 characters: what is not legal becomes `_`, and none at the ends that
/// was not there. Empty when nothing is left.
fn legal_name(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.len() <= MAX_NAME && name.chars().all(is_legal) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let mut gap = false;
    for c in name.chars() {
        if is_legal(c) {
            if gap && !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            out.push(c);
            gap = false;
        } else {
            gap = true;
        }
    }
    out.truncate(MAX_NAME);
    out
}

/// Drafts in the order of the document, one for each place and name.
#[derive(Default)]
pub(crate) struct Drafts {
    list: Vec<ParameterDraft>,
    by_key: HashMap<(Location, String), usize>,
}

impl Drafts {
    /// Adds a draft. One of the same place and name that is there already is replaced, where it stands.
    pub(crate) fn put(&mut self, draft: ParameterDraft) {
        let p = &draft.parameter;
        // Header names are the same in any case.
        let name = match p.location {
            Location::Header => p.name.to_ascii_lowercase(),
            _ => p.name.clone(),
        };
        match self.by_key.entry((p.location, name)) {
            Entry::Occupied(known) => self.list[*known.get()] = draft,
            Entry::Vacant(free) => {
                free.insert(self.list.len());
                self.list.push(draft);
            }
        }
    }

    /// The drafts.
    pub(crate) fn into_vec(self) -> Vec<ParameterDraft> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::Style;
    use serde_json::json;

    fn draft(name: &str, location: Location) -> ParameterDraft {
        ParameterDraft {
            parameter: Parameter {
                arg: String::new(),
                name: name.into(),
                location,
                required: location == Location::Path,
                style: Style::Simple,
                explode: false,
                allow_reserved: false,
                content: None,
            },
            schema: json!({"type": "string"}),
        }
    }

    fn body(fields: &[&str], required: &[&str], body_required: bool) -> BodyDraft {
        BodyDraft {
            required: body_required,
            media_type: "application/json".into(),
            kind: BodyKind::Json,
            schema: json!({"type": "object"}),
            fields: Some(Fields {
                properties: fields.iter().map(|f| ((*f).to_owned(), json!({}))).collect(),
                required: required.iter().map(|f| (*f).to_owned()).collect(),
            }),
        }
    }

    fn args(drafts: Vec<ParameterDraft>, body: Option<BodyDraft>) -> Vec<String> {
        let assembled = Arguments::assemble(drafts, body, Naming::Legal);
        assembled.properties.keys().cloned().collect()
    }

    #[test]
    fn the_path_keeps_a_name_and_the_others_say_where_they_go() {
        let drafts = vec![
            draft("id", Location::Cookie),
            draft("id", Location::Query),
            draft("id", Location::Path),
            draft("id_query", Location::Header),
        ];
        assert_eq!(args(drafts, None), ["id_cookie", "id_query", "id", "id_query_header"]);
    }

    #[test]
    fn names_become_legal_and_stay_apart() {
        let names = ["filter[name]", "$top", "top", "X-Trace", "größe", "城市"];
        let drafts = names.iter().map(|n| draft(n, Location::Query)).collect();
        let assembled = Arguments::assemble(drafts, None, Naming::Legal);
        let keys: Vec<_> = assembled.properties.keys().map(String::as_str).collect();
        assert_eq!(keys, ["filter_name", "top", "top_query", "X-Trace", "gr_e", "query"]);
        assert_eq!(assembled.properties["query"]["description"], "`城市`");
        assert_eq!(assembled.parameters[5].name, "城市");
        assert_eq!(legal_name(&"x".repeat(80)).len(), 64);
    }

    #[test]
    fn a_body_is_spread_only_where_nothing_collides_and_nothing_is_forced() {
        let spread = body(&["name", "tag"], &["name"], true);
        assert_eq!(args(vec![draft("id", Location::Path)], Some(spread)), ["id", "name", "tag"]);
        let colliding = body(&["id", "tag"], &[], true);
        assert_eq!(args(vec![draft("id", Location::Path)], Some(colliding)), ["id", "body"]);
        let optional = body(&["name"], &["name"], false);
        assert_eq!(args(vec![], Some(optional)), ["body"]);
        let both = body(&["body"], &[], true);
        assert_eq!(args(vec![draft("body", Location::Query)], Some(both)), ["body", "request_body"]);
    }
}
