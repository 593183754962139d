//! One operation to the normal form.

use super::{
    body,
    doc::{At, Doc, Target},
    parameters::{self, Gathered},
    responses, review,
    schema::{Bundle, Schemas},
    security, servers,
};
use crate::{
    compile::{
        args::{Arguments, Drafts, Naming, ParameterDraft},
        guess,
        names::Claim,
        path::Template,
        report_parts,
        text::{MAX_OPERATION_TEXT, MAX_TITLE, description, flag, kind_of, text_of, trimmed},
    },
    normal::{Api, Location, Method, Operation, Parameter, Server, Style},
    report::{Reason, ReasonCode, Warning, WarningCode, Warnings},
};
use domain::Schema;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The largest schema of arguments, in bytes of JSON. Shared parts that do not fit are cut.
const MAX_SCHEMA: usize = 192 * 1024;
/// What it may come to with parts that are written in place more than once.
const HARD_MAX_SCHEMA: usize = 256 * 1024;
/// The least room that is tried for shared parts.
const SMALLEST_ROOM: usize = 4 * 1024;
/// How many bytes the schemas of all operations may take together.
const MAX_SCHEMAS: usize = 32 * 1024 * 1024;
/// How many tags are kept.
const MAX_TAGS: usize = 20;

/// What compiles the operations of a document.
pub(super) struct Compiler<'d> {
    doc: &'d Doc,
    api: &'d Api,
    schemas: Schemas<'d>,
    bytes: usize,
}

/// Where an operation stands and what it is called.
pub(super) struct Place<'a, 'd> {
    pub(super) path: &'d str,
    pub(super) item: &'d Map<String, Value>,
    pub(super) item_pointer: &'a str,
    pub(super) method: Method,
    pub(super) name: &'a str,
}

impl<'d> Compiler<'d> {
    pub(super) fn new(doc: &'d Doc, api: &'d Api) -> Self {
        Self { doc, api, schemas: Schemas::new(doc), bytes: 0 }
    }

    /// What is to say of parts that operations share.
    pub(super) fn into_notes(self) -> Vec<Warning> {
        self.schemas.notes.finish("")
    }

    /// Compiles an operation; says about how many tokens it takes.
    pub(super) fn compile(
        &mut self,
        place: &Place<'_, 'd>,
        target: &Target<'d>,
        tags: Vec<String>,
        warnings: &mut Warnings,
    ) -> Result<(Operation, usize), Reason> {
        let pointer = target.pointer.as_str();
        let at = At::pointer(pointer);
        let Some(map) = target.value.as_object() else {
            let message = format!("The operation is {}, not an object.", kind_of(target.value));
            return Err(Reason::new(ReasonCode::Malformed, pointer, message));
        };
        let mut template = template(place.path, &at, warnings)?;
        let mut gathered = self.parameters(place, map, pointer, warnings)?;
        match_placeholders(&mut template, &mut gathered, &at, warnings);
        let body = self.body(place.method, map, pointer, &gathered, warnings)?;
        let arguments = Arguments::assemble(gathered.drafts.into_vec(), body, Naming::Legal);
        let (schema, bytes) = self.schema(&arguments.properties, &arguments.required, &at, warnings)?;
        let success = responses::success(self.doc, map, pointer, &mut self.schemas);
        let said = [text_of(map, "description"), text_of(map, "summary")];
        let said = said.into_iter().find(|s| !s.trim().is_empty()).unwrap_or_default();
        let title = trimmed(text_of(map, "summary"), MAX_TITLE);
        let operation = Operation {
            name: place.name.to_owned(),
            title: if title.is_empty() { place.name.to_owned() } else { title },
            description: description(said, MAX_OPERATION_TEXT),
            method: place.method,
            path: template.segments,
            path_template: place.path.to_owned(),
            fixed_query: template.fixed_query,
            fixed_headers: gathered.fixed_headers,
            withheld: gathered.withheld,
            servers: self.servers(place, map),
            parameters: arguments.parameters,
            body: arguments.body,
            args_schema: schema,
            output_schema: success.schema,
            accept: success.accept,
            security: security::of_operation(self.doc, map, &self.api.security_schemes, &at, warnings),
            deprecated: flag(map.get("deprecated")),
            tags,
            annotations: guess::annotations(place.method, place.name, place.path),
            pointer: pointer.to_owned(),
        };
        let tokens = report_parts::tokens(&operation, bytes);
        Ok((operation, tokens))
    }

