//! An item as DynamoDB holds it.
//!
//! | attribute | what |
//! |---|---|
//! | `pk`, `sk` | the key |
//! | `v` | the version |
//! | `b` | the body as JSON text, or else |
//! | `n` | the number of a counter (a body of `{"n": integer}`), or else |
//! | `g`, `p` | the group and the number of the body's parts |
//! | `x`, `ttl` | when it expires, in milliseconds, and in seconds for DynamoDB's own deletion |
//! | `w` | which write it comes from |

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{
    keys::Key,
    ports::{Condition, Item, TableError},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::HashMap;

pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text(String),
    Number(i64),
    Parts { group: String, count: usize },
}

/// A record as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) key: Key,
    pub(crate) version: u64,
    pub(crate) expires: Option<i64>,
    pub(crate) content: Content,
}

impl Record {
    /// Reads a record; `None` when it has expired.
    pub(crate) fn live(key: Key, attributes: &Attributes, now: i64) -> Result<Option<Self>, TableError> {
        let record = Self::read(key, attributes)?;
        Ok(Some(record).filter(|r| r.expires.is_none_or(|at| at > now)))
    }

    pub(crate) fn read(key: Key, attributes: &Attributes) -> Result<Self, TableError> {
        let corrupt = || TableError::Unusable(format!("the stored item {key} is not readable"));
        let version = number(attributes, "v").and_then(|v| u64::try_from(v).ok());
        let content = content(attributes).ok_or_else(corrupt)?;
        Ok(Self { version: version.ok_or_else(corrupt)?, expires: number(attributes, "x"), content, key })
    }

    /// The item, given the text of a body that is in parts.
    pub(crate) fn item(self, parts: Option<&str>) -> Result<Item, TableError> {
        let corrupt = || TableError::Unusable(format!("the stored body of {} is not readable", self.key));
        let body = match (&self.content, parts) {
            (Content::Number(n), _) => json!({"n": n}),
            (Content::Text(text), _) => serde_json::from_str(text).map_err(|_| corrupt())?,
            (Content::Parts { .. }, Some(text)) => serde_json::from_str(text).map_err(|_| corrupt())?,
            (Content::Parts { .. }, None) => return Err(corrupt()),
        };
        let expires_at = self.expires.map(Timestamp::from_millisecond).transpose();
        Ok(Item {
            version: self.version,
            expires_at: expires_at.map_err(|_| corrupt())?,
            body,
            key: self.key,
        })
    }
}

impl Content {
    /// How a body that fits into one item is held.
    pub(crate) fn inline(body: &Value, text: String) -> Self {
        match counter(body) {
            Some(n) => Self::Number(n),
            None => Self::Text(text),
        }
    }

    /// The attributes that hold it.
    pub(crate) fn attributes(&self) -> Vec<(&'static str, AttributeValue)> {
        match self {
            Self::Text(text) => vec![("b", string(text))],
            Self::Number(n) => vec![("n", int(*n))],
            Self::Parts { group, count } => vec![("g", string(group)), ("p", int(count))],
        }
    }
}

/// The group of a record's parts, if it has any.
pub(crate) fn parts_of(attributes: &Attributes) -> Option<(String, usize)> {
    match content(attributes) {
        Some(Content::Parts { group, count }) => Some((group, count)),
        _ => None,
    }
}

pub(crate) fn key_attributes(pk: &str, sk: &str) -> Attributes {
    HashMap::from([("pk".to_owned(), string(pk)), ("sk".to_owned(), string(sk))])
}

/// A condition as an expression, with the values it names. It names `pk`, `v` and `x` only.
pub(crate) fn condition(condition: Condition, now: i64) -> Option<(String, Attributes)> {
    const LIVE: &str = "(attribute_not_exists(x) OR x > :now)";
    let mut values = HashMap::from([(":now".to_owned(), int(now))]);
    let text = match condition {
        Condition::Always => return None,
        Condition::Absent => "(attribute_not_exists(pk) OR x <= :now)".to_owned(),
        Condition::Exists => format!("attribute_exists(pk) AND {LIVE}"),
        Condition::Version(version) => {
            values.insert(":version".to_owned(), int(version));
            format!("v = :version AND {LIVE}")
        }
    };
    Some((text, values))
}

/// The attributes of an expiry.
pub(crate) fn expiry(expires: i64) -> [(&'static str, AttributeValue); 2] {
    // Rounded up: DynamoDB must never delete what is not over yet.
    [("x", int(expires)), ("ttl", int(expires.div_euclid(1000) + 1))]
}

pub(crate) fn text<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    attributes.get(name)?.as_s().ok().map(String::as_str)
}

pub(crate) fn number(attributes: &Attributes, name: &str) -> Option<i64> {
    attributes.get(name)?.as_n().ok()?.parse().ok()
}

pub(crate) fn string(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub(crate) fn int(number: impl ToString + Copy) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

fn content(attributes: &Attributes) -> Option<Content> {
    if let Some(text) = text(attributes, "b") {
        return Some(Content::Text(text.to_owned()));
    }
    if attributes.contains_key("n") {
        return number(attributes, "n").map(Content::Number);
    }
    let count = number(attributes, "p").and_then(|p| usize::try_from(p).ok())?;
    let group = text(attributes, "g")?.to_owned();
    Some(Content::Parts { group, count })
}

fn counter(body: &Value) -> Option<i64> {
    let fields = body.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("n").and_then(Value::as_i64)
}
