//! The document as a value, and what its `$ref`s point at. Only what is inside the document is ever followed.

use crate::{
    normal::Dialect,
    report::{Reason, ReasonCode},
};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::fmt;

/// How many references in a row are followed.
const MAX_HOPS: usize = 32;

/// A document.
pub(super) struct Doc {
    pub(super) root: Value,
    pub(super) dialect: Dialect,
}

/// What a reference points at, and where that is.
#[derive(Clone, Debug)]
pub(super) struct Target<'d> {
    pub(super) value: &'d Value,
    pub(super) pointer: String,
}

/// Why a reference points at nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RefProblem {
    code: ReasonCode,
    pub(super) message: String,
}

impl Doc {
    /// A member of the document.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.root.get(key)
    }

    /// Whether the dialect is Swagger 2.0.
    pub(super) fn is_v2(&self) -> bool {
        self.dialect == Dialect::Swagger20
    }

    /// What `value` is, once every reference it consists of is followed.
    pub(super) fn follow<'d>(&'d self, value: &'d Value, pointer: String) -> Result<Target<'d>, RefProblem> {
        let mut target = Target { value, pointer };
        for _ in 0..MAX_HOPS {
            let Some(reference) = reference_of(target.value) else {
                return Ok(target);
            };
            target = self.point(reference)?;
        }
        let reference = reference_of(value).unwrap_or_default();
        Err(RefProblem::new(ReasonCode::CircularRef, reference, "leads back to itself and nowhere else"))
    }

    /// What a reference leads to in the end.
    pub(super) fn resolve(&self, reference: &str) -> Result<Target<'_>, RefProblem> {
        let target = self.point(reference)?;
        self.follow(target.value, target.pointer)
    }

    /// What a reference points at, be it another reference.
    fn point(&self, reference: &str) -> Result<Target<'_>, RefProblem> {
        let Some(fragment) = reference.trim().strip_prefix('#') else {
            return self.point_by_name(reference);
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let dangling =
            || RefProblem::new(ReasonCode::DanglingRef, reference, "points at nothing in the document");
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return Err(dangling());
        }
        let mut target = Target { value: &self.root, pointer: String::new() };
        let mut hops = 0;
        for token in fragment.split('/').skip(1) {
            let key = token.replace("~1", "/").replace("~0", "~");
            loop {
                if let Some(next) = child(target.value, &key) {
                    target.value = next;
                    target.pointer.push('/');
                    target.pointer.push_str(token);
                    break;
                }
                // The way may lead through another reference.
                let through = reference_of(target.value).filter(|_| hops < MAX_HOPS).ok_or_else(dangling)?;
                hops += 1;
                target = self.point_at_plain(through).ok_or_else(dangling)?;
            }
        }
        Ok(target)
    }

    /// A pointer that leads through no reference.
    fn point_at_plain(&self, reference: &str) -> Option<Target<'_>> {
        let fragment = reference.trim().strip_prefix('#')?;
        let pointer = percent_decode_str(fragment).decode_utf8_lossy().into_owned();
        let value = self.root.pointer(&pointer)?;
        Some(Target { value, pointer })
    }

    /// A bare name, as Swagger 1 had them and some documents still do; else it is another document.
    fn point_by_name(&self, reference: &str) -> Result<Target<'_>, RefProblem> {
        let is_name =
            !reference.is_empty() && reference.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        for place in ["/definitions", "/components/schemas"] {
            let found = self.root.pointer(place).and_then(|schemas| schemas.get(reference));
            if let Some(value) = found.filter(|_| is_name) {
                let pointer = format!("{place}/{reference}");
                return Ok(Target { value, pointer });
            }
        }
        Err(RefProblem::new(
            ReasonCode::ExternalRef,
            reference,
            "points outside the document, which is never followed: put what it names into the document",
        ))
    }
}

impl RefProblem {
    fn new(code: ReasonCode, reference: &str, what: &str) -> Self {
        let reference = crate::compile::text::trimmed(reference, 200);
        Self { code, message: format!("The reference `{reference}` {what}.") }
    }

    /// As the reason for a loss, at the place of the reference.
    pub(super) fn into_reason(self, at: impl Into<String>) -> Reason {
        Reason::new(self.code, at, self.message)
    }
}

/// The reference that a value is.
pub(super) fn reference_of(value: &Value) -> Option<&str> {
    value.as_object()?.get("$ref")?.as_str()
}

fn child<'d>(value: &'d Value, key: &str) -> Option<&'d Value> {
    match value {
        Value::Object(map) => map.get(key),
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// An empty object, where there is none.
pub(super) fn object_or_empty(value: Option<&Value>) -> &Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// A place in the document, written out only when it is needed.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    parent: Option<&'a At<'a>>,
    key: Key<'a>,
}

#[derive(Clone, Copy)]
enum Key<'a> {
    Pointer(&'a str),
    Name(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// A place known by its pointer.
    pub(super) const fn pointer(pointer: &'a str) -> Self {
        Self { parent: None, key: Key::Pointer(pointer) }
    }

    /// A member below.
    pub(super) const fn name(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), key: Key::Name(name) }
    }

    /// An item below.
    pub(super) const fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), key: Key::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.key {
            Key::Pointer(pointer) => f.write_str(pointer),
            Key::Name(name) => write!(f, "/{}", escaped(name)),
            Key::Index(index) => write!(f, "/{index}"),
        }
    }
}

impl From<At<'_>> for String {
    fn from(at: At<'_>) -> Self {
        at.to_string()
    }
}

/// A key as a token of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn doc() -> Doc {
        let root = json!({
            "definitions": {"Pet": {"type": "object"}, "Alias": {"$ref": "#/definitions/Pet"}},
            "components": {"schemas": {
                "A/b c": {"properties": {"x": {"type": "string"}}},
                "Through": {"$ref": "#/components/schemas/A~1b%20c"},
                "Loop": {"$ref": "#/components/schemas/Loop2"},
                "Loop2": {"$ref": "#/components/schemas/Loop"},
                "Own": {"$ref": "#/components/schemas/Own/properties/x"}
            }},
            "paths": {"/p": {"get": {"parameters": [{"name": "q"}]}}}
        });
        Doc { root, dialect: Dialect::OpenApi30 }
    }

    #[test]
    fn references_lead_anywhere_in_the_document() {
        let doc = doc();
        let table = [
            ("#/definitions/Alias", "/definitions/Pet"),
            ("#/components/schemas/A~1b%20c", "/components/schemas/A~1b c"),
            ("#/paths/~1p/get/parameters/0", "/paths/~1p/get/parameters/0"),
            ("#/components/schemas/Through/properties/x", "/components/schemas/A~1b c/properties/x"),
            ("Pet", "/definitions/Pet"),
            ("#", ""),
        ];
        for (reference, pointer) in table {
            assert_eq!(doc.resolve(reference).unwrap().pointer, pointer, "{reference}");
        }
    }

    #[test]
    fn what_leads_nowhere_says_how() {
        let doc = doc();
        let table = [
            ("#/definitions/Dog", ReasonCode::DanglingRef),
            ("#Pet", ReasonCode::DanglingRef),
            ("#/paths/~1p/get/parameters/7", ReasonCode::DanglingRef),
            ("#/components/schemas/Loop", ReasonCode::CircularRef),
            ("#/components/schemas/Own", ReasonCode::DanglingRef),
            ("other.yaml#/Pet", ReasonCode::ExternalRef),
            ("https://example.com/pet.json", ReasonCode::ExternalRef),
        ];
        for (reference, code) in table {
            assert_eq!(doc.resolve(reference).unwrap_err().code, code, "{reference}");
        }
    }
}
