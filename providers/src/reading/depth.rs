//! How deep a page's elements nest, seen before it is parsed: parsers take time that grows with the square of
//! the depth, and converters descend once for each level.

/// Elements without an end tag, and those whose end tag may be left out.
const UNNESTED: &[&[u8]] = &[
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"source",
    b"track", b"wbr", b"p", b"li", b"td", b"th", b"tr", b"dt", b"dd", b"option", b"path", b"circle", b"rect",
    b"line", b"use",
];
/// Elements whose content is not markup.
const RAW: &[&[u8]] = &[b"script", b"style", b"textarea", b"title"];

/// An estimate of the deepest nesting.
pub(crate) fn depth(html: &str) -> usize {
    let bytes = html.as_bytes();
    let (mut at, mut depth, mut deepest) = (0, 0_usize, 0);
    while let Some(found) = bytes[at..].iter().position(|b| *b == b'<') {
        at += found + 1;
        let closes = bytes.get(at) == Some(&b'/');
        let name = name(&bytes[at + usize::from(closes)..]);
        if name.is_empty() {
            continue;
        }
        if closes {
            depth = depth.saturating_sub(usize::from(!is_one_of(name, UNNESTED)));
        } else if is_one_of(name, RAW) {
            at += name.len();
            at += end_of_raw(&bytes[at..], name);
        } else if !is_one_of(name, UNNESTED) {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

fn name(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(bytes.len());
    if bytes.first().is_some_and(u8::is_ascii_alphabetic) { &bytes[..end] } else { &[] }
}

fn is_one_of(name: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// How far it is to the end tag.
fn end_of_raw(bytes: &[u8], element: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(2).position(|pair| pair == b"</") {
        at += found + 2;
        if name(&bytes[at..]).eq_ignore_ascii_case(element) {
            return at;
        }
    }
    bytes.len()
}
