//! What a vendor's service answered, and what that means for the caller.

use std::time::Duration;

use bytes::Bytes;
use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Secrets, Vendor};
use crate::contract::ToolError;

/// How much of a vendor's own words is told, in characters.
const EXCERPT: usize = 300;

/// Where vendors put their words, as JSON pointers.
const WORDS: [&str; 12] = [
    "/error/message",
    "/error/detail",
    "/error/info",
    "/detail/error",
    "/error_description",
    "/errors/0/message",
    "/message",
    "/errmsg",
    "/msg",
    "/reason",
    "/detail",
    "/error",
];

/// An answer whose body was read.
pub(crate) struct Answer {
    pub(super) vendor: Vendor,
    pub(super) secrets: Secrets,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Answer {
    /// The answer when its status tells success; else what the status usually means.
    pub(crate) fn ok(self) -> Result<Self, ToolError> {
        match self.status.as_u16() {
            200..=299 => Ok(self),
            401 | 403 if !self.secrets.0.is_empty() => Err(self.key_refused()),
            402 => Err(self.over_quota()),
            429 => Err(self.too_many()),
            300..=399 => {
                let to =
                    self.headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another address");
                let to = self.secrets.cut(to);
                let words =
                    format!("it redirects to {}; set the parameter `url` to where it is now", excerpt(&to));
                Err(ToolError::Upstream { status: self.status.as_u16(), body: words })
            }
            _ => Err(self.failed()),
        }
    }

    /// The body as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_slice(&self.bytes).map_err(|error| self.not_understood(&error.to_string()))
    }

    /// The body is not what the vendor's description promises.
    pub(crate) fn not_understood(&self, why: &str) -> ToolError {
        let why = self.secrets.cut(why);
        let body = format!("{} gave an answer that cannot be read: {}", self.vendor.name, excerpt(&why));
        ToolError::Upstream { status: 0, body }
    }

    /// The vendor does not take the key.
    pub(crate) fn key_refused(&self) -> ToolError {
        let id = self.vendor.id;
        let what = format!(
            "{} refused the key of `{id}`{}; store a valid one as a credential of `{id}`",
            self.vendor.name,
            self.in_words()
        );
        ToolError::MissingCredential { what }
    }

    /// What was paid for is used up: waiting a little does not help.
    pub(crate) fn over_quota(&self) -> ToolError {
        let body = format!(
            "the account's quota at {} is used up{}. Tell the user; calling again will not help",
            self.vendor.name,
            self.in_words()
        );
        ToolError::Upstream { status: self.status_or(402), body }
    }

    /// Too many calls in a short time.
    pub(crate) fn too_many(&self) -> ToolError {
        let seconds =
            self.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        ToolError::RateLimited { retry_after: seconds.map(Duration::from_secs) }
    }

    /// Any other failure, in the vendor's words.
    pub(crate) fn failed(&self) -> ToolError {
        ToolError::Upstream { status: self.status_or(0), body: self.words() }
    }

    /// What the vendor says in a body that tells of a failure.
    pub(crate) fn words(&self) -> String {
        let value: Option<Value> = serde_json::from_slice(&self.bytes).ok();
        let found = value.as_ref().and_then(|value| {
            WORDS
                .iter()
                .find_map(|place| value.pointer(place)?.as_str())
                .filter(|words| !words.trim().is_empty())
        });
        let words = match (found, &value) {
            (Some(words), _) => words.to_owned(),
            (None, Some(value)) => value.to_string(),
            (None, None) if self.is_html() => String::new(),
            (None, None) => {
                String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(4 * EXCERPT)]).into_owned()
            }
        };
        excerpt(&self.secrets.cut(&words))
    }

    fn in_words(&self) -> String {
        match self.words() {
            words if words.is_empty() => String::new(),
            words => format!(" ({words})"),
        }
    }

    fn is_html(&self) -> bool {
        self.bytes.trim_ascii_start().starts_with(b"<")
    }

    /// A failure that came with a status of success has the vendor's code in its words, not in the status.
    fn status_or(&self, other: u16) -> u16 {
        if self.status.is_success() { other } else { self.status.as_u16() }
    }
}

/// The beginning of a text in one line.
pub(crate) fn excerpt(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(EXCERPT) {
        words.truncate(end);
        words.push('…');
    }
    words
}
