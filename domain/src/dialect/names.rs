//! Property names for dialects that take only plain ones: letters, digits, `_`, `.` and `-`, at most 64.
//!
//! The names given are a function of the schema alone, so that [`super::restore`] finds the way back.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

const MAX_NAME: usize = 64;

/// Original names to projected ones, for the properties of one object. Names that stay are not in it.
#[derive(Debug, Default)]
pub(super) struct NameMap {
    projected: IndexMap<String, String>,
    original: HashMap<String, String>,
}

impl NameMap {
    /// The name to show a model.
    pub(super) fn projected<'n>(&'n self, original: &'n str) -> &'n str {
        self.projected.get(original).map_or(original, String::as_str)
    }

    /// The name behind one a model wrote.
    pub(super) fn original<'n>(&'n self, projected: &'n str) -> &'n str {
        self.original.get(projected).map_or(projected, String::as_str)
    }

    /// Names that differ, original first.
    pub(super) fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.projected
            .iter()
            .map(|(from, to)| (from.as_str(), to.as_str()))
    }
}

/// Names for `properties`; none are changed unless `plain` is asked for.
pub(super) fn name_map(properties: Option<&Map<String, Value>>, plain: bool) -> NameMap {
    let Some(properties) = properties.filter(|_| plain) else {
        return NameMap::default();
    };
    let mut taken: HashSet<String> = properties.keys().filter(|name| is_plain(name)).cloned().collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut map = NameMap::default();
    for name in properties.keys().filter(|name| !is_plain(name)) {
        let base = plain_form(name);
        let mut candidate = base.clone();
        let number = numbers.entry(base.clone()).or_insert(1);
        while !taken.insert(candidate.clone()) {
            *number += 1;
            let suffix = format!("_{number}");
            candidate = format!("{}{suffix}", &base[..base.len().min(MAX_NAME - suffix.len())]);
        }
        map.original.insert(candidate.clone(), name.clone());
        map.projected.insert(name.clone(), candidate);
    }
    map
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
    let mut plain = plain.trim_matches('_').to_owned();
    plain.truncate(MAX_NAME);
    if plain.is_empty() {
        "field".to_owned()
    } else {
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::{is_plain, name_map};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    #[test]
    fn names_are_readable_and_differ() {
        let properties = json!({"filter[a]": {}, "filter_a": {}, "$top": {}, "名": {}, "字": {}});
        let names = name_map(properties.as_object(), true);
        let shown: Vec<_> = properties
            .as_object()
            .unwrap()
            .keys()
            .map(|n| names.projected(n))
            .collect();
        assert_eq!(shown, ["filter_a_2", "filter_a", "top", "field", "field_2"]);
    }

    proptest! {
        #[test]
        fn every_name_is_plain_and_found_again(keys in prop::collection::hash_set("\\PC{0,80}", 0..20)) {
            let properties: Map<String, Value> = keys.iter().map(|key| (key.clone(), json!({}))).collect();
            let names = name_map(Some(&properties), true);
            let shown: std::collections::HashSet<_> = keys.iter().map(|key| names.projected(key)).collect();
            prop_assert_eq!(shown.len(), keys.len());
            for key in &keys {
                prop_assert!(is_plain(names.projected(key)));
                prop_assert_eq!(names.original(names.projected(key)), key);
            }
        }
    }
}
