//! Which hosts may be asked, which headers may be set, and what of an answer is told. Opens no connection.

use std::collections::BTreeMap;
use std::fmt;

use encoding_rs::{Encoding, UTF_8};
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};

/// The most headers a caller may set.
const MOST_HEADERS: usize = 30;

/// Headers that carry credentials, or that steer the connection.
const REFUSED: [&str; 20] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-api-key",
    "x-real-ip",
];

/// Headers of an answer that a reader has a use for.
const TOLD: [&str; 10] = [
    "content-type",
    "content-length",
    "content-language",
    "date",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "x-total-count",
];

/// A list of hosts; an empty one allows all.
pub(super) struct Hosts(Vec<Rule>);

enum Rule {
    /// This host.
    Exactly(String),
    /// All hosts below this one.
    Below(String),
}

impl Hosts {
    /// Reads names separated by commas.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let names =
            text.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty());
        let rule = |name: String| {
            let (domain, rule) = match name.strip_prefix("*.") {
                Some(domain) => (domain, Rule::Below(format!(".{domain}"))),
                None => (name.as_str(), Rule::Exactly(name.clone())),
            };
            let is_host = url::Host::parse(domain).is_ok_and(|host| host.to_string() == domain);
            let is_host = is_host && !domain.contains('*');
            is_host.then_some(rule).ok_or_else(|| {
                format!("holds `{name}`, which is no host name: leave out scheme, port and path")
            })
        };
        names.map(rule).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_anything(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn allow(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.is_anything()
            || self.0.iter().any(|rule| match rule {
                Rule::Exactly(name) => *name == host,
                Rule::Below(end) => host.ends_with(end.as_str()),
            })
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|rule| match rule {
            Rule::Exactly(name) => name.clone(),
            Rule::Below(end) => format!("*{end}"),
        });
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}

/// The headers that a caller sets.
pub(super) fn headers(given: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    if given.len() > MOST_HEADERS {
        return Err(format!("holds more than {MOST_HEADERS} headers"));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let lower = name.trim().to_ascii_lowercase();
        if REFUSED.contains(&lower.as_str())
            || lower.starts_with("x-forwarded-")
            || lower.starts_with("proxy-")
        {
            return Err(format!("holds `{name}`, which a caller may not set"));
        }
        let name: HeaderName =
            lower.parse().map_err(|_| format!("holds `{name}`, which is no header's name"))?;
        let value: HeaderValue =
            value.parse().map_err(|_| format!("holds a value for `{name}` that a header cannot carry"))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The headers of an answer that are told.
pub(super) fn told(headers: &HeaderMap) -> impl Iterator<Item = (&'static str, String)> {
    TOLD.into_iter().filter_map(|name| {
        let value = headers.get(name)?;
        Some((name, String::from_utf8_lossy(value.as_bytes()).chars().take(500).collect()))
    })
}

/// The body of an answer as text.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) is_json: bool,
    pub(super) truncated: bool,
}

impl Body {
    pub(super) fn read(headers: &HeaderMap, bytes: &[u8], truncated: bool, longest: usize) -> Self {
        let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = declared.split(';').find_map(|part| part.trim().strip_prefix("charset="));
        let encoding = charset
            .and_then(|label| Encoding::for_label(label.trim_matches('"').as_bytes()))
            .unwrap_or(UTF_8);
        let (text, _, broken) = encoding.decode(bytes);
        let is_binary =
            broken && encoding == UTF_8 && !truncated || bytes[..bytes.len().min(1024)].contains(&0);
        if is_binary {
            let text = format!("({} bytes of `{media_type}`, which is no text)", bytes.len());
            return Self { text, is_json: false, truncated };
        }
        let is_whole = !truncated && text.char_indices().nth(longest).is_none();
        let is_json = is_whole && (media_type == "application/json" || media_type.ends_with("+json"));
        Self { text: text.chars().take(longest).collect(), is_json, truncated: !is_whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_exactly_or_by_their_domain() {
        let hosts = Hosts::parse("api.example.com, *.example.org,").unwrap();
        for (host, allowed) in [
            ("api.example.com", true),
            ("API.example.com.", true),
            ("www.example.com", false),
            ("example.org", false),
            ("a.b.example.org", true),
            ("evilexample.org", false),
            ("example.org.evil.example", false),
        ] {
            assert_eq!(hosts.allow(host), allowed, "{host}");
        }
        assert!(Hosts::parse("").unwrap().allow("anything"));
        for wrong in ["https://a.example", "a.example/x", "a.example:80", "*", "a b"] {
            assert!(Hosts::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn headers_with_credentials_or_for_the_connection_are_refused() {
        let one = |name: &str, value: &str| headers(&BTreeMap::from([(name.to_owned(), value.to_owned())]));
        for name in [
            "Authorization",
            " cookie ",
            "HOST",
            "Proxy-X",
            "X-Forwarded-For",
            "Transfer-Encoding",
            "a b",
            "",
        ] {
            assert!(one(name, "x").is_err(), "{name}");
        }
        assert!(one("accept", "a\r\nb: c").is_err());
        assert_eq!(one("Accept", "text/plain").unwrap()["accept"], "text/plain");
    }
}
