//! Path templates: split into segments, literal texts percent-encoded, placeholders named.

use crate::normal::{Part, Segment};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What is not legal in a path segment (RFC 3986 `pchar`). `%` is handled apart: an escape stays one.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The longest path, in bytes.
const MAX_PATH: usize = 4_000;

/// A path template, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Template {
    pub(crate) segments: Vec<Segment>,
    /// Pairs after a `?`, encoded; placeholders in them are listed in `query_placeholders` instead.
    pub(crate) fixed_query: Vec<(String, String)>,
    /// Query names whose value is a placeholder, with the placeholder's name.
    pub(crate) query_placeholders: Vec<(String, String)>,
    /// Placeholders of the path whose value may span segments.
    pub(crate) greedy: Vec<String>,
    /// Whether something after a `#` was left out.
    pub(crate) fragment: bool,
}

impl Template {
    /// Takes a template apart. `None` when a placeholder stands inside a longer value of the query, or when it
    /// is too long for an address.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_PATH {
            return None;
        }
        let mut template = Self::default();
        let (text, fragment) = split_outside_braces(text.trim(), '#');
        template.fragment = fragment.is_some();
        let (path, query) = split_outside_braces(text, '?');
        let path = path.strip_prefix('/').unwrap_or(path);
        if !path.is_empty() {
            let segments = split_all_outside_braces(path, '/');
            template.segments = segments.into_iter().map(|s| template.segment(s)).collect();
        } else if text.starts_with('/') {
            template.segments.push(Segment::default());
        }
        for pair in query.unwrap_or_default().split('&').filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match value.strip_prefix('{').and_then(|v| v.strip_suffix('}')) {
                Some(placeholder) if !placeholder.contains(['{', '}']) => {
                    let pair = (name.to_owned(), placeholder.to_owned());
                    template.query_placeholders.push(pair);
                }
                _ if value.contains('{') => return None,
                _ => template.fixed_query.push((encoded(name), encoded(value))),
            }
        }
        Some(template)
    }

    /// The names of the path's placeholders, in order, each once.
    pub(crate) fn placeholders(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in self.segments.iter().flat_map(|s| &s.0) {
            if let Part::Parameter(name) = part
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// Gives a placeholder another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        for part in self.segments.iter_mut().flat_map(|s| &mut s.0) {
            if *part == Part::Parameter(from.to_owned()) {
                *part = Part::Parameter(to.to_owned());
            }
        }
        for name in self.greedy.iter_mut().filter(|n| *n == from) {
            to.clone_into(name);
        }
    }

    /// Writes the placeholders for which `keep` is false as the literal text they are.
    pub(crate) fn literal_unless(&mut self, keep: impl Fn(&str) -> bool) {
        for part in self.segments.iter_mut().flat_map(|s| &mut s.0) {
            if let Part::Parameter(name) = part
                && !keep(name)
            {
                *part = Part::Literal(encoded(&format!("{{{name}}}")));
            }
        }
    }

    fn segment(&mut self, text: &str) -> Segment {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inner, behind)) = after.split_once('}') else {
                break;
            };
            if !before.is_empty() {
                parts.push(Part::Literal(encoded(before)));
            }
            // RFC 6570: `{?a,b}` adds to the query, where parameters say so themselves; `{+a}`, `{a*}` and
            // `{a+}` may hold slashes.
            if !inner.starts_with(['?', '&']) {
                let name = inner.trim_start_matches('+').trim_end_matches(['+', '*']);
                if name != inner && !self.greedy.iter().any(|g| g == name) {
                    self.greedy.push(name.to_owned());
                }
                parts.push(Part::Parameter(name.to_owned()));
            }
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(encoded(rest)));
        }
        Segment(parts)
    }
}

/// A literal text, percent-encoded; escapes that it has already stay as they are.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, piece) in text.split('%').enumerate() {
        if i > 0 {
            let escape = piece.as_bytes().get(..2);
            let is_escape = escape.is_some_and(|e| e.iter().all(u8::is_ascii_hexdigit));
            out.push_str(if is_escape { "%" } else { "%25" });
        }
        out.extend(utf8_percent_encode(piece, SEGMENT));
    }
    out
}

fn split_outside_braces(text: &str, mark: char) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if c == mark && depth == 0 => return (&text[..at], Some(&text[at + c.len_utf8()..])),
            _ => {}
        }
    }
    (text, None)
}

fn split_all_outside_braces(text: &str, mark: char) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (piece, more) = split_outside_braces(text, mark);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(template: &Template) -> String {
        let part = |p: &Part| match p {
            Part::Literal(text) => text.clone(),
            Part::Parameter(name) => format!("<{name}>"),
        };
        let segment = |s: &Segment| s.0.iter().map(part).collect::<String>();
        template.segments.iter().map(segment).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn templates_are_split_and_encoded() {
        let table = [
            ("/pets/{id}", "pets/<id>"),
            ("/pets/", "pets/"),
            ("/", ""),
            ("", ""),
            ("pets", "pets"),
            ("/v1/{model}:generate", "v1/<model>:generate"),
            ("/{a}.{b}/x", "<a>.<b>/x"),
            ("/a b/%2F/100%/é", "a%20b/%2F/100%25/%C3%A9"),
            ("/{+parent}/files", "<parent>/files"),
            ("/find{?q,limit}", "find"),
            ("/open{brace", "open%7Bbrace"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(&Template::parse(text).unwrap()), expected, "{text}");
        }
        assert!(Template::parse("").unwrap().segments.is_empty());
        assert_eq!(Template::parse("/").unwrap().segments.len(), 1);
    }

    #[test]
    fn queries_and_fragments_in_paths_are_taken_out() {
        let t = Template::parse("/?Action=Run&Id={id}&flag#Action=Run").unwrap();
        assert_eq!(t.fixed_query, [("Action".into(), "Run".into()), ("flag".into(), String::new())]);
        assert_eq!(t.query_placeholders, [("Id".into(), "id".into())]);
        assert!(t.fragment);
        assert_eq!(Template::parse("/x?filter=a{b}c"), None);
        assert_eq!(Template::parse("/{+a}/{b*}").unwrap().greedy, ["a", "b"]);
    }
}
