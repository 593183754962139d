//! Real API documents: OpenAPI 3.0 and 3.1 and Swagger 2.0, compiled to the normal form.
//!
//! The document is walked as a JSON value, never read into types of its own: whatever is wrong at one place
//! costs at most the operation it belongs to. Dialects are told apart where they differ and nowhere else.
//! Neighbours: [`crate::compile`] reads the text and calls in here; [`crate::normal`] and [`crate::report`] are
//! what comes out. No reference that leaves the document is ever followed.

mod body;
mod doc;
mod form;
mod operation;
mod parameters;
mod responses;
mod review;
mod schema;
mod security;
mod servers;

use crate::{
    compile::{
        Compiled, Selection,
        names::OperationNames,
        report_parts,
        select::{Candidate, Matcher},
        text::{MAX_OPERATION_TEXT, MAX_TITLE, description, kind_of, plain, trimmed},
    },
    normal::{Api, Dialect, Document, Method},
    report::{OperationReport, Outcome, Reason, ReasonCode, Report, Warning, WarningCode, Warnings},
};
use doc::{At, Doc, Target, escaped, object_or_empty, reference_of};
use operation::{Compiler, Place};
use serde_json::{Map, Value};

/// How many operations of a document are looked at.
const MAX_OPERATIONS: usize = 10_000;

/// Compiles a document whose dialect is known.
pub(crate) fn compile(root: Value, dialect: Dialect, select: &Selection) -> Compiled {
    let doc = Doc { root, dialect };
    let mut notes = Warnings::default();
    let api = api(&doc, &mut notes);
    let mut walk = Walk {
        doc: &doc,
        compiler: Compiler::new(&doc, &api),
        names: OperationNames::default(),
        matcher: select.matcher(),
        operations: Vec::new(),
        reports: Vec::new(),
    };
    walk.paths(&mut notes);
    let Walk { compiler, matcher, operations, reports, .. } = walk;
    notes.extend(compiler.into_notes());
    notes.extend(report_parts::selection_notes(&matcher));
    let needs_server = operations.iter().any(|o| o.servers.is_empty()) || operations.is_empty();
    if needs_server {
        notes.extend(report_parts::server_notes(&api.servers));
    }
    let report = Report {
        title: api.title.clone(),
        version: api.version.clone(),
        dialect,
        servers: api.servers.clone(),
        operations: reports,
        notes: notes.finish(""),
        ..Report::default()
    };
    Compiled { document: Document { api, operations }, report }
}

fn api(doc: &Doc, notes: &mut Warnings) -> Api {
    let info = object_or_empty(doc.get("info"));
    let text = |key| info.get(key).filter(|v| v.is_string() || v.is_number()).map(plain).unwrap_or_default();
    Api {
        title: trimmed(&text("title"), MAX_TITLE),
        description: description(&text("description"), MAX_OPERATION_TEXT),
        version: trimmed(&text("version"), MAX_TITLE),
        dialect: doc.dialect,
        servers: servers::of_document(doc),
        security_schemes: security::schemes(doc, notes),
    }
}

/// The way through a document's paths.
struct Walk<'d> {
    doc: &'d Doc,
    compiler: Compiler<'d>,
    names: OperationNames,
    matcher: Matcher<'d>,
    operations: Vec<crate::normal::Operation>,
    reports: Vec<OperationReport>,
}

impl<'d> Walk<'d> {
    fn paths(&mut self, notes: &mut Warnings) {
        let doc = self.doc;
        let paths = match doc.get("paths") {
            Some(Value::Object(paths)) => paths,
            None | Some(Value::Null) => {
                notes.add(
                    WarningCode::Repaired,
                    "/paths",
                    "The document has no paths, so there is nothing to call.",
                );
                return;
            }
            Some(other) => {
                let message = format!("`paths` is {}, so there is nothing to call.", kind_of(other));
                notes.add(WarningCode::Repaired, "/paths", message);
                return;
            }
        };
        for (path, item) in paths {
            if path.starts_with("x-") || item.is_null() {
                continue;
            }
            if self.reports.len() >= MAX_OPERATIONS {
                let pointer = format!("/paths/{}", escaped(path));
                let message = format!(
                    "A document may have at most {MAX_OPERATIONS} operations: this and what follows is not read."
                );
                let reason = Reason::new(ReasonCode::DocumentTooLarge, pointer.as_str(), message);
                return self.whole_path_lost(path, &pointer, reason);
            }
            self.path(path, item);
        }
    }

