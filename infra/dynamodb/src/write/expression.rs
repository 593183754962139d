//! A put as an update expression, so that the version counts on in the same request.

use crate::record::{self, Attributes, Content, int, string};
use domain::ports::Condition;
use std::collections::HashMap;

/// What an update says.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) update: String,
    pub(crate) condition: Option<String>,
    pub(crate) values: Attributes,
}

/// `ttl` is a word of DynamoDB's own and goes by this name.
pub(crate) fn names() -> HashMap<String, String> {
    HashMap::from([("#ttl".to_owned(), "ttl".to_owned())])
}

/// The expression of a put.
pub(crate) fn put(
    content: &Content,
    expires: Option<i64>,
    condition: Condition,
    id: &str,
    now: i64,
) -> Expression {
    let mut values = HashMap::from([(":w".to_owned(), string(id)), (":one".to_owned(), int(1))]);
    // What is absent may still be there, expired: it begins anew.
    let version = if condition == Condition::Absent {
        "v = :one"
    } else {
        values.insert(":zero".to_owned(), int(0));
        "v = if_not_exists(v, :zero) + :one"
    };
    let mut update = format!("SET {version}, w = :w");
    let held = content.attributes();
    for (name, value) in held.iter().cloned().chain(expires.into_iter().flat_map(record::expiry)) {
        update.push_str(&set(name));
        values.insert(format!(":{name}"), value);
    }
    let gone = ["b", "n", "g", "p"].into_iter().filter(|name| held.iter().all(|(held, _)| held != name));
    let expiry = if expires.is_none() { &["x", "#ttl"][..] } else { &[] };
    let remove: Vec<&str> = gone.chain(expiry.iter().copied()).collect();
    update.push_str(" REMOVE ");
    update.push_str(&remove.join(", "));
    let condition = record::condition(condition, now).map(|(text, more)| {
        values.extend(more);
        text
    });
    Expression { update, condition, values }
}

fn set(name: &str) -> String {
    let mark = if name == "ttl" { "#" } else { "" };
    format!(", {mark}{name} = :{name}")
}
