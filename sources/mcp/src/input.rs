//! What a client sends to create or change a server, and what must hold for it.

use crate::record::{ChangePolicy, TransportKind};
use ::http::{HeaderName, HeaderValue};
use domain::{Violation, secret::MASK};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt};
use url::Url;

/// The timeout where none is given, in seconds.
pub(crate) const DEFAULT_TIMEOUT_S: u32 = 30;
/// How many calls run at the same time where nothing is said.
pub(crate) const DEFAULT_CONCURRENCY: u32 = 32;
/// How many headers, variables or arguments there may be.
const MAX_ENTRIES: usize = 100;
/// The longest value of one.
const MAX_VALUE: usize = 16 * 1024;

/// Headers that belong to the protocol or to the connection.
const OWN_HEADERS: [&str; 14] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-connection",
];

/// A server as a client describes it. A masked secret keeps the stored one.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerInput {
    /// Its name, unique in the account.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The address of a picture, or a `data:` URL.
    #[serde(default)]
    pub icon: Option<String>,
    /// How it is reached.
    pub transport: TransportKind,
    /// Where it is, over HTTP.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers of every request, over HTTP. Sealed when stored.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The command, over stdio.
    #[serde(default)]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment. Sealed when stored.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How long a call may take without a sign of progress, in seconds: 1 to 600, 30 unless given.
    #[serde(default)]
    pub timeout_s: Option<u32>,
    /// Whether its tools may be used; yes unless given.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// What happens when it changes a tool's definition; `review` unless given.
    #[serde(default)]
    pub on_change: ChangePolicy,
    /// Whether its own word counts on which of its tools only read. No unless given: a server may lie.
    #[serde(default)]
    pub trust_annotations: bool,
    /// How many calls may run at the same time: 1 to 1000, 32 unless given.
    #[serde(default)]
    pub max_concurrency: Option<u32>,
}

impl ServerInput {
    /// A server over HTTP with everything else as it is by default.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::named(name.into(), TransportKind::Http) }
    }

    /// A command to run with everything else as it is by default.
    pub fn stdio(name: impl Into<String>, command: impl Into<String>, args: Vec<String>) -> Self {
        Self { command: Some(command.into()), args, ..Self::named(name.into(), TransportKind::Stdio) }
    }

    fn named(name: String, transport: TransportKind) -> Self {
        Self {
            name,
            description: String::new(),
            icon: None,
            transport,
            url: None,
            headers: BTreeMap::new(),
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            timeout_s: None,
            enabled: None,
            on_change: ChangePolicy::default(),
            trust_annotations: false,
            max_concurrency: None,
        }
    }

    /// The command, where it is to be run.
    pub fn command_to_run(&self) -> Option<&str> {
        (self.transport == TransportKind::Stdio).then(|| self.command.as_deref().unwrap_or_default())
    }

    /// Everything that is wrong with it.
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let mut found = Found(Vec::new());
        found.text("/name", self.name.trim(), 1, 100);
        found.text("/description", &self.description, 0, 2000);
        found.text("/icon", self.icon.as_deref().unwrap_or_default(), 0, 64 * 1024);
        found.range("/timeout_s", self.timeout_s, 600);
        found.range("/max_concurrency", self.max_concurrency, 1000);
        match self.transport {
            TransportKind::Http => self.check_http(&mut found),
            TransportKind::Stdio => self.check_stdio(&mut found),
        }
        found.0
    }

    fn check_http(&self, found: &mut Found) {
        match self.url.as_deref().map(Url::parse) {
            None => found.say("/url", "is required with transport `http`"),
            Some(Err(error)) => found.say("/url", format!("is not an address: {error}")),
            Some(Ok(url)) if !matches!(url.scheme(), "http" | "https") => {
                found.say("/url", "must begin with http:// or https://");
            }
            Some(Ok(url)) if !url.username().is_empty() || url.password().is_some() => {
                found.say("/url", "must not hold a user or password: put it into `headers`");
            }
            Some(Ok(_)) => {}
        }
        for (name, present) in [
            ("/command", self.command.is_some()),
            ("/args", !self.args.is_empty()),
            ("/env", !self.env.is_empty()),
        ] {
            found.unless(!present, name, "belongs to transport `stdio`");
        }
        found.unless(self.headers.len() <= MAX_ENTRIES, "/headers", "are too many");
        for (name, value) in &self.headers {
            let path = format!("/headers/{}", pointer(name));
            let lower = name.to_ascii_lowercase();
            found.unless(HeaderName::try_from(name).is_ok(), &path, "is not a header name");
            found.unless(
                !OWN_HEADERS.contains(&lower.as_str()) && !lower.starts_with("mcp-"),
                &path,
                "is set by the protocol and cannot be given",
            );
            found.unless(
                value.len() <= MAX_VALUE && HeaderValue::try_from(value).is_ok(),
                &path,
                "has a value that a header cannot carry",
            );
        }
    }

    fn check_stdio(&self, found: &mut Found) {
        let command = self.command.as_deref().unwrap_or_default();
        found.unless(!command.trim().is_empty(), "/command", "is required with transport `stdio`");
        found.unless(!command.contains('\0'), "/command", "contains a null character");
        found.unless(self.url.is_none(), "/url", "belongs to transport `http`");
        found.unless(self.headers.is_empty(), "/headers", "belong to transport `http`");
        found.unless(self.args.len() <= MAX_ENTRIES, "/args", "are too many");
        for (i, arg) in self.args.iter().enumerate() {
            let fits = arg.len() <= MAX_VALUE && !arg.contains('\0');
            found.unless(fits, &format!("/args/{i}"), "is too long or contains a null character");
        }
        found.unless(self.env.len() <= MAX_ENTRIES, "/env", "are too many");
        for (name, value) in &self.env {
            let path = format!("/env/{}", pointer(name));
            let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            let named = !name.is_empty() && name.bytes().all(legal) && !name.as_bytes()[0].is_ascii_digit();
            found.unless(named, &path, "is not a variable's name");
            found.unless(
                value.len() <= MAX_VALUE && !value.contains('\0'),
                &path,
                "has a value that is too long or contains a null character",
            );
        }
    }
}

