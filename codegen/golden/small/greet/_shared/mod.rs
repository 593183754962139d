//! What the greetings share.

/// `greeting, name!`
pub(super) fn sentence(greeting: &str, name: &str) -> String {
    format!("{greeting}, {name}!")
}
