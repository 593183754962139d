//! `http/request`: any web service, by hand and with care.
//!
//! What may be asked is set by the app's author: which methods, which hosts, and one `Authorization` that only
//! those hosts see. A caller sets no header that carries credentials or steers the connection.

use std::collections::BTreeMap;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::shared::{self, Hosts};
use super::{RequestMethods, RequestParams};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument, request_failed,
};

/// The most that is read of an answer, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// The most text of an answer that is given, in characters.
const LONGEST: usize = 50_000;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestArgs {
    /// The method. Left out: `GET`. The app may allow only `GET` and `HEAD`.
    #[serde(default)]
    pub method: Verb,
    /// The whole address, beginning with `https://` or `http://`.
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
    /// What to add to the query of the address.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// Headers, such as `Accept`. Those with credentials and `Host` are refused.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body: an object or a list is sent as JSON, a text as it is.
    pub body: Option<Value>,
}

/// A method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Verb {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    const fn is_reading(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }

    fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

/// Builds the tool.
pub fn request(
    params: RequestParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = RequestArgs>, BuildError> {
    let hosts = Hosts::parse(params.allowed_hosts.as_deref().unwrap_or_default())
        .map_err(|message| BuildError::invalid_param("allowed_hosts", message))?;
    if params.authorization.is_some() && hosts.is_anything() {
        let message = "needs `allowed_hosts`: name the hosts that may see it";
        return Err(BuildError::invalid_param("authorization", message));
    }
    let timeout = u64::try_from(params.timeout_s).map(Duration::from_secs);
    let timeout = timeout.map_err(|_| BuildError::invalid_param("timeout_s", "must not be negative"))?;
    Ok(Request {
        http: deps.http.clone(),
        hosts,
        may_write: params.methods == RequestMethods::All,
        authorization: params.authorization,
        timeout,
    })
}

struct Request {
    http: egress::Client,
    hosts: Hosts,
    may_write: bool,
    authorization: Option<SecretString>,
    timeout: Duration,
}

impl CallTool for Request {
    type Args = RequestArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        if !self.may_write && !args.method.is_reading() {
            return Err(invalid_argument(
                "method",
                "is not allowed here: this app lets the tool read only, with GET or HEAD",
            ));
        }
        let url = self.url(&args.url)?;
        let headers =
            shared::headers(&args.headers).map_err(|message| invalid_argument("headers", message))?;
        let mut request =
            self.http.request(args.method.method(), url).headers(headers.clone()).query(&args.query);
        if let Some(secret) = &self.authorization {
            request = request.secret_header(AUTHORIZATION, secret);
        }
        request = match args.body {
            None | Some(Value::Null) => request,
            Some(_) if args.method.is_reading() => {
                return Err(invalid_argument("body", "cannot be sent with GET or HEAD: use `query`"));
            }
            Some(Value::String(text)) => request.body(text),
            Some(value) if headers.contains_key(CONTENT_TYPE) => request.body(value.to_string()),
            Some(value) => request.json(&value),
        };
        // A redirect may lead off the list, and must not repeat what changed something.
        let redirects = if args.method.is_reading() && self.hosts.is_anything() { 5 } else { 0 };
        let request = request.timeout(self.timeout.min(cx.remaining())).max_response_bytes(LARGEST);
        let response = request.max_redirects(redirects).send().await.map_err(|e| request_failed(&e))?;
        let (status, headers, url) = (response.status(), response.headers().clone(), response.url().clone());
        let body = response.bytes_capped().await.map_err(|e| request_failed(&e))?;
        let body = shared::Body::read(&headers, &body.bytes, body.truncated, LONGEST);
        Ok(self.output(status.as_u16(), &headers, &url, body))
    }
}

impl Request {
    fn url(&self, text: &str) -> Result<Url, ToolError> {
        let wrong = |message: String| invalid_argument("url", message);
        let url = Url::parse(text.trim())
            .map_err(|error| wrong(format!("is not a whole address ({error}): begin with `https://`")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!(
                "has the scheme `{}`: only http and https can be asked",
                url.scheme()
            )));
        }
        let host = url.host_str().unwrap_or_default();
        if self.hosts.allow(host) {
            return Ok(url);
        }
        Err(ToolError::Blocked {
            reason: format!("`{host}` is not among the hosts that this app allows: {}", self.hosts),
        })
    }

    fn output(&self, status: u16, headers: &HeaderMap, url: &Url, body: shared::Body) -> ToolOutput {
        let secret = self.authorization.as_ref().map(SecretString::expose_secret).unwrap_or_default();
        // The service may tell the header as a whole, or what follows `Bearer`.
        let secrets = [secret, secret.rsplit(' ').next().unwrap_or_default()];
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= 4);
        let cut = |text: String| {
            secrets.clone().fold(text, |text, secret| text.replace(secret, domain::secret::MASK))
        };
        let shown: Map<_, _> =
            shared::told(headers).map(|(name, value)| (name.to_owned(), json!(cut(value)))).collect();
        let text = cut(body.text);
        let data: Value =
            if body.is_json { serde_json::from_str(&text).unwrap_or(Value::Null) } else { Value::Null };
        let more = if body.truncated { "\n(The answer was longer; this is its beginning.)" } else { "" };
        let structured = json!({
            "status": status, "url": egress::safe_url(url), "headers": shown, "json": data,
            "text": if data.is_null() { json!(text) } else { Value::Null }, "truncated": body.truncated,
        });
        let mut output = ToolOutput::structured(format!("Status {status}\n\n{text}{more}"), structured);
        output.is_error = status >= 400;
        output
    }
}
