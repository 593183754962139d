//! What every adapter of [`Table`](super::Table) refuses and how it reads a query, kept in one place so that
//! all stores agree to the byte.
//!
//! Used by the adapters alone. It knows the port's rules, never a store's.

use super::{Condition, Order, Query, Range, TableError, Write};
use crate::keys::Key;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use std::{collections::HashSet, ops::Bound};

/// The longest partition key, in bytes.
pub const MAX_PK_BYTES: usize = 2048;
/// The longest sort key, in bytes.
pub const MAX_SK_BYTES: usize = 1024;
/// The largest body, in bytes of JSON text.
pub const MAX_BODY_BYTES: usize = 8 << 20;
/// How deep a body may nest.
pub const MAX_BODY_DEPTH: usize = 100;
/// The most writes of one transaction.
pub const MAX_TRANSACTION: usize = 100;
/// The most items of one page.
pub const MAX_LIMIT: usize = 1000;
/// Sort keys that begin with this character belong to the adapters.
pub const RESERVED: char = char::MAX;

/// Refuses a key that a store cannot hold.
pub fn check_key(key: &Key) -> Result<(), TableError> {
    if key.pk().is_empty() || key.pk().len() > MAX_PK_BYTES {
        return invalid(format!(
            "a partition key has 1 to {MAX_PK_BYTES} bytes, `{}` has {}",
            head(key.pk()),
            key.pk().len()
        ));
    }
    if key.sk().is_empty() || key.sk().len() > MAX_SK_BYTES {
        return invalid(format!(
            "a sort key has 1 to {MAX_SK_BYTES} bytes, `{}` has {}",
            head(key.sk()),
            key.sk().len()
        ));
    }
    if key.sk().starts_with(RESERVED) {
        return invalid("a sort key may not begin with U+10FFFF".to_owned());
    }
    Ok(())
}

/// The text of a body, refusing what is no object, too large, or too deep to be read again.
pub fn encode_body(key: &Key, body: &Value) -> Result<String, TableError> {
    if !body.is_object() {
        return invalid(format!("the body of {key} is not a JSON object"));
    }
    if !is_shallow(body, MAX_BODY_DEPTH) {
        return invalid(format!("the body of {key} nests deeper than {MAX_BODY_DEPTH} levels"));
    }
    let text = body.to_string();
    if text.len() > MAX_BODY_BYTES {
        return invalid(format!(
            "the body of {key} has {} bytes, at most {MAX_BODY_BYTES} are stored",
            text.len()
        ));
    }
    Ok(text)
}

/// Refuses a transaction that is too long or writes a key twice.
pub fn check_transaction(writes: &[Write]) -> Result<(), TableError> {
    if writes.len() > MAX_TRANSACTION {
        return invalid(format!(
            "a transaction has at most {MAX_TRANSACTION} writes, this one has {}",
            writes.len()
        ));
    }
    let mut seen = HashSet::new();
    match writes.iter().find(|w| !seen.insert(w.key())) {
        Some(twice) => invalid(format!("the transaction writes {} twice", twice.key())),
        None => Ok(()),
    }
}

/// Refuses writes that carry a condition, and checks, where only unconditional ones are taken.
pub fn check_unconditional(writes: &[Write]) -> Result<(), TableError> {
    let conditional = |write: &&Write| match write {
        Write::Put { condition, .. } | Write::Delete { condition, .. } => *condition != Condition::Always,
        Write::Check { .. } => true,
    };
    match writes.iter().find(conditional) {
        Some(write) => invalid(format!(
            "write_many takes no conditions, but {} has one: use write or transact",
            write.key()
        )),
        None => Ok(()),
    }
}

/// The sort keys that a query may still give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// From where.
    pub lower: Bound<String>,
    /// To where.
    pub upper: Bound<String>,
    /// The sort key after which the page begins.
    pub after: Option<String>,
}

