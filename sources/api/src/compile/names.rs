//! What operations are called: their operationId, else a name made of method and path that stays the same as
//! long as those do.

use crate::normal::Method;
use std::collections::HashSet;

/// The longest name of an operation, in bytes.
const MAX_NAME: usize = 200;

/// The names of a document's operations.
#[derive(Default)]
pub(crate) struct OperationNames(HashSet<String>);

/// A name and how it came about.
#[derive(Debug, PartialEq)]
pub(crate) enum Claim {
    /// As the document says.
    Given(String),
    /// The document gives none.
    Missing(String),
    /// The document gives one that another operation has, or that is too long.
    Unusable(String),
}

impl OperationNames {
    /// Claims a name for an operation.
    pub(crate) fn claim(&mut self, id: Option<&str>, method: Method, path: &str) -> Claim {
        let id = id.map(str::trim).filter(|id| !id.is_empty());
        if let Some(id) = id
            && id.len() <= MAX_NAME
            && self.0.insert(id.to_owned())
        {
            return Claim::Given(id.to_owned());
        }
        let base = made_up(method, path);
        let mut name = base.clone();
        let mut number = 2_usize;
        while !self.0.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        if id.is_some() { Claim::Unusable(name) } else { Claim::Missing(name) }
    }
}

impl Claim {
    /// The name.
    pub(crate) fn into_name(self) -> String {
        match self {
            Self::Given(name) | Self::Missing(name) | Self::Unusable(name) => name,
        }
    }
}

/// `GET /pets/{id}/toys` is `get_pets_by_id_toys`.
fn made_up(method: Method, path: &str) -> String {
    let mut name = method.key().to_owned();
    for segment in path.split('/').filter(|s| !s.is_empty()) {
        for (i, piece) in segment.split('{').enumerate() {
            if i > 0 {
                name.push_str("_by");
            }
            for word in piece.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
                name.push('_');
                name.push_str(word);
            }
        }
    }
    name.truncate(MAX_NAME - 20);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_document_or_from_method_and_path() {
        let mut names = OperationNames::default();
        let mut claim = |id, path| names.claim(id, Method::Get, path);
        assert_eq!(claim(Some(" listPets "), "/pets"), Claim::Given("listPets".into()));
        assert_eq!(claim(Some("listPets"), "/v2/pets"), Claim::Unusable("get_v2_pets".into()));
        assert_eq!(claim(None, "/pets/{id}/toys"), Claim::Missing("get_pets_by_id_toys".into()));
        assert_eq!(claim(Some(""), "/pets/{id}/toys/"), Claim::Missing("get_pets_by_id_toys_2".into()));
        assert_eq!(claim(None, "/"), Claim::Missing("get".into()));
    }
}
