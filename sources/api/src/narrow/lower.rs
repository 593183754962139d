//! From a checked narrow document to the normal form.

use super::check::{Interface, Narrow, NarrowParameter, Place, Type, escaped};
use crate::{
    compile::{
        Compiled, Selection,
        args::{Arguments, BodyDraft, Drafts, Fields, Naming, ParameterDraft},
        guess,
        names::{Claim, OperationNames},
        path::Template,
        policy, report_parts,
        select::Candidate,
    },
    normal::{
        Api, BodyKind, Dialect, Document, Location, Method, Operation, Parameter, Server, Style, Withheld,
    },
    report::{OperationReport, Outcome, Reason, ReasonCode, Report, Warning, WarningCode, Warnings},
};
use domain::Schema;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Lowers a document.
pub(super) fn lower(narrow: &Narrow<'_>, select: &Selection) -> Compiled {
    let api = Api {
        description: narrow.description.to_owned(),
        dialect: Dialect::Narrow,
        servers: vec![Server::new(narrow.server)],
        ..Api::default()
    };
    let mut names = OperationNames::default();
    let mut matcher = select.matcher();
    let mut operations = Vec::new();
    let mut reports = Vec::new();
    for interface in &narrow.interfaces {
        let claim = names.claim(Some(interface.operation_id), interface.method, interface.path);
        let (operation, warnings) = lower_interface(interface, claim);
        let candidate =
            Candidate { name: &operation.name, method: interface.method, path: interface.path, tags: &[] };
        let selected = matcher.takes(candidate);
        reports.push(OperationReport {
            name: operation.name.clone(),
            method: interface.method.as_str().to_owned(),
            path: interface.path.to_owned(),
            pointer: operation.pointer.clone(),
            outcome: if selected {
                let bytes = report_parts::json_bytes(operation.args_schema.value());
                let tokens = report_parts::tokens(&operation, bytes);
                Outcome::Tool { tokens }
            } else {
                Outcome::NotSelected
            },
            warnings,
        });
        if selected {
            operations.push(operation);
        }
    }
    reports.extend(narrow.dropped.iter().map(|(path, key)| dropped(path, key)));
    let mut notes = report_parts::server_notes(&api.servers);
    notes.extend(report_parts::selection_notes(&matcher));
    let report = Report {
        dialect: Dialect::Narrow,
        servers: api.servers.clone(),
        operations: reports,
        notes,
        ..Report::default()
    };
    Compiled { document: Document { api, operations }, report }
}

fn lower_interface(interface: &Interface<'_>, claim: Claim) -> (Operation, Vec<Warning>) {
    let pointer = format!("/paths/{}/{}", escaped(interface.path), interface.method.key());
    let mut warnings = Warnings::default();
    if !matches!(claim, Claim::Given(_)) {
        let at = format!("{pointer}/operationId");
        warnings.add(WarningCode::MadeUpName, at, "The operationId is not usable: a name was made up.");
    }
    let name = claim.into_name();
    let mut template = Template::parse(interface.path).unwrap_or_default();
    let has_path_parameter =
        |name: &str| interface.parameters.iter().any(|p| p.place == Place::Path && p.name == name);
    template.literal_unless(has_path_parameter);
    let (drafts, withheld) = parameters(interface, &pointer, &mut warnings);
    let arguments = Arguments::assemble(drafts, body(interface), Naming::AsWritten);
    let schema = Arguments::schema(arguments.properties, &arguments.required, Map::new());
    let operation = Operation {
        title: name.clone(),
        description: interface.description.to_owned(),
        method: interface.method,
        path: template.segments,
        path_template: interface.path.to_owned(),
        fixed_query: template.fixed_query,
        fixed_headers: Vec::new(),
        withheld,
        servers: Vec::new(),
        parameters: arguments.parameters,
        body: arguments.body,
        args_schema: Schema::new(schema),
        output_schema: None,
        accept: Vec::new(),
        security: Vec::new(),
        deprecated: false,
        tags: Vec::new(),
        annotations: guess::annotations(interface.method, &name, interface.path),
        pointer: pointer.clone(),
        name,
    };
    (operation, warnings.finish(&pointer))
}

/// Parameters outside the body. Of two with one name in one place the later wins.
fn parameters(
    interface: &Interface<'_>,
    pointer: &str,
    warnings: &mut Warnings,
) -> (Vec<ParameterDraft>, Vec<Withheld>) {
    let mut drafts = Drafts::default();
    let mut withheld = Vec::new();
    for (i, p) in interface.parameters.iter().enumerate() {
        let (location, style) = match p.place {
            Place::Path => (Location::Path, Style::Simple),
            Place::Query => (Location::Query, Style::Form),
            Place::Header => (Location::Header, Style::Simple),
            Place::Cookie => (Location::Cookie, Style::Form),
            Place::RequestBody => continue,
        };
        if policy::is_withheld(p.name, location) {
            let at = format!("{pointer}/parameters/{i}");
            warnings.push(policy::withheld_warning(p.name, location, &at));
            withheld.push(Withheld { name: p.name.to_owned(), location, required: p.required });
            continue;
        }
        let draft = ParameterDraft {
            parameter: Parameter {
                arg: String::new(),
                name: p.name.to_owned(),
                location,
                required: p.required || location == Location::Path,
                style,
                explode: style == Style::Form,
                allow_reserved: false,
                content: None,
            },
            schema: schema_of(p),
        };
        drafts.put(draft);
    }
    (drafts.into_vec(), withheld)
}

/// A JSON object of the `request_body` parameters. A post always has one, be it `{}`; a get only with fields.
fn body(interface: &Interface<'_>) -> Option<BodyDraft> {
    let of_body = || interface.parameters.iter().filter(|p| p.place == Place::RequestBody);
    if interface.method == Method::Get && of_body().next().is_none() {
        return None;
    }
    let last: IndexMap<&str, &NarrowParameter<'_>> = of_body().map(|p| (p.name, p)).collect();
    let fields = Fields {
        properties: last.iter().map(|(name, p)| ((*name).to_owned(), schema_of(p))).collect(),
        required: last.values().filter(|p| p.required).map(|p| p.name.to_owned()).collect(),
    };
    let schema = Arguments::schema(fields.properties.clone(), &fields.required, Map::new());
    Some(BodyDraft {
        required: true,
        media_type: "application/json".to_owned(),
        kind: BodyKind::Json,
        schema,
        fields: Some(fields),
    })
}

fn schema_of(parameter: &NarrowParameter<'_>) -> Value {
    let kind = match parameter.kind {
        Type::Str => "string",
        Type::Int => "integer",
        Type::Float => "number",
        Type::Bool => "boolean",
    };
    if parameter.description.is_empty() {
        json!({"type": kind})
    } else {
        json!({"type": kind, "description": parameter.description})
    }
}

fn dropped(path: &str, key: &str) -> OperationReport {
    let pointer = format!("/paths/{}/{}", escaped(path), escaped(key));
    let message = format!("The narrow protocol knows only `get` and `post`; `{key}` is left out.");
    OperationReport {
        name: String::new(),
        method: key.to_owned(),
        path: path.to_owned(),
        outcome: Outcome::Lost { reason: Reason::new(ReasonCode::Method, pointer.as_str(), message) },
        pointer,
        warnings: Vec::new(),
    }
}
