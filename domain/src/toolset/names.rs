//! Names that every model provider accepts: `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, unique in the set.
//!
//! A tool is called by its own name where that is free, else with its provider's name before it, else with a
//! short hash of its reference behind it. Which of these it gets does not depend on the order of the list.

use crate::tool::ToolSpec;
use std::collections::{HashMap, HashSet};

/// The longest name that every provider accepts.
const MAX_LEN: usize = 64;
/// Levels of a name: tool; provider and tool; then with 8, 16, … digits of the hash.
const FIRST_HASH_LEVEL: usize = 2;

/// What a tool's name is made from.
pub(super) struct Wanted<'a> {
    tool: &'a str,
    provider: &'a str,
    hash: &'a str,
}

impl<'a> Wanted<'a> {
    /// From a tool's spec and the stable hash of its reference, in hexadecimal.
    pub(super) fn new(spec: &'a ToolSpec, hash: &'a str) -> Self {
        Self { tool: &spec.name, provider: &spec.origin.provider_name, hash }
    }

    fn at(&self, level: usize) -> String {
        let own = sanitize(self.tool);
        let both = || format!("{}_{own}", sanitize(self.provider));
        match level {
            0 if own.len() <= MAX_LEN && says_something(&own) => legal_start(&own),
            0 | 1 if both().len() < MAX_LEN && says_something(&own) && level == 1 => legal_start(&both()),
            _ => {
                let digits = (level.max(FIRST_HASH_LEVEL) - FIRST_HASH_LEVEL + 1) * 8;
                let tail = &self.hash[..digits.min(self.hash.len()).min(MAX_LEN - 2)];
                let mut head = legal_start(if says_something(&own) { &own } else { "tool" });
                head.truncate(MAX_LEN - 1 - tail.len());
                format!("{}_{tail}", head.trim_end_matches(['_', '-']))
            }
        }
    }
}

/// Whether a name is legal for every model provider.
pub fn is_legal_name(name: &str) -> bool {
    name.len() <= MAX_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A name for each tool, in their order. References must differ from each other.
pub(super) fn assign(wanted: &[Wanted<'_>], reserved: &[String]) -> Vec<String> {
    let reserved: HashSet<&str> = reserved.iter().map(String::as_str).collect();
    let mut levels = vec![0_usize; wanted.len()];
    let mut names: Vec<String> = wanted.iter().map(|w| w.at(0)).collect();
    loop {
        let mut holders: HashMap<&str, Vec<usize>> = HashMap::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            holders.entry(name).or_default().push(i);
        }
        let clashing: Vec<usize> = holders
            .into_iter()
            .filter(|(name, who)| who.len() > 1 || reserved.contains(name))
            .flat_map(|(_, who)| who)
            .collect();
        // The hash is used up after 64 digits: only equal references, which callers exclude, get that far.
        let clashing: Vec<usize> =
            clashing.into_iter().filter(|&i| levels[i] <= FIRST_HASH_LEVEL + 8).collect();
        if clashing.is_empty() {
            return names;
        }
        for i in clashing {
            levels[i] += 1;
            names[i] = wanted[i].at(levels[i]);
        }
    }
}

fn sanitize(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn says_something(sanitized: &str) -> bool {
    sanitized.bytes().any(|b| b.is_ascii_alphanumeric())
}

fn legal_start(name: &str) -> String {
    let trimmed = name.trim_start_matches(['_', '-']);
    match trimmed.as_bytes().first() {
        Some(b) if b.is_ascii_alphabetic() => trimmed.to_owned(),
        _ => {
            let mut name = format!("t_{trimmed}");
            name.truncate(MAX_LEN);
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    fn named(tools: &[(&str, &str)], reserved: &[&str]) -> Vec<String> {
        let hashes: Vec<String> = tools.iter().enumerate().map(|(i, t)| hash(&format!("{i}{t:?}"))).collect();
        let wanted: Vec<_> = tools
            .iter()
            .zip(&hashes)
            .map(|((provider, tool), hash)| Wanted { tool, provider, hash })
            .collect();
        assign(&wanted, &reserved.iter().map(|r| (*r).to_owned()).collect::<Vec<_>>())
    }

    fn hash(text: &str) -> String {
        hex::encode(Sha256::digest(text))
    }

    #[test]
    fn a_free_name_is_kept_and_a_clash_is_told_apart_by_the_provider() {
        assert_eq!(
            named(&[("time", "now"), ("clock", "now"), ("web", "fetch")], &[]),
            ["time_now", "clock_now", "fetch"]
        );
    }

    #[test]
    fn a_reserved_name_is_not_given() {
        assert_eq!(named(&[("time", "now")], &["now"]), ["time_now"]);
    }

    #[test]
    fn names_without_a_letter_and_names_of_other_scripts_become_legal() {
        let names = named(&[("p", "天气"), ("p", "123"), ("p", "_x"), ("p", "get /users/{id}")], &[]);
        assert!(names[0].starts_with("tool_"), "{names:?}");
        assert_eq!(names[1..], ["t_123", "x", "get__users__id_"]);
    }

    proptest! {
        #[test]
        fn names_are_always_legal_unique_and_independent_of_order(
            tools in prop::collection::vec(("\\PC{0,80}", "[a-cA-C_\\-\\. é天0-9]{0,90}"), 0..40),
            reserved in prop::collection::vec("[a-c]{1,2}", 0..4),
        ) {
            let hashes: Vec<String> = tools.iter().enumerate().map(|(i, t)| hash(&format!("{i}{t:?}"))).collect();
            let wanted = |order: &[usize]| order.iter()
                .map(|&i| Wanted { tool: &tools[i].1, provider: &tools[i].0, hash: &hashes[i] })
                .collect::<Vec<_>>();
            let forward: Vec<usize> = (0..tools.len()).collect();
            let backward: Vec<usize> = forward.iter().rev().copied().collect();
            let names = assign(&wanted(&forward), &reserved);
            prop_assert!(names.iter().all(|n| is_legal_name(n)), "{names:?}");
            prop_assert!(names.iter().all(|n| !reserved.contains(n)));
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
            let mut again = assign(&wanted(&backward), &reserved);
            again.reverse();
            prop_assert_eq!(names, again);
        }
    }
}