    fn parameters(
        &mut self,
        place: &Place<'_, 'd>,
        map: &'d Map<String, Value>,
        pointer: &str,
        warnings: &mut Warnings,
    ) -> Result<Gathered<'d>, Reason> {
        let mut reader =
            parameters::Reader { doc: self.doc, api: self.api, schemas: &mut self.schemas, warnings };
        reader.gather([
            (place.item.get("parameters"), format!("{}/parameters", place.item_pointer)),
            (map.get("parameters"), format!("{pointer}/parameters")),
        ])
    }

    fn body(
        &mut self,
        method: Method,
        map: &'d Map<String, Value>,
        pointer: &str,
        gathered: &Gathered<'d>,
        warnings: &mut Warnings,
    ) -> Result<Option<crate::compile::args::BodyDraft>, Reason> {
        let consumes = map.get("consumes").or_else(|| self.doc.get("consumes")).and_then(Value::as_array);
        let consumes: Vec<&str> = consumes.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut reader = body::Reader { doc: self.doc, schemas: &mut self.schemas, warnings };
        if let Some(body) = reader.of_v3(map, pointer, method)? {
            return Ok(Some(body));
        }
        match &gathered.body {
            Some(parameter) => reader.of_v2(parameter, &consumes),
            None => reader.form(&gathered.form, &consumes),
        }
    }

    /// The whole schema of arguments, complete in itself.
    fn schema(
        &mut self,
        properties: &Map<String, Value>,
        required: &[String],
        at: &At<'_>,
        warnings: &mut Warnings,
    ) -> Result<(Schema, usize), Reason> {
        let own = report_parts::json_bytes(properties);
        let too_large = |bytes: usize| {
            let message =
                format!("The schema of its arguments has {bytes} bytes; at most {MAX_SCHEMA} are kept.");
            super::lost(ReasonCode::SchemaTooLarge, at, message)
        };
        if own > MAX_SCHEMA {
            return Err(too_large(own));
        }
        let (bundle, schema, bytes) = self.bundle(properties, required, MAX_SCHEMA - own)?;
        if !bundle.cut.is_empty() {
            let names: Vec<&str> = bundle.cut.iter().take(5).map(String::as_str).collect();
            let message = format!(
                "The schema is too large as a whole: the inner form of {} parts is left out ({}{}).",
                bundle.cut.len(),
                names.join(", "),
                if bundle.cut.len() > names.len() { ", …" } else { "" }
            );
            warnings.push(super::warning(WarningCode::SchemaCut, at, message));
        }
        if bundle.bare {
            let message = "The schema is too large as a whole: its shared parts go without descriptions.";
            warnings.push(super::warning(WarningCode::DescriptionsDropped, at, message));
        }
        warnings.extend(review::of_schema(&schema, bundle.recursive, &at.to_string()));
        self.bytes += bytes;
        if bytes > HARD_MAX_SCHEMA {
            return Err(too_large(bytes));
        }
        if self.bytes > MAX_SCHEMAS {
            let message = format!(
                "The schemas of the document's operations take more than {MAX_SCHEMAS} bytes together."
            );
            return Err(super::lost(ReasonCode::DocumentTooLarge, at, message));
        }
        Ok((Schema::new(schema), bytes))
    }

    /// The schema within its limit. What is written in place at several places is not known before it is
    /// written, so the room for shared parts is halved until all of it fits.
    fn bundle(
        &mut self,
        properties: &Map<String, Value>,
        required: &[String],
        mut room: usize,
    ) -> Result<(Bundle, Value, usize), Reason> {
        loop {
            let mut bundle = self.schemas.bundle(properties.clone(), room)?;
            let members = std::mem::take(&mut bundle.members);
            let schema = Arguments::schema(members, required, std::mem::take(&mut bundle.defs));
            let bytes = report_parts::json_bytes(&schema);
            if bytes <= HARD_MAX_SCHEMA || room < SMALLEST_ROOM {
                return Ok((bundle, schema, bytes));
            }
            room /= 2;
        }
    }

    /// Servers of the operation or its path, where they are not those of the document.
    fn servers(&self, place: &Place<'_, 'd>, map: &Map<String, Value>) -> Vec<Server> {
        if self.doc.is_v2() {
            return self.scheme_servers(map);
        }
        let own = servers::of(map);
        let own = if own.is_empty() { servers::of(place.item) } else { own };
        if own == self.api.servers { Vec::new() } else { own }
    }

    /// 2.0: an operation may have schemes of its own.
    fn scheme_servers(&self, map: &Map<String, Value>) -> Vec<Server> {
        let schemes = map.get("schemes").and_then(Value::as_array).into_iter().flatten();
        let wanted: Vec<&str> =
            schemes.filter_map(Value::as_str).filter(|s| matches!(*s, "http" | "https")).collect();
        let fits = |s: &&Server| wanted.iter().any(|w| s.url.starts_with(&format!("{w}://")));
        let servers: Vec<Server> = self.api.servers.iter().filter(fits).cloned().collect();
        if servers.len() == self.api.servers.len() { Vec::new() } else { servers }
    }
}

