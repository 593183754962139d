//! Typed reading of a YAML tree: each wrong type, missing key and unknown key is reported where it stands,
//! and reading goes on.

use std::sync::Arc;

use super::model::Localized;
use crate::diagnostic::Problems;
use crate::names;
use crate::source::{At, Place, SourceFile};
use crate::yaml::{Entry, Node, Value};

/// A node, in its file.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) file: &'a Arc<SourceFile>,
    pub(super) node: &'a Node,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(file: &'a Arc<SourceFile>, node: &'a Node) -> Self {
        Self { file, node }
    }

    /// Where it stands. A container has no text of its own: its first key or item stands for it.
    pub(super) fn place(self) -> Place {
        let span = match &self.node.value {
            Value::Map(entries) => {
                entries.first().map_or_else(|| self.node.span.clone(), |e| e.key_span.clone())
            }
            Value::List(items) => match items.first() {
                Some(first) => Cursor::new(self.file, first).place().span,
                None => self.node.span.clone(),
            },
            _ => self.node.span.clone(),
        };
        Place { file: Arc::clone(self.file), span }
    }

    /// The items of a list; nothing at all is an empty list.
    pub(super) fn list(self, what: &str, problems: &mut Problems) -> Vec<Cursor<'a>> {
        match &self.node.value {
            Value::Null => Vec::new(),
            Value::List(items) => items.iter().map(|node| Cursor { file: self.file, node }).collect(),
            other => {
                problems.at(&self.place(), format!("{what} is {}, but a list is expected", other.kind()));
                Vec::new()
            }
        }
    }

    /// A non-empty text.
    pub(super) fn text(self, what: &str, problems: &mut Problems) -> Option<At<String>> {
        match &self.node.value {
            Value::Text(text) if text.trim().is_empty() => {
                problems.at(&self.place(), format!("{what} is empty"));
                None
            }
            Value::Text(text) => Some(At { value: text.clone(), place: self.place() }),
            other => {
                let problem =
                    problems.at(&self.place(), format!("{what} is {}, but a text is expected", other.kind()));
                if matches!(other, Value::Number(_) | Value::Bool(_)) {
                    problem.help("write it in quotes to make it a text");
                }
                None
            }
        }
    }

    /// A text that can be a Rust identifier.
    pub(super) fn name(self, what: &str, problems: &mut Problems) -> Option<At<String>> {
        let name = self.text(what, problems)?;
        match names::objection(&name.value) {
            None => Some(name),
            Some(objection) => {
                problems
                    .at(&name.place, format!("`{}` cannot be {what}: {objection}", name.value))
                    .help("use snake_case, for example `current_time`");
                None
            }
        }
    }

    pub(super) fn boolean(self, what: &str, problems: &mut Problems) -> Option<bool> {
        if let Value::Bool(value) = self.node.value {
            return Some(value);
        }
        let found = self.node.value.kind();
        problems.at(&self.place(), format!("{what} is {found}, but `true` or `false` is expected"));
        None
    }

    pub(super) fn number(self, what: &str, problems: &mut Problems) -> Option<At<f64>> {
        if let Value::Number(value) = self.node.value {
            return Some(At { value, place: self.place() });
        }
        let found = self.node.value.kind();
        problems.at(&self.place(), format!("{what} is {found}, but a number is expected"));
        None
    }

    /// A text in every language of the registry.
    pub(super) fn localized(self, what: &str, problems: &mut Problems) -> Option<Localized> {
        let fields = self.fields(what, &["en_US", "zh_Hans"], problems)?;
        let english = fields.required("en_US", problems)?.text(&format!("the English {what}"), problems);
        let chinese = fields.required("zh_Hans", problems)?.text(&format!("the Chinese {what}"), problems);
        Some(Localized { en_us: english?.value, zh_hans: chinese?.value })
    }

    /// The node as a mapping with the allowed keys only.
    pub(super) fn fields(
        self,
        what: &str,
        allowed: &'static [&'static str],
        problems: &mut Problems,
    ) -> Option<Fields<'a>> {
        let Value::Map(entries) = &self.node.value else {
            let found = self.node.value.kind();
            problems
                .at(&self.place(), format!("{what} is {found}, but a mapping is expected"))
                .help(format!("its keys are {}", names::list(allowed.iter().copied())));
            return None;
        };
        for entry in entries.iter().filter(|entry| !allowed.contains(&entry.key.as_str())) {
            let place = Place { file: Arc::clone(self.file), span: entry.key_span.clone() };
            problems
                .at(&place, format!("{what} has the unknown key `{}`", entry.key))
                .help_if(names::suggestion(&entry.key, allowed.iter().copied()))
                .help(format!("the allowed keys are {}", names::list(allowed.iter().copied())));
        }
        Some(Fields { what: what.to_owned(), owner: self, entries })
    }
}

/// A mapping whose keys were checked.
pub(super) struct Fields<'a> {
    what: String,
    owner: Cursor<'a>,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    pub(super) fn optional(&self, key: &str) -> Option<Cursor<'a>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        (!matches!(entry.node.value, Value::Null)).then(|| Cursor::new(self.owner.file, &entry.node))
    }

    pub(super) fn required(&self, key: &str, problems: &mut Problems) -> Option<Cursor<'a>> {
        if let Some(cursor) = self.optional(key) {
            return Some(cursor);
        }
        let written = self.entries.iter().find(|entry| entry.key == key);
        let (place, message) = match written {
            Some(entry) => (
                Place { file: Arc::clone(self.owner.file), span: entry.key_span.clone() },
                format!("{}: the key `{key}` has no value", self.what),
            ),
            None => (self.owner.place(), format!("{}: the key `{key}` is missing", self.what)),
        };
        problems.at(&place, message).help(format!("write `{key}:` and its value"));
        None
    }

    /// The place of a key, for complaints about the key itself.
    pub(super) fn key(&self, key: &str) -> Option<Place> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(Place { file: Arc::clone(self.owner.file), span: entry.key_span.clone() })
    }
}

/// Reports every name that was used before.
pub(super) fn unique<'a>(
    what: &str,
    names: impl IntoIterator<Item = &'a At<String>>,
    problems: &mut Problems,
) {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name.value.as_str()) {
            problems
                .at(&name.place, format!("{what} `{}` is named twice", name.value))
                .help("remove one of the two, or rename it");
        }
    }
}
