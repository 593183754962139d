//! Headers and cookies: what a value may hold, and which of them a model may never fill.

use crate::{compile::policy, normal::Location};
use domain::ToolError;
use http::{HeaderName, HeaderValue};

/// Words that mark a header as one that may carry a credential.
const CREDENTIAL_WORDS: &[&str] =
    &["apikey", "auth", "credential", "key", "password", "secret", "session", "signature", "token"];

/// Whether no argument may ever set this header.
pub(crate) fn is_forbidden(name: &str) -> bool {
    policy::is_withheld(name, Location::Header)
}

/// Whether a header's name says that it may carry a credential.
pub(crate) fn looks_like_credential(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| lower.contains(word))
}

/// A header's name; none where the text cannot be one.
pub(crate) fn name(text: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(text.as_bytes()).ok()
}

/// A header's value: no line break, no other control character. Other scripts go out as UTF-8.
pub(crate) fn value(text: &str) -> Option<HeaderValue> {
    let legal = |c: char| c == '\t' || !c.is_control();
    text.chars().all(legal).then(|| HeaderValue::from_bytes(text.as_bytes()).ok()).flatten()
}

/// What is said of a text that no header can hold.
pub(crate) const NOT_A_VALUE: &str = "may not hold line breaks or other control characters in a header";

/// What is said when an argument would set what it may not.
pub(crate) fn withheld(what: &str, name: &str) -> ToolError {
    ToolError::Blocked {
        reason: format!(
            "the {what} `{name}` may not be filled by a caller: give it as a header or credential of the provider"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_break_out_of_its_line() {
        for text in ["a\r\nX: y", "a\nb", "a\rb", "\0", "a\u{7f}", "\u{85}"] {
            assert!(value(text).is_none(), "{text:?}");
        }
        for text in ["", "a b\tc", "é天", "\"quoted\"; a=b"] {
            assert!(value(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn names_are_judged_without_case() {
        assert!(is_forbidden("HOST") && is_forbidden("Transfer-Encoding") && !is_forbidden("X-Host"));
        assert!(looks_like_credential("X-Api-Key") && !looks_like_credential("X-Trace"));
    }
}