    fn path(&mut self, path: &'d str, item: &'d Value) {
        let pointer = format!("/paths/{}", escaped(path));
        let target = match self.doc.follow(item, pointer.clone()) {
            Ok(target) => target,
            Err(problem) => {
                let reason = problem.into_reason(format!("{pointer}/$ref"));
                return self.whole_path_lost(path, &pointer, reason);
            }
        };
        let Value::Object(map) = target.value else {
            let message = format!("What stands under a path is {}, not an object.", kind_of(target.value));
            let reason = Reason::new(ReasonCode::Malformed, pointer.as_str(), message);
            return self.whole_path_lost(path, &pointer, reason);
        };
        // What stands beside a path's `$ref` counts too.
        let beside = item.as_object().filter(|_| reference_of(item).is_some());
        for method in Method::ALL {
            let own = beside.and_then(|b| Some((b.get(method.key())?, pointer.as_str())));
            let found = own.or_else(|| Some((map.get(method.key())?, target.pointer.as_str())));
            if let Some((value, at)) = found {
                let at = format!("{at}/{}", method.key());
                self.operation(path, map, &target.pointer, method, Target { value, pointer: at });
            }
        }
    }

    fn operation(
        &mut self,
        path: &'d str,
        item: &'d Map<String, Value>,
        item_pointer: &str,
        method: Method,
        found: Target<'d>,
    ) {
        let pointer = found.pointer.clone();
        let followed = self.doc.follow(found.value, found.pointer);
        let id = followed.as_ref().ok().and_then(|t| t.value.get("operationId")).and_then(Value::as_str);
        let claim = self.names.claim(id, method, path);
        let mut warnings = Warnings::default();
        operation::warn_of_name(&claim, &pointer, &mut warnings);
        let name = claim.into_name();
        let operation = followed.map_err(|p| p.into_reason(format!("{pointer}/$ref"))).and_then(|target| {
            let place = Place { path, item, item_pointer, method, name: &name };
            let tags = operation::tags(target.value);
            let candidate = Candidate { name: &name, method, path, tags: &tags };
            if !self.matcher.takes(candidate) {
                return Ok(None);
            }
            self.compiler.compile(&place, &target, tags, &mut warnings).map(Some)
        });
        let outcome = match operation {
            Ok(Some((operation, tokens))) => {
                warnings.extend(review::of_tokens(tokens, &pointer));
                self.operations.push(operation);
                Outcome::Tool { tokens }
            }
            Ok(None) => Outcome::NotSelected,
            Err(reason) => Outcome::Lost { reason },
        };
        let warnings = match outcome {
            Outcome::NotSelected => Vec::new(),
            _ => warnings.finish(&pointer),
        };
        self.reports.push(OperationReport {
            name,
            method: method.as_str().to_owned(),
            path: path.to_owned(),
            pointer,
            outcome,
            warnings,
        });
    }

    fn whole_path_lost(&mut self, path: &str, pointer: &str, reason: Reason) {
        self.reports.push(OperationReport {
            name: String::new(),
            method: "*".to_owned(),
            path: path.to_owned(),
            pointer: pointer.to_owned(),
            outcome: Outcome::Lost { reason },
            warnings: Vec::new(),
        });
    }
}

/// A loss at a place.
fn lost(code: ReasonCode, at: &At<'_>, message: impl Into<String>) -> Reason {
    Reason::new(code, *at, message)
}

/// A warning at a place.
fn warning(code: WarningCode, at: &At<'_>, message: impl Into<String>) -> Warning {
    Warning::new(code, *at, message)
}
