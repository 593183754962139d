//! The rules of the narrow protocol.

use crate::{compile::text::kind_of, normal::Method};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{collections::HashSet, fmt};

/// How many violations are told.
const MAX_ERRORS: usize = 100;

/// Where a parameter's value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Cookie,
    RequestBody,
}

/// A parameter's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Str,
    Int,
    Float,
    Bool,
}

/// A document that keeps all rules.
pub(super) struct Narrow<'a> {
    pub(super) server: &'a str,
    pub(super) description: &'a str,
    pub(super) interfaces: Vec<Interface<'a>>,
    /// Methods that stand under paths and are not looked at: path and key.
    pub(super) dropped: Vec<(&'a str, &'a str)>,
}

/// One get or post of a path.
pub(super) struct Interface<'a> {
    pub(super) path: &'a str,
    pub(super) method: Method,
    pub(super) description: &'a str,
    pub(super) operation_id: &'a str,
    pub(super) parameters: Vec<NarrowParameter<'a>>,
}

/// One parameter.
pub(super) struct NarrowParameter<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) required: bool,
    pub(super) place: Place,
    pub(super) kind: Type,
}

/// The rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NarrowCode {
    /// The text is not JSON.
    NotJson,
    /// `server` is missing, empty or no text.
    Server,
    /// `description` is missing, empty or no text.
    Description,
    /// `paths` is missing, empty or no object.
    Paths,
    /// What stands under a path, or under its method, is no object.
    NotAnObject,
    /// An operation's `description` is no text.
    OperationDescription,
    /// An operation's `operationId` is no text.
    OperationId,
    /// An operation's `parameters` is no list.
    Parameters,
    /// Two operations have one `operationId`.
    DuplicateOperationId,
    /// A parameter is no object.
    Parameter,
    /// A parameter's `name` is no text.
    ParameterName,
    /// A parameter's `description` is no text.
    ParameterDescription,
    /// A parameter's `required` is no boolean.
    ParameterRequired,
    /// A parameter's `in` is none of five places.
    ParameterIn,
    /// A parameter's `type` is none of four types.
    ParameterType,
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NarrowError {
    /// The stable code.
    pub code: NarrowCode,
    /// JSON pointer to the place.
    pub pointer: String,
    /// The interface, as in `GET /weather`, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// A sentence.
    pub message: String,
}

/// All broken rules of a document, in the protocol's order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(transparent)]
pub struct NarrowErrors(pub Vec<NarrowError>);

impl NarrowErrors {
    /// The text is not JSON, but a narrow document has to be.
    pub(crate) fn not_json() -> Self {
        let message = "A document of the narrow protocol must be JSON. If this is an OpenAPI document, it lacks its \
                       `openapi` or `swagger` key.";
        Self(vec![NarrowError {
            code: NarrowCode::NotJson,
            pointer: String::new(),
            interface: None,
            message: message.to_owned(),
        }])
    }
}

