//! YAML as a tree in which every key and value knows where it was written.
//!
//! A tree rather than derived structs: derived structs stop at the first mistake, and a registry's author
//! wants to see all of them. Knows nothing of what the keys mean.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Range<usize>,
}

/// What a YAML value can be.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

impl Value {
    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

/// Why a text is not YAML.
#[derive(Debug)]
pub(crate) struct YamlError {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
}

/// Parses one document. An empty document is [`Value::Null`].
pub(crate) fn parse(text: &str) -> Result<Node, YamlError> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Node { value: Value::Null, span: 0..0 });
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let error = error.without_snippet();
        let span = error.location().map_or(0..0, |location| error_span(&location, text));
        let shown = error.to_string();
        // The place is shown by the diagnostic; the crate's own suffix would say it twice.
        let message = shown.split(" at line ").next().unwrap_or(&shown);
        // Advice to the crate's own caller, not to a registry's author.
        let message = message.split(", set ").next().unwrap_or(message);
        let message = message.lines().next().unwrap_or(message);
        YamlError { message: format!("this is not valid YAML: {message}"), span: clip(span, text) }
    })
}

fn span(location: &Location) -> Range<usize> {
    let span = location.span();
    let number = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok()).unwrap_or(0);
    let start = number(span.byte_offset());
    start..start + number(span.byte_len())
}

/// The place of a syntax error: these come with a line and a column only.
fn error_span(location: &Location, text: &str) -> Range<usize> {
    if location.span().byte_offset().is_some() {
        return span(location);
    }
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX).saturating_sub(1);
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(number(location.line())).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column =
        line.char_indices().nth(number(location.column())).map_or(line.trim_end().len(), |(at, _)| at);
    before + column..before + column
}

/// Keeps a span inside the text and on character boundaries.
fn clip(span: Range<usize>, text: &str) -> Range<usize> {
    let inside = |at: usize| {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    inside(span.start)..inside(span.end.max(span.start))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { span: span(&spanned.referenced), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    // Parameters are compared as JSON numbers; past 2^53 the compiler refuses them (see `param`).
    #[expect(clippy::cast_precision_loss, reason = "integers past 2^53 are refused where they are used")]
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "integers past 2^53 are refused where they are used")]
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let key_span = span(&key.referenced);
            map.push(Entry { key: key.value, key_span, node: entries.next_value()? });
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_their_places_also_after_wide_characters() {
        let text = "label: 时间\nitems:\n  - name: \"a\"\n    n: 3\n";
        let Value::Map(root) = parse(text).unwrap().value else { panic!("a mapping") };
        assert_eq!(&text[root[0].key_span.clone()], "label");
        assert_eq!(&text[root[0].node.span.clone()], "时间");
        let Value::List(items) = &root[1].node.value else { panic!("a list") };
        let Value::Map(item) = &items[0].value else { panic!("a mapping") };
        assert_eq!(&text[item[0].key_span.clone()], "name");
        assert_eq!(&text[item[0].node.span.clone()], "\"a\"");
        assert_eq!(&text[item[1].node.span.clone()], "3");
    }

    #[test]
    fn quoted_scalars_are_texts() {
        let Value::Map(root) = parse("a: \"1\"\nb: 1\nc: true\nd:\n").unwrap().value else {
            panic!("a mapping")
        };
        let kinds: Vec<_> = root.iter().map(|entry| entry.node.value.kind()).collect();
        assert_eq!(kinds, ["a text", "a number", "a boolean", "nothing"]);
    }

    #[test]
    fn a_key_written_twice_is_an_error_with_its_place() {
        let error = parse("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!(error.span.start, 10);
        assert!(error.message.contains("duplicate"), "{}", error.message);
    }

    #[test]
    fn comments_alone_are_nothing() {
        assert!(matches!(parse("# nothing yet\n\n").unwrap().value, Value::Null));
    }
}
