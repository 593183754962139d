//! How an operation behaves, guessed from its method and names. The guess leans to the safe side: what cannot
//! be told may change things.

use crate::normal::Method;
use domain::Annotations;

/// Verbs after which something is gone, whatever the method.
const DESTRUCTIVE: [&str; 19] = [
    "archive",
    "ban",
    "cancel",
    "clear",
    "close",
    "delete",
    "deactivate",
    "destroy",
    "disable",
    "drop",
    "erase",
    "kill",
    "purge",
    "remove",
    "reset",
    "revoke",
    "rollback",
    "terminate",
    "unpublish",
];

/// The guess.
pub(crate) fn annotations(method: Method, name: &str, path: &str) -> Annotations {
    let destroys = verbs(name, path).any(|verb| DESTRUCTIVE.contains(&verb.as_str()));
    let read_only = method.is_safe() && !destroys;
    Annotations {
        read_only,
        destructive: destroys || matches!(method, Method::Delete | Method::Put | Method::Patch),
        idempotent: method.is_idempotent() && !(method.is_safe() && destroys),
        open_world: true,
    }
}

/// The first word of the name and the first word of the last literal of the path: where verbs stand.
fn verbs(name: &str, path: &str) -> impl Iterator<Item = String> + use<> {
    let last = path.rsplit(['/', ':']).find(|s| !s.is_empty() && !s.starts_with('{'));
    let name = name.rsplit(['.', '/']).next();
    let words = [name, last].map(|text| text.and_then(first_word));
    words.into_iter().flatten()
}

/// `deletePet`, `delete_pet` and `Delete-Pet` begin with `delete`; `clearance` does not begin with `clear`.
fn first_word(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let end =
        text.char_indices().skip(1).find(|(_, c)| !c.is_ascii_lowercase()).map_or(text.len(), |(at, _)| at);
    let word = text.get(..end)?.to_ascii_lowercase();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_verbs_decide() {
        // method, name, path, read-only, destructive, idempotent
        let table = [
            (Method::Get, "listPets", "/pets", true, false, true),
            (Method::Get, "clearance", "/clearance", true, false, true),
            (Method::Get, "x", "/session/close", false, true, false),
            (Method::Post, "createPet", "/pets", false, false, false),
            (Method::Post, "chat.delete", "/chat", false, true, false),
            (Method::Post, "x", "/jobs/{id}:cancel", false, true, false),
            (Method::Put, "x", "/pets/{id}", false, true, true),
            (Method::Patch, "x", "/pets/{id}", false, true, false),
            (Method::Delete, "x", "/pets/{id}", false, true, true),
        ];
        for (method, name, path, read_only, destructive, idempotent) in table {
            let a = annotations(method, name, path);
            assert_eq!(
                (a.read_only, a.destructive, a.idempotent),
                (read_only, destructive, idempotent),
                "{name} {path}"
            );
        }
    }
}
