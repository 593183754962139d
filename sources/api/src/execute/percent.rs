//! Percent-encoding by the place a text goes to (RFC 3986, RFC 6265).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::borrow::Cow;

/// Everything but what RFC 3986 calls unreserved.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Reserved characters stay, except those that end a query value, and brackets, which a query cannot hold.
const RESERVED_IN_QUERY: &AsciiSet = &COMPONENT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');
/// Reserved characters stay, except those that end a path, and brackets, which a path cannot hold.
const RESERVED_IN_PATH: &AsciiSet = &RESERVED_IN_QUERY.add(b'?').remove(b'&').remove(b'+');
/// What a cookie's value cannot hold, and what escapes are made with.
const COOKIE: &AsciiSet =
    &percent_encoding::CONTROLS.add(b' ').add(b'"').add(b'%').add(b',').add(b';').add(b'\\');

/// How a text is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// For any part of an address or of a urlencoded form: the text cannot be told apart from data.
    Component,
    /// For a query value whose reserved characters stay.
    ReservedInQuery,
    /// For a path value that may span segments.
    ReservedInPath,
    /// For a cookie's value.
    Cookie,
    /// Not at all: header values have no escapes.
    Verbatim,
}

impl Escape {
    /// The text, escaped.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        let set = match self {
            Self::Component => COMPONENT,
            Self::ReservedInQuery => RESERVED_IN_QUERY,
            Self::ReservedInPath => RESERVED_IN_PATH,
            Self::Cookie => COOKIE,
            Self::Verbatim => return Cow::Borrowed(text),
        };
        utf8_percent_encode(text, set).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_escapes_what_would_end_it() {
        let table = [
            (Escape::Component, "a/b?c#d&e=f+g h%", "a%2Fb%3Fc%23d%26e%3Df%2Bg%20h%25"),
            (Escape::Component, "-._~é", "-._~%C3%A9"),
            (Escape::ReservedInQuery, "a/b?c#d&e=f+g h%[", "a/b?c%23d%26e=f%2Bg%20h%25%5B"),
            (Escape::ReservedInPath, "a/b?c#d&e=f+g h%\\", "a/b%3Fc%23d&e=f+g%20h%25%5C"),
            (Escape::Cookie, "a=b; c,d\"%\n", "a=b%3B%20c%2Cd%22%25%0A"),
            (Escape::Verbatim, "a b", "a b"),
        ];
        for (escape, given, wanted) in table {
            assert_eq!(escape.apply(given), wanted, "{escape:?}");
        }
    }
}
