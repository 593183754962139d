//! The walk over a schema: its budget, its definitions, and what it has lost.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::keywords::{is_constraint, pointer_of, step};
use super::rules::{Anything, Rules};
use super::{Effort, Loss, json_size};

/// Most schemas visited; inlining can multiply them.
const MAX_NODES: usize = 20_000;
/// Most bytes of schemas that are copied to where they are referred to.
const MAX_COPIED: usize = 16 * 1024 * 1024;
/// Most losses that are listed.
const MAX_LOSSES: usize = 200;
/// Longest chain of references that only point on.
const MAX_CHAIN: usize = 32;

/// Where a schema stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// JSON pointer into the original.
    pub(super) path: String,
    pub(super) depth: usize,
    /// Objects around this schema.
    pub(super) objects: usize,
    /// Whether this is the top level.
    pub(super) is_root: bool,
    /// References being inlined around this schema.
    pub(super) active: Vec<String>,
}

impl Place {
    /// The place of a schema below this one.
    pub(super) fn below(&self, keys: &[&str]) -> Self {
        Self {
            path: keys.iter().fold(self.path.clone(), |path, key| step(&path, key)),
            depth: self.depth + 1,
            is_root: false,
            objects: self.objects,
            active: self.active.clone(),
        }
    }
}

/// One projection under way.
pub(super) struct Walk<'a> {
    pub(super) rules: &'static Rules,
    pub(super) effort: Effort,
    document: &'a Value,
    nodes: usize,
    losses: Vec<Loss>,
    told: HashSet<Loss>,
    names: HashMap<String, String>,
    numbers: HashMap<String, usize>,
    sizes: HashMap<String, usize>,
    copied: usize,
    waiting: VecDeque<(String, String)>,
    pub(super) properties: usize,
    pub(super) enum_values: usize,
    pub(super) text_bytes: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(document: &'a Value, rules: &'static Rules, effort: Effort) -> Self {
        Self {
            rules,
            effort,
            document,
            nodes: 0,
            losses: Vec::new(),
            told: HashSet::new(),
            names: HashMap::new(),
            numbers: HashMap::new(),
            sizes: HashMap::new(),
            copied: 0,
            waiting: VecDeque::new(),
            properties: 0,
            enum_values: 0,
            text_bytes: 0,
        }
    }

    /// Projects one schema.
    pub(super) fn node(&mut self, schema: &Value, place: &Place) -> Value {
        self.nodes += 1;
        if self.nodes > MAX_NODES || place.depth > self.effort.depth {
            return self.cut(schema, place);
        }
        match schema {
            Value::Bool(true) => self.anything(&Map::new(), place),
            Value::Object(map) if self.rules.lenient => self.lenient(map, place),
            Value::Object(map) => self.flat(map, place),
            Value::Bool(false) => {
                self.lose(&place.path, "nothing is allowed here: left open");
                self.anything(&Map::new(), place)
            }
            _ => {
                self.lose(&place.path, "this is not a schema: left open");
                self.anything(&Map::new(), place)
            }
        }
    }

    /// Says of a schema only what type it is.
    fn cut(&mut self, schema: &Value, place: &Place) -> Value {
        let Some(map) = schema.as_object() else {
            return self.anything(&Map::new(), place);
        };
        self.lose(&place.path, "too large or too deep a schema: not described any further");
        let types = self.offered_types(map);
        let scalar = |name: &&str| !matches!(*name, "object" | "array");
        let mut kept = Map::new();
        match types.as_slice() {
            [] => {}
            [one] => drop(kept.insert("type".to_owned(), json!(one))),
            many if many.iter().all(scalar) => drop(kept.insert("type".to_owned(), json!(many))),
            _ => {}
        }
        if let Some(description) = map.get("description") {
            kept.insert("description".to_owned(), description.clone());
        }
        if self.rules.lenient { self.lenient(&kept, place) } else { self.flat_single(kept, place) }
    }

    /// A schema for any value, as far as the dialect can say it, described as `schema` is.
    pub(super) fn anything(&mut self, schema: &Map<String, Value>, place: &Place) -> Value {
        let types: &[Value] = &[
            json!({"type": "string"}),
            json!({"type": "number"}),
            json!({"type": "boolean"}),
            json!({"type": "object"}),
            json!({"type": "array", "items": {"type": "string"}}),
        ];
        let mut any = match self.rules.anything {
            Anything::Empty => json!({}),
            Anything::Scalars => json!({"type": ["string", "number", "boolean", "null"]}),
            Anything::Alternatives => json!({"anyOf": types}),
            Anything::ScalarAlternatives => json!({"anyOf": &types[..3]}),
        };
        match self.rules.anything {
            Anything::Empty => {}
            Anything::Alternatives => self.lose(&place.path, "any JSON value: lists are of texts"),
            _ => self.lose(&place.path, "any JSON value: only texts, numbers and truth values"),
        }
        if let Some(any) = any.as_object_mut()
            && !self.rules.bare_any_of
        {
            self.annotate(schema, any);
        }
        any
    }

    /// Notes a loss.
    pub(super) fn lose(&mut self, path: &str, what: impl Into<String>) {
        let loss = Loss { path: path.to_owned(), what: what.into() };
        if self.losses.len() == MAX_LOSSES {
            let more = Loss { path: String::new(), what: "more is lost than is listed".to_owned() };
            if self.told.insert(more.clone()) {
                self.losses.push(more);
            }
        } else if self.losses.len() < MAX_LOSSES && self.told.insert(loss.clone()) {
            self.losses.push(loss);
        }
    }

    /// Notes that a keyword is left out, where it says something about values.
    pub(super) fn lose_keyword(&mut self, place: &Place, keyword: &str) {
        if is_constraint(keyword) {
            self.lose(&step(&place.path, keyword), format!("`{keyword}` is left out"));
        }
    }

    /// What a reference inside the document points to, and the pointer to it. References that only point
    /// on are followed; those that go round in circles, or elsewhere, point to nothing.
    pub(super) fn target(&self, reference: &str) -> Option<(String, &'a Value)> {
        let mut pointer = pointer_of(reference)?;
        let mut seen = HashSet::new();
        for _ in 0..MAX_CHAIN {
            let target = self.document.pointer(&pointer)?;
            let onward = match target.as_object() {
                Some(map) if map.len() == 1 => map.get("$ref").and_then(Value::as_str),
                _ => None,
            };
            let Some(onward) = onward else {
                return (target.is_object() || target.is_boolean()).then_some((pointer, target));
            };
            if !seen.insert(pointer.clone()) {
                return None;
            }
            pointer = pointer_of(onward)?;
        }
        None
    }

    /// The reference to write for one to `pointer`; the definition follows later.
    pub(super) fn kept_reference(&mut self, pointer: String) -> Value {
        if let Some(name) = self.names.get(&pointer) {
            return json!({"$ref": format!("#/$defs/{name}")});
        }
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let plain: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .take(48)
            .collect();
        let base = if plain.is_empty() { "root".to_owned() } else { plain };
        // A number behind a name that itself ends in a number could meet it: those names are numbered too.
        let ends_in_number = base.ends_with(|c: char| c.is_ascii_digit());
        let number = self.numbers.entry(base.clone()).or_default();
        *number += 1;
        let name = match *number {
            1 if !ends_in_number => base,
            number => format!("{base}_{number}"),
        };
        self.waiting.push_back((name.clone(), pointer.clone()));
        let reference = json!({"$ref": format!("#/$defs/{name}")});
        self.names.insert(pointer, name);
        reference
    }

    /// Projects every definition that was referred to.
    pub(super) fn definitions(&mut self) -> Map<String, Value> {
        let mut definitions = Map::new();
        while let Some((name, pointer)) = self.waiting.pop_front() {
            let Some(target) = self.document.pointer(&pointer) else {
                continue;
            };
            self.text_bytes += name.len();
            let place = Place { path: pointer, ..Place::default() };
            let projected = self.node(target, &place);
            definitions.insert(name, projected);
        }
        definitions
    }

    /// Whether a schema of the given size may be copied once more.
    pub(super) fn may_copy(&mut self, size: usize) -> bool {
        self.copied = self.copied.saturating_add(size);
        self.copied <= MAX_COPIED
    }

    /// The size of what a pointer points to.
    pub(super) fn size_of(&mut self, pointer: &str, target: &Value) -> usize {
        if let Some(size) = self.sizes.get(pointer) {
            return *size;
        }
        let size = json_size(target);
        self.sizes.insert(pointer.to_owned(), size);
        size
    }

    pub(super) fn into_losses(self) -> Vec<Loss> {
        self.losses
    }
}
