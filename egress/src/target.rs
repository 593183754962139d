//! Whether a URL may be requested at all, before any name is resolved.
//!
//! The HTTP library never asks a resolver about an address written in the URL, so those
//! are judged here, on the first request and on every redirect.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use crate::error::{Blocked, EgressError};
use crate::policy::Policy;

/// Longest URL that is sent.
const MAX_URL_BYTES: usize = 64 * 1024;

/// Checks scheme, user information and, where the host is an address, the address.
pub(crate) fn check(policy: &Policy, url: &Url) -> Result<(), EgressError> {
    let invalid = |reason: &str| EgressError::InvalidUrl { url: safe_url(url), reason: reason.to_owned() };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("only http and https are supported"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("it contains a user name or password; give credentials apart from the URL"));
    }
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(invalid("it is longer than 64 KiB"));
    }
    let host = url.host().ok_or_else(|| invalid("it names no host"))?;
    match literal(&host) {
        Some(address) => policy
            .check(address)
            .map_err(|refusal| Blocked::new(url.host_str().unwrap_or_default(), &refusal).into()),
        None => Ok(()),
    }
}

/// The address that a host stands for without asking a resolver.
///
/// The URL parser has already turned decimal, octal, hexadecimal and shortened IPv4
/// forms into addresses. `localhost` and names below it are loopback by definition.
pub(crate) fn literal(host: &Host<&str>) -> Option<IpAddr> {
    match *host {
        Host::Ipv4(address) => Some(IpAddr::V4(address)),
        Host::Ipv6(address) => Some(IpAddr::V6(address)),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let is_localhost =
                name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
            if is_localhost {
                return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
            }
            name.parse().ok()
        }
    }
}

/// A URL as it may appear in messages and logs: without user, query and fragment.
pub fn safe_url(url: &Url) -> String {
    const LONGEST: usize = 300;
    let mut text = String::from(url.scheme());
    text.push(':');
    if let Some(host) = url.host_str() {
        text.push_str("//");
        text.push_str(host);
        if let Some(port) = url.port() {
            text.push(':');
            text.push_str(&port.to_string());
        }
    }
    if !url.cannot_be_a_base() {
        text.push_str(url.path());
    }
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Policy, Url, check, safe_url};
    use crate::error::EgressError;

    #[test]
    fn urls_that_are_refused_before_any_lookup() {
        let table = [
            ("ftp://example.com/", "invalid_url"),
            ("file:///etc/passwd", "invalid_url"),
            ("http://user@example.com/", "invalid_url"),
            ("http://:secret@example.com/", "invalid_url"),
            ("http://127.0.0.1/", "blocked"),
            ("http://127.1/", "blocked"),
            ("http://2130706433/", "blocked"),
            ("http://0x7f000001/", "blocked"),
            ("http://0x7f.1/", "blocked"),
            ("http://0177.0.0.1/", "blocked"),
            ("http://127.0.0.1./", "blocked"),
            ("http://１２７.0.0.1/", "blocked"),
            ("http://127。0。0。1/", "blocked"),
            ("http://%31%32%37.0.0.1/", "blocked"),
            ("http://0/", "blocked"),
            ("http://[::1]/", "blocked"),
            ("http://[::]/", "blocked"),
            ("http://[::ffff:127.0.0.1]/", "blocked"),
            ("http://[::ffff:7f00:1]/", "blocked"),
            ("http://[::127.0.0.1]/", "blocked"),
            ("http://[64:ff9b::127.0.0.1]/", "blocked"),
            ("http://[2002:7f00:1::]/", "blocked"),
            ("http://[fe80::1]/", "blocked"),
            ("http://[fd00:ec2::254]/latest/", "blocked"),
            ("http://169.254.169.254/latest/meta-data/", "blocked"),
            ("http://2852039166/", "blocked"),
            ("http://100.100.100.200/", "blocked"),
            ("http://localhost/", "blocked"),
            ("http://LOCALHOST./", "blocked"),
            ("http://a.b.localhost/", "blocked"),
            ("http://ⓛocalhost/", "blocked"),
        ];
        for (url, code) in table {
            let url = Url::parse(url).unwrap();
            let error = check(&Policy::strict(), &url).expect_err(url.as_str());
            assert_eq!(error.code(), code, "{url}");
        }
        for url in ["http://127.0.0.1.evil.example/", "https://8.8.8.8:8443/x"] {
            check(&Policy::strict(), &Url::parse(url).unwrap()).unwrap();
        }
    }

    #[test]
    fn hosts_that_are_no_hosts_do_not_parse() {
        for url in ["http://[fe80::1%25eth0]/", "http://1.2.3.4.5/", "http:///"] {
            assert!(Url::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn messages_carry_no_secret_part_of_a_url() {
        let url = Url::parse("https://u:canary@h.example:8443/p?key=canary#canary").unwrap();
        assert_eq!(safe_url(&url), "https://h.example:8443/p");
        let error = check(&Policy::strict(), &url).unwrap_err();
        assert!(matches!(error, EgressError::InvalidUrl { .. }));
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
