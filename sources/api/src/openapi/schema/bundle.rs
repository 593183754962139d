//! From members with numbered references to a schema that is complete in itself.
//!
//! A shared part is written in place where it is used once or is small, and under `$defs` where it is used
//! more often or leads back to itself. When the schema would grow past its limit, shared parts first lose what
//! they say and keep what they check; if that is not enough, the parts farthest from the arguments are cut to
//! "any value of this type". The report says so.

use super::{Definition, Part, Schemas, describes, is_annotation, part_number};
use crate::report::{Reason, ReasonCode};
use serde_json::{Map, Value};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    rc::Rc,
};

/// Up to how many bytes a part is written in place each time it is used.
const SMALL: usize = 160;
/// How deep, in levels of JSON, parts may be written into each other.
const MAX_JSON_DEPTH: usize = 90;
/// How many shared parts one schema may have.
const MAX_PARTS: usize = 2_000;

/// A schema that is complete in itself, in pieces.
#[derive(Debug)]
pub(in crate::openapi) struct Bundle {
    pub(in crate::openapi) members: Map<String, Value>,
    pub(in crate::openapi) defs: Map<String, Value>,
    /// Whether shared parts lost their descriptions.
    pub(in crate::openapi) bare: bool,
    /// Names of parts that were cut off.
    pub(in crate::openapi) cut: Vec<String>,
    /// Whether a part leads back to itself.
    pub(in crate::openapi) recursive: bool,
}

struct Node {
    definition: Rc<Definition>,
    /// How often it is used by what is kept: in the end, the number of places it would be written at.
    uses: usize,
    recursive: bool,
    /// Its size and height with its small parts written in place.
    bytes: usize,
    height: usize,
}

impl Schemas<'_> {
    /// Bundles members whose shared parts have at most `max_bytes`; `None` where they have more.
    pub(in crate::openapi) fn bundle_whole(
        &mut self,
        members: Map<String, Value>,
        max_bytes: usize,
    ) -> Result<Option<Bundle>, Reason> {
        let roots = roots_of(&members);
        let (nodes, cut) = self.reachable(&roots, max_bytes, false)?;
        Ok(cut.is_empty().then(|| self.write(members, &roots, nodes, cut, false)))
    }

    /// Bundles members, in at most `max_bytes` of shared parts.
    pub(in crate::openapi) fn bundle(
        &mut self,
        members: Map<String, Value>,
        max_bytes: usize,
    ) -> Result<Bundle, Reason> {
        let roots = roots_of(&members);
        let mut bare = false;
        let (mut nodes, mut cut) = self.reachable(&roots, max_bytes, bare)?;
        if !cut.is_empty() {
            bare = true;
            (nodes, cut) = self.reachable(&roots, max_bytes, bare)?;
        }
        Ok(self.write(members, &roots, nodes, cut, bare))
    }

    fn write(
        &self,
        members: Map<String, Value>,
        roots: &[usize],
        nodes: HashMap<usize, Node>,
        cut: Vec<usize>,
        bare: bool,
    ) -> Bundle {
        let mut plan = Plan::make(nodes, roots);
        let mut writer = Writer {
            parts: &self.parts,
            plan: &plan.nodes,
            wanted: VecDeque::new(),
            seen: HashSet::new(),
            bare: false,
        };
        let members = members.into_iter().map(|(name, m)| (name, writer.write(&m, 2))).collect();
        writer.bare = bare;
        let mut defs = Map::new();
        while let Some(id) = writer.wanted.pop_front() {
            if let Some(node) = plan.nodes.get(&id) {
                let value = writer.write(&node.definition.value, 3);
                defs.insert(self.parts[id].name.clone(), value);
            }
        }
        let recursive = plan.nodes.drain().any(|(_, node)| node.recursive);
        let cut = cut.into_iter().map(|id| self.parts[id].name.clone()).collect();
        Bundle { members, defs, bare, cut, recursive }
    }

    /// The parts that can be reached, nearest first, and those for which there was no room.
    fn reachable(
        &mut self,
        roots: &[usize],
        max_bytes: usize,
        bare: bool,
    ) -> Result<(HashMap<usize, Node>, Vec<usize>), Reason> {
        let mut nodes: HashMap<usize, Node> = HashMap::new();
        let mut queue: VecDeque<usize> = roots.iter().copied().collect();
        let mut cut = Vec::new();
        let mut bytes = 0_usize;
        while let Some(id) = queue.pop_front() {
            if nodes.contains_key(&id) || cut.contains(&id) {
                continue;
            }
            let definition = self.definition(id);
            if let Some(reason) = &definition.failure {
                return Err(reason.clone());
            }
            let own_bytes = if bare { definition.bare_bytes } else { definition.bytes };
            if bytes + own_bytes > max_bytes || nodes.len() >= MAX_PARTS {
                cut.push(id);
                if cut.len() > MAX_PARTS {
                    let message = format!("The schema needs more than {MAX_PARTS} shared parts.");
                    return Err(Reason::new(
                        ReasonCode::SchemaTooLarge,
                        self.parts[id].pointer.as_str(),
                        message,
                    ));
                }
                continue;
            }
            bytes += own_bytes;
            queue.extend(&definition.refs);
            nodes.insert(id, Node { bytes: own_bytes, height: 0, definition, uses: 0, recursive: false });
        }
        Ok((nodes, cut))
    }
}