/// Says how a made-up name came about.
pub(super) fn warn_of_name(claim: &Claim, pointer: &str, warnings: &mut Warnings) {
    let (name, why) = match claim {
        Claim::Given(_) => return,
        Claim::Missing(name) => (name, "The operation has no operationId"),
        Claim::Unusable(name) => (name, "The operationId is too long or stands in the document twice"),
    };
    let message = format!("{why}: it is called `{name}`, after its method and path.");
    warnings.add(WarningCode::MadeUpName, format!("{pointer}/operationId"), message);
}

/// The tags of an operation.
pub(super) fn tags(operation: &Value) -> Vec<String> {
    let tags = operation.get("tags").and_then(Value::as_array).into_iter().flatten();
    tags.filter_map(Value::as_str).take(MAX_TAGS).map(|t| trimmed(t, MAX_TITLE)).collect()
}

fn template(path: &str, at: &At<'_>, warnings: &mut Warnings) -> Result<Template, Reason> {
    let Some(template) = Template::parse(path) else {
        let shown = trimmed(path, 200);
        let message =
            format!("The path `{shown}` is too long, or has a placeholder inside a value of its query.");
        return Err(super::lost(ReasonCode::Path, at, message));
    };
    if template.fragment {
        let message = "What stands after the `#` of the path is never sent and is left out.";
        warnings.push(super::warning(WarningCode::Repaired, at, message));
    }
    Ok(template)
}

/// Brings placeholders and path parameters together: spellings that differ in case are one, what is not
/// declared is taken for a text, and what has no placeholder is not sent.
fn match_placeholders(
    template: &mut Template,
    gathered: &mut Gathered<'_>,
    at: &At<'_>,
    warnings: &mut Warnings,
) {
    let mut drafts = std::mem::take(&mut gathered.drafts).into_vec();
    let is_path = |d: &ParameterDraft| d.parameter.location == Location::Path;
    let placeholders: Vec<String> = template.placeholders().into_iter().map(str::to_owned).collect();
    let in_query: HashSet<String> = template.query_placeholders.iter().map(|(_, p)| p.clone()).collect();
    let mut undeclared = Vec::new();
    for placeholder in &placeholders {
        if drafts.iter().any(|d| is_path(d) && d.parameter.name == *placeholder) {
            continue;
        }
        let alike = drafts.iter().find(|d| {
            let name = d.parameter.name.trim_matches(['{', '}', '+', '*']);
            is_path(d) && name.eq_ignore_ascii_case(placeholder) && !placeholders.contains(&d.parameter.name)
        });
        match alike {
            Some(draft) => template.rename(placeholder, &draft.parameter.name),
            None => undeclared.push(placeholder.clone()),
        }
    }
    for (name, placeholder) in std::mem::take(&mut template.query_placeholders) {
        to_query(&mut drafts, &name, &placeholder);
    }
    let used: HashSet<String> = template.placeholders().into_iter().map(str::to_owned).collect();
    drafts.retain(|d| {
        let keep = !is_path(d) || used.contains(&d.parameter.name) || in_query.contains(&d.parameter.name);
        if !keep {
            let message = format!(
                "The path parameter `{}` has no place in the path; it is not sent.",
                d.parameter.name
            );
            warnings.push(super::warning(WarningCode::Placeholder, at, message));
        }
        keep
    });
    for name in undeclared.into_iter().rev() {
        let message =
            format!("`{{{name}}}` of the path is not declared as a parameter: it is taken for a text.");
        warnings.push(super::warning(WarningCode::Placeholder, at, message));
        drafts.insert(0, undeclared_draft(name));
    }
    let mut kept = Drafts::default();
    for mut draft in drafts {
        if is_path(&draft) && template.greedy.contains(&draft.parameter.name) {
            draft.parameter.allow_reserved = true;
        }
        kept.put(draft);
    }
    gathered.drafts = kept;
}

/// A path parameter whose placeholder stands in the path's query is a query parameter.
fn to_query(drafts: &mut Vec<ParameterDraft>, name: &str, placeholder: &str) {
    let known = drafts.iter_mut().find(|d| {
        let p = &d.parameter;
        (p.location == Location::Path && p.name == placeholder)
            || (p.location == Location::Query && p.name == name)
    });
    if let Some(draft) = known {
        name.clone_into(&mut draft.parameter.name);
        draft.parameter.location = Location::Query;
        draft.parameter.style = Style::Form;
    } else {
        let mut draft = undeclared_draft(name.to_owned());
        draft.parameter.location = Location::Query;
        draft.parameter.style = Style::Form;
        drafts.push(draft);
    }
}

fn undeclared_draft(name: String) -> ParameterDraft {
    ParameterDraft {
        parameter: Parameter {
            arg: String::new(),
            name,
            location: Location::Path,
            required: true,
            style: Style::Simple,
            explode: false,
            allow_reserved: false,
            content: None,
        },
        schema: json!({"type": "string"}),
    }
}