impl fmt::Display for NarrowErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the document breaks the narrow protocol")?;
        for error in &self.0 {
            write!(f, "; {error}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NarrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.interface {
            Some(interface) => write!(f, "{interface}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Checks a document.
pub(super) fn check(root: &Map<String, Value>) -> Result<Narrow<'_>, NarrowErrors> {
    let mut checker = Checker::default();
    let server = checker.filled(root, "server", NarrowCode::Server);
    let description = checker.filled(root, "description", NarrowCode::Description);
    let mut dropped = Vec::new();
    let mut found = Vec::new();
    match root.get("paths") {
        Some(Value::Object(paths)) if !paths.is_empty() => {
            for (path, item) in paths {
                checker.path_item(path, item, &mut found, &mut dropped);
            }
        }
        other => {
            let message =
                format!("`paths` must be an object that is not empty; it is {}.", found_kind(other));
            checker.add(NarrowCode::Paths, None, "/paths", message);
        }
    }
    let mut ids = HashSet::new();
    let interfaces = found
        .into_iter()
        .filter_map(|(path, method, operation)| checker.interface(path, method, operation, &mut ids))
        .collect();
    if checker.errors.is_empty() {
        Ok(Narrow { server, description, interfaces, dropped })
    } else {
        Err(NarrowErrors(checker.errors))
    }
}

#[derive(Default)]
struct Checker {
    errors: Vec<NarrowError>,
}

type Found<'a> = (&'a str, Method, &'a Map<String, Value>);

impl Checker {
    fn add(&mut self, code: NarrowCode, interface: Option<&str>, pointer: &str, message: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(NarrowError {
                code,
                pointer: pointer.to_owned(),
                interface: interface.map(str::to_owned),
                message,
            });
        }
    }

    /// A text of the document that must not be empty.
    fn filled<'a>(&mut self, root: &'a Map<String, Value>, key: &str, code: NarrowCode) -> &'a str {
        match root.get(key) {
            Some(Value::String(text)) if !text.is_empty() => text,
            Some(Value::String(_)) => {
                self.add(code, None, &format!("/{key}"), format!("`{key}` must not be empty."));
                ""
            }
            other => {
                let message = format!("`{key}` must be a text; it is {}.", found_kind(other));
                self.add(code, None, &format!("/{key}"), message);
                ""
            }
        }
    }

    fn path_item<'a>(
        &mut self,
        path: &'a str,
        item: &'a Value,
        found: &mut Vec<Found<'a>>,
        dropped: &mut Vec<(&'a str, &'a str)>,
    ) {
        let pointer = format!("/paths/{}", escaped(path));
        let Value::Object(item) = item else {
            let message =
                format!("What stands under the path `{path}` must be an object; it is {}.", kind_of(item));
            self.add(NarrowCode::NotAnObject, None, &pointer, message);
            return;
        };
        for method in [Method::Get, Method::Post] {
            match item.get(method.key()) {
                Some(Value::Object(operation)) => found.push((path, method, operation)),
                Some(other) => {
                    let message = format!("An operation must be an object; it is {}.", kind_of(other));
                    let at = format!("{pointer}/{}", method.key());
                    self.add(NarrowCode::NotAnObject, Some(&format!("{method} {path}")), &at, message);
                }
                None => {}
            }
        }
        let is_other_method = |key: &&String| {
            Method::ALL.iter().any(|m| m.key().eq_ignore_ascii_case(key))
                && !matches!(key.as_str(), "get" | "post")
        };
        dropped.extend(item.keys().filter(is_other_method).map(|key| (path, key.as_str())));
    }

    fn interface<'a>(
        &mut self,
        path: &'a str,
        method: Method,
        operation: &'a Map<String, Value>,
        ids: &mut HashSet<&'a str>,
    ) -> Option<Interface<'a>> {
        let name = format!("{method} {path}");
        let at = format!("/paths/{}/{}", escaped(path), method.key());
        let description = self.text(operation, "description", &name, &at, NarrowCode::OperationDescription);
        let operation_id = self.text(operation, "operationId", &name, &at, NarrowCode::OperationId);
        let list = match operation.get("parameters") {
            None => &[][..],
            Some(Value::Array(list)) => list,
            Some(other) => {
                let message = format!("`parameters` must be a list or absent; it is {}.", kind_of(other));
                self.add(NarrowCode::Parameters, Some(&name), &format!("{at}/parameters"), message);
                &[]
            }
        };
        if let Some(id) = operation_id
            && !ids.insert(id)
        {
            let message = format!("`operationId` must be unique in the document; `{id}` stands there twice.");
            let at = format!("{at}/operationId");
            self.add(NarrowCode::DuplicateOperationId, Some(&name), &at, message);
        }
        let mut parameters = Vec::with_capacity(list.len());
        for (i, parameter) in list.iter().enumerate() {
            parameters.extend(self.parameter(parameter, &name, &format!("{at}/parameters/{i}")));
        }
        Some(Interface { path, method, description: description?, operation_id: operation_id?, parameters })
    }

    fn parameter<'a>(&mut self, value: &'a Value, interface: &str, at: &str) -> Option<NarrowParameter<'a>> {
        let Value::Object(map) = value else {
            let message = format!("A parameter must be an object; it is {}.", kind_of(value));
            self.add(NarrowCode::Parameter, Some(interface), at, message);
            return None;
        };
        let name = self.text(map, "name", interface, at, NarrowCode::ParameterName);
        let description = self.text(map, "description", interface, at, NarrowCode::ParameterDescription);
        let required = map.get("required").and_then(Value::as_bool);
        if required.is_none() {
            let message = format!(
                "A parameter's `required` must be true or false; it is {}.",
                found_kind(map.get("required"))
            );
            self.add(NarrowCode::ParameterRequired, Some(interface), &format!("{at}/required"), message);
        }
        let place = match map.get("in").and_then(Value::as_str) {
            Some("path") => Some(Place::Path),
            Some("query") => Some(Place::Query),
            Some("header") => Some(Place::Header),
            Some("cookie") => Some(Place::Cookie),
            Some("request_body") => Some(Place::RequestBody),
            _ => {
                let message =
                    "A parameter's `in` must be path, query, header, cookie or request_body.".to_owned();
                self.add(NarrowCode::ParameterIn, Some(interface), &format!("{at}/in"), message);
                None
            }
        };
        let kind = match map.get("type").and_then(Value::as_str) {
            Some("str") => Some(Type::Str),
            Some("int") => Some(Type::Int),
            Some("float") => Some(Type::Float),
            Some("bool") => Some(Type::Bool),
            _ => {
                let message = "A parameter's `type` must be str, int, float or bool.".to_owned();
                self.add(NarrowCode::ParameterType, Some(interface), &format!("{at}/type"), message);
                None
            }
        };
        Some(NarrowParameter {
            name: name?,
            description: description?,
            required: required?,
            place: place?,
            kind: kind?,
        })
    }

    /// A text that may be empty but must be there.
    fn text<'a>(
        &mut self,
        map: &'a Map<String, Value>,
        key: &str,
        interface: &str,
        at: &str,
        code: NarrowCode,
    ) -> Option<&'a str> {
        let found = map.get(key);
        if let Some(Value::String(text)) = found {
            return Some(text);
        }
        let whose = if at.contains("/parameters/") { "A parameter's" } else { "The operation's" };
        let message = format!("{whose} `{key}` must be a text; it is {}.", found_kind(found));
        self.add(code, Some(interface), &format!("{at}/{key}"), message);
        None
    }
}

fn found_kind(found: Option<&Value>) -> &'static str {
    found.map_or("missing", kind_of)
}

/// A key as a token of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