struct Plan {
    nodes: HashMap<usize, Node>,
}

impl Plan {
    fn make(mut nodes: HashMap<usize, Node>, roots: &[usize]) -> Self {
        let order = finish_order(&nodes, roots);
        mark_recursive(&mut nodes, &order);
        // Leaves first: what a part measures with its small parts in place.
        for id in &order {
            let Some(node) = nodes.get(id) else { continue };
            let (mut bytes, mut height) = (node.bytes, node.definition.height);
            for child in node.definition.refs.iter().filter_map(|r| nodes.get(r)) {
                if !child.recursive {
                    height = height.max(node.definition.height + child.height);
                    if child.bytes <= SMALL {
                        bytes = bytes.saturating_add(child.bytes);
                    }
                }
            }
            if let Some(node) = nodes.get_mut(id) {
                (node.bytes, node.height) = (bytes, height);
            }
        }
        // Roots first: at how many places a part would be written.
        for root in roots {
            if let Some(node) = nodes.get_mut(root) {
                node.uses += 1;
            }
        }
        for id in order.iter().rev() {
            let Some(node) = nodes.get(id) else { continue };
            let places = if node.in_place() { node.uses } else { 1 };
            for child in &Rc::clone(&node.definition).refs {
                if let Some(child) = nodes.get_mut(child) {
                    child.uses = child.uses.saturating_add(places);
                }
            }
        }
        Self { nodes }
    }
}

impl Node {
    fn in_place(&self) -> bool {
        !self.recursive && (self.uses <= 1 || self.bytes <= SMALL)
    }
}

