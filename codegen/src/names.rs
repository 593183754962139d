//! Rules for names: which are allowed, how they become Rust identifiers, and which known name was meant.

use heck::ToUpperCamelCase as _;

/// The longest name of a provider, tool or parameter.
const LONGEST: usize = 64;

/// Why a name cannot be used, or nothing.
pub(crate) fn objection(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("it is empty".to_owned());
    }
    if name.len() > LONGEST {
        return Some(format!("it is longer than {LONGEST} characters"));
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Some("it must begin with a lower-case letter".to_owned());
    }
    if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        return Some("only lower-case letters, digits and `_` are allowed".to_owned());
    }
    if name.contains("__") || name.ends_with('_') {
        return Some("`_` may only stand alone between letters or digits".to_owned());
    }
    if syn::parse_str::<syn::Ident>(name).is_err() {
        return Some("it is a keyword of Rust".to_owned());
    }
    None
}

/// `current_time` -> `CurrentTime`.
pub(crate) fn type_name(name: &str) -> String {
    name.to_upper_camel_case()
}

/// `current_time` -> `Current time`: a first label for a person.
pub(crate) fn title(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut chars = spaced.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The enum variant for a select value (`1664*928` -> `N1664x928`), if it holds a letter or digit at all.
pub(crate) fn variant(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut previous_digit = false;
    for word in value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let starts_with_digit = word.starts_with(|c: char| c.is_ascii_digit());
        if previous_digit && starts_with_digit {
            // Keeps 1.6 and 16 apart.
            text.push('x');
        }
        text.push_str(&word.to_upper_camel_case());
        previous_digit = word.ends_with(|c: char| c.is_ascii_digit());
    }
    match text.chars().next() {
        None => None,
        Some(first) if first.is_ascii_digit() => Some(format!("N{text}")),
        // `Self` is the one capitalised keyword.
        Some(_) if text == "Self" => Some("SelfValue".to_owned()),
        Some(_) => Some(text),
    }
}

/// "did you mean `x`?" when a known name is close to the one written.
pub(crate) fn suggestion<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let allowed = written.chars().count().div_ceil(3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| format!("did you mean `{name}`?"))
}

/// The names as a list in prose: `a`, `b`, `c`.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_readable_identifiers() {
        let table = [
            ("1664*928", Some("N1664x928")),
            ("qwen-image-max", Some("QwenImageMax")),
            ("base", Some("Base")),
            ("1.6", Some("N1x6")),
            ("16", Some("N16")),
            ("self", Some("SelfValue")),
            ("***", None),
        ];
        for (value, expected) in table {
            assert_eq!(variant(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn names_that_cannot_be_identifiers_are_refused() {
        for good in ["a", "current_time", "dalle3", "tool_2"] {
            assert_eq!(objection(good), None, "{good}");
        }
        for bad in ["", "Current", "3d", "a-b", "a__b", "a_", "type", "self", &"a".repeat(65)] {
            assert!(objection(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn only_close_names_are_suggested() {
        assert_eq!(suggestion("lable", ["label", "name"]).as_deref(), Some("did you mean `label`?"));
        assert_eq!(suggestion("colour", ["label", "name"]), None);
    }
}
