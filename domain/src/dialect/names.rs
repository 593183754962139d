//! Property names for dialects that take only plain ones: letters, digits, `_`, `.` and `-`, at most 64.
//!
//! The name shown depends on the name alone, never on what stands beside it, so that [`super::restore`]
//! finds the way back whatever schemas a value has met.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

const MAX_NAME: usize = 64;
/// Hexadecimal digits that tell names apart which look alike once they are plain.
const MARK: usize = 6;

/// The name to show a model for a property.
pub(super) fn shown(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return Cow::Borrowed(name);
    }
    let mark = hex::encode(Sha256::digest(name));
    let mut plain = plain_form(name);
    plain.truncate(MAX_NAME - MARK - 1);
    Cow::Owned(format!("{plain}_{}", &mark[..MARK]))
}

/// The property of `schema` behind a name a model wrote.
pub(super) fn behind<'s>(schema: &'s Map<String, Value>, written: &'s str) -> &'s str {
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_some_and(|properties| properties.contains_key(written)) || !may_be_shown(written) {
        return written;
    }
    let named = properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let mut candidates = named.chain(required).filter(|name| !is_plain(name));
    candidates.find(|name| shown(name) == written).unwrap_or(written)
}

fn may_be_shown(name: &str) -> bool {
    let mark = name.rsplit_once('_').map_or("", |(_, mark)| mark);
    mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_plain(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_plain_byte)
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// `filter[name]` becomes `filter_name`.
fn plain_form(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        match u8::try_from(c).ok().filter(|byte| is_plain_byte(*byte)) {
            Some(byte) => plain.push(char::from(byte)),
            None if plain.ends_with('_') => {}
            None => plain.push('_'),
        }
    }
    let plain = plain.trim_matches('_');
    if plain.is_empty() { "field" } else { plain }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{behind, is_plain, shown};
    use proptest::prelude::*;
    use serde_json::json;
    use std::collections::HashSet;

    #[test]
    fn names_are_readable_and_differ() {
        let names = ["filter_a", "filter[a]", "filter{a}", "$top", "名", "字"];
        let starts = ["filter_a", "filter_a_", "filter_a_", "top_", "field_", "field_"];
        for (name, start) in names.iter().zip(starts) {
            assert!(shown(name).starts_with(start), "{name}: {}", shown(name));
        }
        let distinct: HashSet<_> = names.iter().map(|name| shown(name)).collect();
        assert_eq!(distinct.len(), names.len());
    }

    proptest! {
        #[test]
        fn every_name_is_plain_and_found_again(name in "\\PC{0,80}", others in prop::collection::vec("\\PC{0,5}", 0..4)) {
            prop_assert!(is_plain(&shown(&name)));
            let mut schema = json!({"required": others, "properties": {}});
            schema["properties"][&name] = json!({});
            let schema = schema.as_object().unwrap();
            let written = shown(&name);
            prop_assert_eq!(behind(schema, &written), &name);
        }
    }
}
