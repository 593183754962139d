//! Taking a part of a document: a select expression over tag, path, method and operationId.
//!
//! An expression is a list of terms, separated by white space or commas: `tag:pets`, `path:/pets/**`,
//! `method:get`, `id:listPets`; without a kind, `listPets`, it is an id. Names and paths may hold `*` and `?`; in
//! paths `*` stays within a segment and `**` does not; a `?` stands for a space in a tag. `!` before a term leaves out what it fits. An operation
//! is taken when, of every kind that is named, one term fits it, and no term with `!` does.

use crate::normal::Method;
use glob::{MatchOptions, Pattern};
use std::{fmt, str::FromStr};

/// The longest expression, in bytes.
const MAX_EXPRESSION: usize = 4 * 1024;

/// Which operations to take. The default takes all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    terms: Vec<Term>,
}

/// Why an expression cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// An unknown kind of term.
    #[error("`{0}` is not a kind of term: it may be `tag`, `path`, `method` or `id`, as in `tag:pets`")]
    Kind(String),
    /// A method that is none.
    #[error("`{0}` is not a method: it may be get, put, post, delete, options, head, patch or trace")]
    Method(String),
    /// A pattern that is none.
    #[error("`{pattern}` is not a pattern: {message}")]
    Pattern {
        /// What was written.
        pattern: String,
        /// What is wrong.
        message: String,
    },
    /// A term without a value.
    #[error("`{0}` says nothing after the colon")]
    Empty(String),
    /// It is too long.
    #[error("the expression has {0} bytes: at most {MAX_EXPRESSION} are read")]
    TooLong(usize),
}

/// What terms are matched against.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) tags: &'a [String],
}

#[derive(Clone, Debug)]
struct Term {
    text: String,
    kind: Kind,
    negated: bool,
    pattern: Pattern,
}

/// A selection at work on one document: it knows which terms have fitted something.
pub(crate) struct Matcher<'a> {
    terms: &'a [Term],
    used: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tag,
    Path,
    Method,
    Id,
}

impl Selection {
    /// Whether everything is taken.
    pub fn is_all(&self) -> bool {
        self.terms.is_empty()
    }

    /// The selection at work on a document.
    pub(crate) fn matcher(&self) -> Matcher<'_> {
        Matcher { terms: &self.terms, used: vec![false; self.terms.len()] }
    }
}

impl Matcher<'_> {
    /// Whether an operation is taken.
    pub(crate) fn takes(&mut self, candidate: Candidate<'_>) -> bool {
        const KINDS: [Kind; 4] = [Kind::Tag, Kind::Path, Kind::Method, Kind::Id];
        // Every term is tried, so that those which fit nothing can be told.
        let fits: Vec<bool> = self.terms.iter().map(|t| t.fits(candidate)).collect();
        for (used, fits) in self.used.iter_mut().zip(&fits) {
            *used |= fits;
        }
        let terms = || self.terms.iter().zip(&fits);
        let refused = terms().any(|(t, fits)| t.negated && *fits);
        let wanted = |kind| {
            let mut of_kind = terms().filter(|(t, _)| t.kind == kind && !t.negated).peekable();
            of_kind.peek().is_none() || of_kind.any(|(_, fits)| *fits)
        };
        !refused && KINDS.into_iter().all(wanted)
    }

    /// The terms that have fitted nothing.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.terms.iter().zip(&self.used).filter(|(_, used)| !**used);
        unused.map(|(term, _)| term.text.as_str())
    }
}

impl Term {
    fn fits(&self, candidate: Candidate<'_>) -> bool {
        const IN_PATHS: MatchOptions = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        const IN_NAMES: MatchOptions = MatchOptions {
            case_sensitive: true,
            require_literal_separator: false,
            require_literal_leading_dot: false,
        };
        match self.kind {
            Kind::Tag => candidate.tags.iter().any(|t| self.pattern.matches_with(t, IN_NAMES)),
            Kind::Path => self.pattern.matches_with(candidate.path, IN_PATHS),
            Kind::Method => self.pattern.as_str() == candidate.method.key(),
            Kind::Id => self.pattern.matches_with(candidate.name, IN_NAMES),
        }
    }
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(expression: &str) -> Result<Self, SelectionError> {
        if expression.len() > MAX_EXPRESSION {
            return Err(SelectionError::TooLong(expression.len()));
        }
        let words = expression.split(|c: char| c.is_whitespace() || c == ',');
        let terms = words.filter(|w| !w.is_empty()).map(term).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }
}

fn term(text: &str) -> Result<Term, SelectionError> {
    let (negated, body) = match text.strip_prefix('!') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let (kind, value) = match body.split_once(':') {
        Some(("tag", value)) => (Kind::Tag, value),
        Some(("path", value)) => (Kind::Path, value),
        Some(("method", value)) => (Kind::Method, value),
        Some(("id", value)) => (Kind::Id, value),
        // A path says what it is; other colons would be ambiguous.
        _ if body.starts_with('/') => (Kind::Path, body),
        Some((kind, _)) => return Err(SelectionError::Kind(kind.to_owned())),
        None => (Kind::Id, body),
    };
    if value.is_empty() {
        return Err(SelectionError::Empty(text.to_owned()));
    }
    let value = if kind == Kind::Method { value.to_ascii_lowercase() } else { value.to_owned() };
    if kind == Kind::Method && !Method::ALL.iter().any(|m| m.key() == value) {
        return Err(SelectionError::Method(value));
    }
    let pattern = Pattern::new(&value)
        .map_err(|e| SelectionError::Pattern { pattern: value.clone(), message: e.msg.to_owned() })?;
    Ok(Term { text: text.to_owned(), kind, negated, pattern })
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.terms.iter().map(|t| t.text.as_str()).collect();
        f.write_str(&texts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(expression: &str, name: &str, method: Method, path: &str, tags: &[&str]) -> bool {
        let tags: Vec<String> = tags.iter().map(|t| (*t).to_owned()).collect();
        let selection: Selection = expression.parse().unwrap();
        selection.matcher().takes(Candidate { name, method, path, tags: &tags })
    }

    #[test]
    fn kinds_are_joined_by_and_terms_of_a_kind_by_or() {
        let pet = |expression| takes(expression, "getPet", Method::Get, "/pets/{id}", &["pets"]);
        for yes in [
            "",
            "getPet",
            "id:get*",
            "tag:pets",
            "tag:pets tag:users",
            "method:GET,path:/pets/*",
            "/pets/{id}",
            "path:/**",
            "tag:pets !id:deletePet",
        ] {
            assert!(pet(yes), "{yes}");
        }
        for no in
            ["getPets", "tag:users", "tag:pets method:post", "path:/pets", "path:/*", "tag:pets !getPet"]
        {
            assert!(!pet(no), "{no}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_refused() {
        let error = |expression: &str| expression.parse::<Selection>().unwrap_err();
        assert!(matches!(error("tags:x"), SelectionError::Kind(_)));
        assert!(matches!(error("method:fetch"), SelectionError::Method(_)));
        assert!(matches!(error("id:"), SelectionError::Empty(_)));
        assert!(matches!(error("id:[a"), SelectionError::Pattern { .. }));
    }

    #[test]
    fn terms_that_fit_nothing_are_known() {
        let selection: Selection = "tag:pets id:nothing".parse().unwrap();
        let tags = ["pets".to_owned()];
        let candidate = Candidate { name: "a", method: Method::Get, path: "/", tags: &tags };
        let mut matcher = selection.matcher();
        assert!(!matcher.takes(candidate));
        assert_eq!(matcher.unused().collect::<Vec<_>>(), ["id:nothing"]);
    }
}
