//! What operations are called: their operationId, else a name made of method and path that stays the same as
//! long as those do.

use crate::normal::Method;
use std::collections::{HashMap, HashSet};

/// The longest name of an operation, in bytes.
const MAX_NAME: usize = 200;

/// Names that are given once each.
#[derive(Default)]
pub(crate) struct UniqueNames {
    taken: HashSet<String>,
    /// The next number to try behind a name.
    next: HashMap<String, usize>,
}

impl UniqueNames {
    /// Whether a name is taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// Takes a name if it is free.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// The name itself, else with the next free number behind it.
    pub(crate) fn claim(&mut self, base: String) -> String {
        if self.take(&base) {
            return base;
        }
        loop {
            let number = self.next.entry(base.clone()).or_insert(1);
            *number += 1;
            let name = format!("{base}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The names of a document's operations.
#[derive(Default)]
pub(crate) struct OperationNames(UniqueNames);

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
            && self.0.take(id)
        {
            return Claim::Given(id.to_owned());
        }
        let name = self.0.claim(made_up(method, path));
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