impl fmt::Debug for ServerInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let masked = |map: &BTreeMap<String, String>| -> BTreeMap<String, &str> {
            map.keys().map(|k| (k.clone(), MASK)).collect()
        };
        f.debug_struct("ServerInput")
            .field("name", &self.name)
            .field("transport", &self.transport)
            .field("headers", &masked(&self.headers))
            .field("env", &masked(&self.env))
            .finish_non_exhaustive()
    }
}

struct Found(Vec<Violation>);

impl Found {
    fn say(&mut self, path: &str, message: impl Into<String>) {
        self.0.push(Violation { path: path.to_owned(), message: message.into() });
    }

    fn unless(&mut self, holds: bool, path: &str, message: &str) {
        if !holds {
            self.say(path, message);
        }
    }

    fn text(&mut self, path: &str, text: &str, least: usize, most: usize) {
        let length = text.chars().count();
        if length < least || length > most {
            self.say(path, format!("must have {least} to {most} characters"));
        }
        self.unless(!text.chars().any(|c| c.is_control() && c != '\n'), path, "contains control characters");
    }

    fn range(&mut self, path: &str, value: Option<u32>, most: u32) {
        if value.is_some_and(|v| v == 0 || v > most) {
            self.say(path, format!("must be from 1 to {most}"));
        }
    }
}

/// A name as a step of a JSON pointer.
pub(crate) fn pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn paths(input: Value) -> Vec<String> {
        let input: ServerInput = serde_json::from_value(input).unwrap();
        input.violations().into_iter().map(|v| v.path).collect()
    }

    #[test]
    fn what_is_wrong_is_named_by_place() {
        let none: Vec<String> = Vec::new();
        assert_eq!(
            paths(
                json!({"name":"a","transport":"http","url":"https://x.test/mcp","headers":{"Authorization":"Bearer x"}})
            ),
            none
        );
        assert_eq!(
            paths(json!({"name":"a","transport":"stdio","command":"npx","args":["-y"],"env":{"A_1":"x"}})),
            none
        );
        let cases = [
            (json!({"name":" ","transport":"http","url":"ftp://x"}), vec!["/name", "/url"]),
            (json!({"name":"a","transport":"http"}), vec!["/url"]),
            (json!({"name":"a","transport":"http","url":"http://u:p@x"}), vec!["/url"]),
            (json!({"name":"a","transport":"http","url":"http://x","command":"sh"}), vec!["/command"]),
            (
                json!({"name":"a","transport":"http","url":"http://x","headers":{"Host":"y","Mcp-Session-Id":"1","a b":"c","x":"1\r\n2"}}),
                vec!["/headers/Host", "/headers/Mcp-Session-Id", "/headers/a b", "/headers/x"],
            ),
            (json!({"name":"a","transport":"stdio"}), vec!["/command"]),
            (
                json!({"name":"a","transport":"stdio","command":"x","env":{"1A":"","B":"\u{0}"},"timeout_s":0,"max_concurrency":2000}),
                vec!["/timeout_s", "/max_concurrency", "/env/1A", "/env/B"],
            ),
        ];
        for (input, wanted) in cases {
            assert_eq!(paths(input.clone()), wanted, "{input}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let mut input = ServerInput::http("a", "http://x");
        input.headers.insert("X-Key".into(), "s3cret".into());
        assert!(!format!("{input:?}").contains("s3cret"));
    }
}
