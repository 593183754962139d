//! Parameter styles: how a value becomes text in a path, a query, a header or a cookie.
//!
//! The rules are OpenAPI's style table, which is RFC 6570's expansions. A value inside an array or object that
//! no style can write is written as JSON. `null`s are left out, as RFC 6570 leaves out what is undefined.

use super::percent::Escape;
use crate::normal::Style;
use serde_json::{Number, Value};

/// Pairs of a query or a form, both sides escaped.
pub(crate) type Pairs = Vec<(String, String)>;

/// How one value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Styled<'a> {
    /// The style.
    pub(crate) style: Style,
    /// Whether each item or member is written on its own.
    pub(crate) explode: bool,
    /// The name on the wire.
    pub(crate) name: &'a str,
    /// How texts are escaped.
    pub(crate) escape: Escape,
}

impl Styled<'_> {
    /// The value as one text, for a path or a header: in `simple`, `label` or `matrix`.
    pub(crate) fn joined(&self, value: &Value) -> Option<String> {
        let flat = Flat::of(value, self.escape)?;
        Some(match self.style {
            Style::Label => self.label(flat),
            Style::Matrix => self.matrix(flat),
            _ => match flat {
                Flat::Scalar(text) => text,
                Flat::List(items) => items.join(","),
                Flat::Members(members) => join_members(&members, if self.explode { "=" } else { "," }, ","),
            },
        })
    }

    /// The value as pairs, for a query, a form or cookies.
    pub(crate) fn pairs(&self, value: &Value) -> Pairs {
        let name = Escape::Component.apply(self.name).into_owned();
        if self.style == Style::DeepObject {
            let mut pairs = Vec::new();
            self.deep(name, value, &mut pairs);
            return pairs;
        }
        let separator = match self.style {
            Style::SpaceDelimited => "%20",
            Style::PipeDelimited => "%7C",
            Style::TabDelimited => "%09",
            _ => ",",
        };
        match Flat::of(value, self.escape) {
            None => Vec::new(),
            Some(Flat::Scalar(text)) => vec![(name, text)],
            Some(Flat::List(items)) if self.explode => {
                items.into_iter().map(|item| (name.clone(), item)).collect()
            }
            Some(Flat::List(items)) => vec![(name, items.join(separator))],
            Some(Flat::Members(members)) if self.explode => members,
            Some(Flat::Members(members)) => vec![(name, join_members(&members, separator, separator))],
        }
    }

    fn label(&self, flat: Flat) -> String {
        let between = if self.explode { "." } else { "," };
        match flat {
            Flat::Scalar(text) => format!(".{text}"),
            Flat::List(items) => format!(".{}", items.join(between)),
            Flat::Members(members) => {
                let inside = if self.explode { "=" } else { "," };
                format!(".{}", join_members(&members, inside, between))
            }
        }
    }

    fn matrix(&self, flat: Flat) -> String {
        let name = Escape::Component.apply(self.name);
        let one = |text: &str| {
            if text.is_empty() { format!(";{name}") } else { format!(";{name}={text}") }
        };
        match flat {
            Flat::Scalar(text) => one(&text),
            Flat::List(items) if self.explode => items.iter().map(|item| one(item)).collect(),
            Flat::List(items) => one(&items.join(",")),
            Flat::Members(members) if self.explode => format!(";{}", join_members(&members, "=", ";")),
            Flat::Members(members) => one(&join_members(&members, ",", ",")),
        }
    }

    fn deep(&self, key: String, value: &Value, pairs: &mut Pairs) {
        match value {
            Value::Null => {}
            Value::Object(members) => {
                for (name, member) in members {
                    self.deep(format!("{key}%5B{}%5D", Escape::Component.apply(name)), member, pairs);
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.deep(format!("{key}%5B{i}%5D"), item, pairs);
                }
            }
            scalar => pairs.push((key, self.escape.apply(&text_of(scalar)).into_owned())),
        }
    }
}

/// A scalar as JSON writes it, a text without quotes; anything else as JSON.
///
/// A whole number is written without a fraction: what asks for an integer would not read `5.0`.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        other => other.to_string(),
    }
}

/// Below this, every whole `f64` is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(x) if number.is_f64() && x.fract() == 0.0 && x.abs() < EXACT => format!("{x:.0}"),
        _ => number.to_string(),
    }
}

/// What styles know of a value, escaped.
enum Flat {
    Scalar(String),
    List(Vec<String>),
    Members(Pairs),
}

impl Flat {
    /// None where there is nothing to write: `null`, and arrays and objects with nothing in them.
    fn of(value: &Value, escape: Escape) -> Option<Self> {
        let text = |value: &Value| escape.apply(&text_of(value)).into_owned();
        match value {
            Value::Null => None,
            Value::Array(items) => {
                let items: Vec<_> = items.iter().filter(|i| !i.is_null()).map(text).collect();
                (!items.is_empty()).then_some(Self::List(items))
            }
            Value::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .filter(|(_, member)| !member.is_null())
                    .map(|(name, member)| (escape.apply(name).into_owned(), text(member)))
                    .collect();
                (!members.is_empty()).then_some(Self::Members(members))
            }
            scalar => Some(Self::Scalar(text(scalar))),
        }
    }
}

fn join_members(members: &[(String, String)], inside: &str, between: &str) -> String {
    members.iter().map(|(name, value)| format!("{name}{inside}{value}")).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
#[path = "style_tests.rs"]
mod tests;
