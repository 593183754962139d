//! Schemas of a document, converted to JSON Schema 2020-12.
//!
//! Every target of a `$ref` is converted once and kept; an operation then picks up what it needs, with what is
//! used once or is small written in place and the rest under `$defs`. Until that is decided a reference is
//! written as a number: `{"$ref": 7}` is the seventh shared part.

mod bundle;
mod combine;
mod convert;
mod flatten;
mod keywords;
mod types;

pub(super) use bundle::Bundle;
pub(super) use flatten::{has_bare_discriminator, raw_properties};
pub(super) use keywords::file_schema;

use super::doc::{At, Doc, RefProblem};
use crate::{
    compile::names::UniqueNames,
    report::{Reason, ReasonCode, WarningCode, Warnings},
};
use serde_json::{Map, Value};
use std::{collections::HashMap, rc::Rc};

/// How many schema nodes of a document are converted.
const MAX_NODES: usize = 1_500_000;
/// How deep a schema may nest between references.
const MAX_DEPTH: usize = 40;

/// Which side of the wire a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// What is sent: without `readOnly`.
    Request,
    /// What comes back: without `writeOnly`.
    Response,
}

/// The schemas of a document.
pub(super) struct Schemas<'d> {
    doc: &'d Doc,
    ids: HashMap<(String, Mode), usize>,
    parts: Vec<Part<'d>>,
    names: HashMap<String, String>,
    taken: UniqueNames,
    patterns: HashMap<String, bool>,
    nodes: usize,
    /// What is to say of shared parts.
    pub(super) notes: Warnings,
}

/// A target of references.
struct Part<'d> {
    name: String,
    pointer: String,
    source: &'d Value,
    mode: Mode,
    definition: Option<Rc<Definition>>,
}

/// A converted shared part.
struct Definition {
    value: Value,
    /// Which parts it refers to, once for each time.
    refs: Vec<usize>,
    bytes: usize,
    /// Its size without what describes.
    bare_bytes: usize,
    /// How many levels of JSON it has.
    height: usize,
    failure: Option<Reason>,
}

/// A conversion at work.
struct Draft<'w> {
    mode: Mode,
    refs: Vec<usize>,
    failure: Option<Reason>,
    warnings: &'w mut Warnings,
}

impl Draft<'_> {
    fn fail(&mut self, reason: Reason) {
        self.failure.get_or_insert(reason);
    }

    fn warn(&mut self, code: WarningCode, at: &At<'_>, message: impl Into<String>) {
        self.warnings.add(code, *at, message);
    }
}

impl<'d> Schemas<'d> {
    pub(super) fn new(doc: &'d Doc) -> Self {
        Self {
            doc,
            ids: HashMap::new(),
            parts: Vec::new(),
            names: HashMap::new(),
            taken: UniqueNames::default(),
            patterns: HashMap::new(),
            nodes: 0,
            notes: Warnings::default(),
        }
    }

    /// Converts a schema that stands in an operation. References are numbers still: see [`Self::bundle`].
    pub(super) fn convert(
        &mut self,
        schema: &'d Value,
        at: &At<'_>,
        mode: Mode,
        warnings: &mut Warnings,
    ) -> Result<Value, Reason> {
        let mut draft = Draft { mode, refs: Vec::new(), failure: None, warnings };
        let value = self.schema(schema, at, 0, &mut draft);
        match draft.failure {
            Some(reason) => Err(reason),
            None => Ok(value),
        }
    }

    /// The number of the part that a reference leads to.
    fn part_of(&mut self, reference: &str, mode: Mode) -> Result<usize, RefProblem> {
        let target = self.doc.resolve(reference)?;
        let key = (target.pointer, mode);
        if let Some(id) = self.ids.get(&key) {
            return Ok(*id);
        }
        let id = self.parts.len();
        let name = self.name_of(&key.0);
        self.parts.push(Part { name, pointer: key.0.clone(), source: target.value, mode, definition: None });
        self.ids.insert(key, id);
        Ok(id)
    }

    /// A part, converted when it is first asked for.
    fn definition(&mut self, id: usize) -> Rc<Definition> {
        let part = &self.parts[id];
        if let Some(definition) = &part.definition {
            return Rc::clone(definition);
        }
        let (source, mode, pointer) = (part.source, part.mode, part.pointer.clone());
        let mut notes = std::mem::take(&mut self.notes);
        let mut draft = Draft { mode, refs: Vec::new(), failure: None, warnings: &mut notes };
        let value = self.schema(source, &At::pointer(&pointer), 0, &mut draft);
        let bytes = crate::compile::report_parts::json_bytes(&value);
        let definition = Rc::new(Definition {
            bytes,
            bare_bytes: bytes.saturating_sub(described_bytes(&value)),
            height: height_of(&value),
            refs: draft.refs,
            failure: draft.failure,
            value,
        });
        self.notes = notes;
        self.parts[id].definition = Some(Rc::clone(&definition));
        definition
    }

    /// A name for a part: the last token of its pointer, made legal and unique in the document.
    fn name_of(&mut self, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let last = pointer.rsplit('/').find(|t| t.chars().any(|c| c.is_ascii_alphabetic()));
        let last = last.unwrap_or("schema").replace("~1", "/").replace("~0", "~");
        let base: String = last.chars().map(|c| if is_legal(c) { c } else { '_' }).take(80).collect();
        let name = self.taken.claim(base);
        self.names.insert(pointer.to_owned(), name.clone());
        name
    }

    /// Counts a node; says whether there is room for it.
    fn spend(&mut self, at: &At<'_>, draft: &mut Draft<'_>) -> bool {
        self.nodes += 1;
        if self.nodes <= MAX_NODES {
            return true;
        }
        let message = format!("The document's schemas have more than {MAX_NODES} parts.");
        draft.fail(Reason::new(ReasonCode::DocumentTooLarge, *at, message));
        false
    }

    /// Whether a pattern is one that validators can work with.
    fn is_pattern(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.patterns.get(pattern) {
            return *known;
        }
        let usable = pattern.len() <= 2_000
            && domain::Schema::new(serde_json::json!({"type": "string", "pattern": pattern})).check().is_ok();
        self.patterns.insert(pattern.to_owned(), usable);
        usable
    }
}

/// Keywords that say something and check nothing.
fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly"
    )
}

/// Whether a member of a schema only describes. (A property of that name is an object.)
fn describes(key: &str, value: &Value) -> bool {
    matches!((key, value), ("description", Value::String(_)) | ("examples", Value::Array(_)))
}

/// About how many bytes of a schema only describe.
fn described_bytes(value: &Value) -> usize {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) if describes(key, value) => key.len() + text.len() + 6,
                Value::Array(_) if describes(key, value) => key.len() + 6,
                _ => described_bytes(value),
            })
            .sum(),
        Value::Array(list) => list.iter().map(described_bytes).sum(),
        _ => 0,
    }
}

/// Whether data of the document looks like one of our numbered references, which it must not.
fn poses_as_reference(data: &Value) -> bool {
    match data {
        Value::Object(map) => part_number(map).is_some() || map.values().any(poses_as_reference),
        Value::Array(list) => list.iter().any(poses_as_reference),
        _ => false,
    }
}

fn height_of(value: &Value) -> usize {
    let below = match value {
        Value::Object(map) => map.values().map(height_of).max(),
        Value::Array(list) => list.iter().map(height_of).max(),
        _ => return 0,
    };
    1 + below.unwrap_or(0)
}

/// The number that a reference is written as.
fn part_number(map: &Map<String, Value>) -> Option<usize> {
    usize::try_from(map.get("$ref")?.as_u64()?).ok()
}