/// Reads a query: its limit, range and cursor. `None` when nothing can match.
pub fn span(query: &Query) -> Result<Option<Span>, TableError> {
    if query.limit == 0 || query.limit > MAX_LIMIT {
        return invalid(format!("a page has 1 to {MAX_LIMIT} items, {} were asked for", query.limit));
    }
    let (lower, upper) = match &query.range {
        Range::All => (Bound::Unbounded, reserved()),
        Range::Prefix(prefix) => {
            (Bound::Included(prefix.clone()), successor(prefix).map_or_else(reserved, Bound::Excluded))
        }
        Range::Between(from, to) => (Bound::Included(from.clone()), Bound::Included(to.clone())),
    };
    let after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let mut span = Span { lower, upper, after };
    if let Some(after) = span.after.clone() {
        if !span.contains(&after) {
            return invalid("the cursor belongs to another query".to_owned());
        }
        match query.order {
            Order::Ascending => span.lower = Bound::Excluded(after),
            Order::Descending => span.upper = Bound::Excluded(after),
        }
    }
    Ok((!span.is_empty()).then_some(span))
}

impl Span {
    /// Whether a sort key is in the span.
    pub fn contains(&self, sk: &str) -> bool {
        let above = match &self.lower {
            Bound::Included(lower) => sk >= lower.as_str(),
            Bound::Excluded(lower) => sk > lower.as_str(),
            Bound::Unbounded => true,
        };
        let below = match &self.upper {
            Bound::Included(upper) => sk <= upper.as_str(),
            Bound::Excluded(upper) => sk < upper.as_str(),
            Bound::Unbounded => true,
        };
        above && below
    }

    fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Included(a), Bound::Included(b)) => a > b,
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a >= b,
            _ => false,
        }
    }
}

/// The cursor that goes on after a sort key.
pub fn cursor_after(sk: &str) -> String {
    URL_SAFE_NO_PAD.encode(sk)
}

fn read_cursor(cursor: &str) -> Result<String, TableError> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    let sk = bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .filter(|sk| !sk.is_empty() && sk.len() <= MAX_SK_BYTES);
    sk.ok_or_else(|| TableError::Invalid("the cursor is not one that a page gave".to_owned()))
}

/// The smallest text above all that begin with `prefix`. UTF-8 sorts bytewise as its code points do.
fn successor(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            other => char::from_u32(u32::from(other) + 1),
        };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

fn reserved() -> Bound<String> {
    Bound::Excluded(RESERVED.to_string())
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|v| is_shallow(v, levels - 1)),
        Value::Object(fields) => levels > 0 && fields.values().all(|v| is_shallow(v, levels - 1)),
        _ => true,
    }
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}

fn invalid<T>(message: String) -> Result<T, TableError> {
    Err(TableError::Invalid(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccountId, keys::Kind};
    use proptest::prelude::*;

    fn query(range: Range) -> Query {
        let partition = Kind::App.of(&AccountId::generate());
        Query { range, ..Query::prefix(partition, "") }
    }

    proptest! {
        #[test]
        fn a_prefix_span_holds_exactly_what_begins_with_it(prefix in "\\PC{0,3}", sk in "\\PC{0,6}") {
            prop_assume!(!sk.starts_with(RESERVED) && !prefix.starts_with(RESERVED));
            let span = span(&query(Range::Prefix(prefix.clone()))).unwrap().unwrap();
            prop_assert_eq!(span.contains(&sk), sk.starts_with(&prefix));
            let below = format!("{prefix}{sk}");
            prop_assert!(span.contains(&below));
        }

        #[test]
        fn a_cursor_goes_on_after_its_key(sk in "\\PC{1,40}") {
            prop_assume!(!sk.starts_with(RESERVED));
            let all = query(Range::All).after(Some(cursor_after(&sk)));
            let span = span(&all).unwrap().unwrap();
            prop_assert!(!span.contains(&sk));
            let next = format!("{sk}0");
            prop_assert!(span.contains(&next));
        }
    }

    #[test]
    fn the_successor_skips_what_is_no_character() {
        assert_eq!(successor("a\u{D7FF}").as_deref(), Some("a\u{E000}"));
        assert_eq!(successor("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(successor("\u{10FFFF}"), None);
    }

    #[test]
    fn a_cursor_of_another_range_is_refused() {
        let strange = query(Range::Prefix("b".into())).after(Some(cursor_after("a1")));
        assert!(matches!(span(&strange), Err(TableError::Invalid(_))));
        for malformed in ["", "*", "a", "\u{e9}", "_w"] {
            let q = query(Range::All).after(Some(malformed.into()));
            assert!(matches!(span(&q), Err(TableError::Invalid(_))), "{malformed}");
        }
    }
}