/// The parts in the order in which a depth-first walk leaves them: what a part needs comes before it, unless
/// it needs that part in turn.
fn finish_order(nodes: &HashMap<usize, Node>, roots: &[usize]) -> Vec<usize> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut seen: HashSet<usize> = HashSet::new();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in roots {
        if nodes.contains_key(root) && seen.insert(*root) {
            stack.push((*root, 0));
        }
        while let Some((id, next)) = stack.last_mut() {
            let child = nodes.get(id).and_then(|n| n.definition.refs.get(*next));
            *next += 1;
            match child {
                Some(child) if nodes.contains_key(child) && seen.insert(*child) => stack.push((*child, 0)),
                Some(_) => {}
                None => {
                    order.push(*id);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Marks parts that lead back to themselves: those in a strongly connected component (Kosaraju).
fn mark_recursive(nodes: &mut HashMap<usize, Node>, order: &[usize]) {
    let mut backwards: HashMap<usize, Vec<usize>> = HashMap::new();
    for (id, node) in nodes.iter() {
        for child in &node.definition.refs {
            backwards.entry(*child).or_default().push(*id);
        }
    }
    let mut seen: HashSet<usize> = HashSet::new();
    for start in order.iter().rev() {
        if !seen.insert(*start) {
            continue;
        }
        let mut component = vec![*start];
        let mut at = 0;
        while let Some(id) = component.get(at).copied() {
            at += 1;
            for parent in backwards.get(&id).into_iter().flatten() {
                if seen.insert(*parent) {
                    component.push(*parent);
                }
            }
        }
        let to_itself = nodes.get(start).is_some_and(|n| n.definition.refs.contains(start));
        if component.len() > 1 || to_itself {
            for id in component {
                if let Some(node) = nodes.get_mut(&id) {
                    node.recursive = true;
                }
            }
        }
    }
}

struct Writer<'a> {
    parts: &'a [Part<'a>],
    plan: &'a HashMap<usize, Node>,
    wanted: VecDeque<usize>,
    seen: HashSet<usize>,
    /// Whether what describes is left out.
    bare: bool,
}

impl Writer<'_> {
    /// A value with its references written out, at a depth of JSON.
    fn write(&mut self, value: &Value, depth: usize) -> Value {
        match value {
            Value::Object(map) => {
                if let Some(id) = part_number(map) {
                    return self.write_reference(id, map, depth);
                }
                let bare = self.bare;
                let kept = map.iter().filter(|(key, value)| !bare || !describes(key, value));
                kept.map(|(k, v)| (k.clone(), self.write(v, depth + 1))).collect()
            }
            Value::Array(list) => list.iter().map(|v| self.write(v, depth + 1)).collect(),
            scalar => scalar.clone(),
        }
    }

    fn write_reference(&mut self, id: usize, map: &Map<String, Value>, depth: usize) -> Value {
        let beside = map.iter().filter(|(key, _)| *key != "$ref");
        let beside: Map<String, Value> = beside.map(|(k, v)| (k.clone(), self.write(v, depth + 1))).collect();
        let Some(node) = self.plan.get(&id) else {
            return self.stub(id, beside);
        };
        let fits = depth + node.height <= MAX_JSON_DEPTH;
        if node.in_place() && fits && !clashes(&node.definition.value, &beside) {
            let mut out = match self.write(&node.definition.value, depth) {
                Value::Object(out) => out,
                other => return other,
            };
            out.extend(beside);
            return Value::Object(out);
        }
        if self.seen.insert(id) {
            self.wanted.push_back(id);
        }
        let mut out = Map::with_capacity(beside.len() + 1);
        out.insert("$ref".into(), format!("#/$defs/{}", self.parts[id].name).into());
        out.extend(beside);
        Value::Object(out)
    }

    /// What stands for a part that was cut off.
    fn stub(&self, id: usize, beside: Map<String, Value>) -> Value {
        let mut out = Map::new();
        if let Some(part) = self.parts.get(id) {
            let kind = part.definition.as_ref().and_then(|d| d.value.get("type"));
            out.extend(kind.map(|kind| ("type".to_owned(), kind.clone())));
            let said = format!("A {}; its inner form is left out here.", part.name);
            out.insert("description".into(), said.into());
        }
        out.extend(beside);
        Value::Object(out)
    }
}

/// Whether what stands beside a reference would say something else in the part itself.
fn clashes(value: &Value, beside: &Map<String, Value>) -> bool {
    let own = value.as_object();
    let clashing = |key: &String| !is_annotation(key) && own.is_none_or(|own| own.contains_key(key));
    beside.keys().any(clashing)
}

fn roots_of(members: &Map<String, Value>) -> Vec<usize> {
    let mut roots = Vec::new();
    members.values().for_each(|m| references(m, &mut roots));
    roots
}

fn references(value: &Value, found: &mut Vec<usize>) {
    match value {
        Value::Object(map) => {
            found.extend(part_number(map));
            map.values().for_each(|v| references(v, found));
        }
        Value::Array(list) => list.iter().for_each(|v| references(v, found)),
        _ => {}
    }
}
