//! A request, put together from an operation, its arguments and what the provider adds.
//!
//! Knows nothing of sending, and nothing of where secrets are stored: they arrive opened in [`Additions`].

use super::{
    args::{Args, refused},
    body, headers, path,
    percent::Escape,
    style::{Pairs, Styled, text_of},
};
use crate::normal::{Location, Operation, Parameter};
use bytes::Bytes;
use domain::ToolError;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use secrecy::{ExposeSecret, SecretString};
use std::fmt::Write as _;
use url::Url;

/// A request ready to be sent, as often as needed.
pub(crate) struct Prepared {
    /// The method.
    pub(crate) method: Method,
    /// The whole address. Its query may hold a secret.
    pub(crate) url: Url,
    /// The headers; secrets among them are marked as sensitive.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Option<Bytes>,
}

/// What the provider adds to every request: opened secrets, and names that no argument may fill.
#[derive(Default)]
pub(crate) struct Additions {
    /// The provider's own headers.
    pub(crate) headers: Vec<(HeaderName, SecretString)>,
    /// Headers of credentials; they win over everything.
    pub(crate) credential_headers: Vec<(HeaderName, SecretString)>,
    /// Query pairs of credentials.
    pub(crate) query: Vec<(String, SecretString)>,
    /// Cookies of credentials.
    pub(crate) cookies: Vec<(String, SecretString)>,
    /// Names under which the API expects credentials.
    pub(crate) guarded: Vec<(Location, String)>,
}

impl Additions {
    fn guards(&self, location: Location, name: &str) -> bool {
        let same = |(at, guarded): &(Location, String)| {
            *at == location
                && match location {
                    Location::Header => guarded.eq_ignore_ascii_case(name),
                    _ => guarded == name,
                }
        };
        self.guarded.iter().any(same)
    }
}

/// Puts a request together.
///
/// # Errors
/// [`ToolError::InvalidArgs`] where an argument cannot be written at its place; nothing has been sent.
pub(crate) async fn prepare(
    operation: &Operation,
    base: &Url,
    args: Args<'_>,
    additions: &Additions,
) -> Result<Prepared, ToolError> {
    let written = Written::of(operation, args, additions)?;
    let url = address(operation, base, args, &written, additions)?;
    let body = match &operation.body {
        Some(body) => body::encode(body, args).await?,
        None => None,
    };
    let mut headers = default_headers(operation);
    if let Some(body) = &body {
        let content_type = headers::value(&body.content_type)
            .ok_or_else(|| ToolError::internal("the document's media type cannot be a header"))?;
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    let is_multipart = body.as_ref().is_some_and(|b| b.content_type.starts_with("multipart/"));
    for (name, value) in &operation.fixed_headers {
        if let (Some(name), Some(value)) = (headers::name(name), headers::value(value))
            && !(is_multipart && name == header::CONTENT_TYPE)
        {
            headers.insert(name, value);
        }
    }
    add_headers(&mut headers, written, additions)?;
    Ok(Prepared { method: method(operation), url, headers, body: body.map(|b| b.bytes) })
}

/// What the arguments become outside path and body.
#[derive(Default)]
struct Written {
    query: Pairs,
    headers: Vec<(HeaderName, HeaderValue)>,
    cookies: Pairs,
}

impl Written {
    fn of(operation: &Operation, args: Args<'_>, additions: &Additions) -> Result<Self, ToolError> {
        let mut written = Self::default();
        for parameter in &operation.parameters {
            let Some(value) = args.get(&parameter.arg).filter(|value| !value.is_null()) else {
                continue;
            };
            if additions.guards(parameter.location, &parameter.name) {
                return Err(headers::withheld(parameter.location.as_str(), &parameter.name));
            }
            match parameter.location {
                Location::Path => {}
                Location::Query => written.query.extend(pairs(parameter, value, Escape::Component)),
                Location::Cookie => written.cookies.extend(pairs(parameter, value, Escape::Cookie)),
                Location::Header => written.headers.extend(header_of(parameter, value)?),
            }
        }
        Ok(written)
    }
}

fn pairs(parameter: &Parameter, value: &serde_json::Value, escape: Escape) -> Pairs {
    let escape = match escape {
        Escape::Component if parameter.allow_reserved => Escape::ReservedInQuery,
        other => other,
    };
    if parameter.content.is_some() {
        let name = Escape::Component.apply(&parameter.name).into_owned();
        return vec![(name, escape.apply(&value.to_string()).into_owned())];
    }
    let styled = Styled { style: parameter.style, explode: parameter.explode, name: &parameter.name, escape };
    styled.pairs(value)
}

fn header_of(
    parameter: &Parameter,
    value: &serde_json::Value,
) -> Result<Option<(HeaderName, HeaderValue)>, ToolError> {
    if headers::is_forbidden(&parameter.name) {
        return Err(headers::withheld("header", &parameter.name));
    }
    let name = headers::name(&parameter.name)
        .ok_or_else(|| ToolError::internal(format!("`{}` cannot name a header", parameter.name)))?;
    let text = if parameter.content.is_some() {
        value.to_string()
    } else if value.is_array() || value.is_object() {
        let styled = Styled {
            style: parameter.style,
            explode: parameter.explode,
            name: &parameter.name,
            escape: Escape::Verbatim,
        };
        match styled.joined(value) {
            Some(text) => text,
            None => return Ok(None),
        }
    } else {
        text_of(value)
    };
    let value = headers::value(&text).ok_or_else(|| refused(&parameter.arg, headers::NOT_A_VALUE))?;
    Ok(Some((name, value)))
}

fn address(
    operation: &Operation,
    base: &Url,
    args: Args<'_>,
    written: &Written,
    additions: &Additions,
) -> Result<Url, ToolError> {
    let path = path::expand(operation, args)?;
    let mut full = base.path().to_owned();
    if !operation.path.is_empty() {
        full.truncate(full.trim_end_matches('/').len());
        full.push('/');
        full.push_str(&path);
    }
    let mut url = base.clone();
    url.set_fragment(None);
    url.set_path(&full);
    // The last word on it: whatever the reader of addresses made of the path, it has the same segments.
    if url.path().split('/').count() != full.split('/').count() {
        return Err(ToolError::Blocked {
            reason: format!("the path of `{}` would change when it is read", operation.name),
        });
    }
    let query = query_text(operation, base, written, additions);
    url.set_query((!query.is_empty()).then_some(query.as_str()));
    Ok(url)
}

fn query_text(operation: &Operation, base: &Url, written: &Written, additions: &Additions) -> String {
    let mut text = base.query().unwrap_or_default().to_owned();
    let mut push = |name: &str, value: &str| {
        if !text.is_empty() {
            text.push('&');
        }
        let _ = write!(text, "{name}={value}");
    };
    for (name, value) in operation.fixed_query.iter().chain(&written.query) {
        push(name, value);
    }
    for (name, value) in &additions.query {
        push(&Escape::Component.apply(name), &Escape::Component.apply(value.expose_secret()));
    }
    text
}

fn default_headers(operation: &Operation) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let accept = accept(&operation.accept);
    headers.insert(header::ACCEPT, headers::value(&accept).unwrap_or(HeaderValue::from_static("*/*")));
    headers
}

/// JSON first, since it becomes data; then what else the document lists; then anything.
fn accept(listed: &[String]) -> String {
    let is_json = |t: &&String| t.to_ascii_lowercase().contains("json");
    let mut text = String::new();
    for media_type in listed.iter().filter(is_json) {
        let _ = write!(text, "{media_type}, ");
    }
    let after_json = if text.is_empty() { "" } else { ";q=0.9" };
    for media_type in listed.iter().filter(|t| !is_json(t) && !t.starts_with("*/*")) {
        let _ = write!(text, "{media_type}{after_json}, ");
    }
    if listed.is_empty() {
        text.push_str("application/json, ");
    }
    text.push_str("*/*;q=0.1");
    text
}

/// Arguments first, then the provider's own headers, then credentials: the later wins. An argument wins over
/// a provider's header only where that cannot be a credential.
fn add_headers(headers: &mut HeaderMap, written: Written, additions: &Additions) -> Result<(), ToolError> {
    let filled: Vec<HeaderName> = written.headers.iter().map(|(name, _)| name.clone()).collect();
    headers.extend(written.headers);
    for (name, value) in &additions.headers {
        if !filled.contains(name) || headers::looks_like_credential(name.as_str()) {
            headers.insert(name.clone(), secret_value(name, value)?);
        }
    }
    for (name, value) in &additions.credential_headers {
        headers.insert(name.clone(), secret_value(name, value)?);
    }
    add_cookies(headers, &written.cookies, &additions.cookies)
}

/// Puts cookies behind those that the provider's own `Cookie` header holds.
fn add_cookies(
    headers: &mut HeaderMap,
    arguments: &Pairs,
    credentials: &[(String, SecretString)],
) -> Result<(), ToolError> {
    let mut pairs: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
    for (name, value) in credentials {
        let value = Escape::Cookie.apply(value.expose_secret());
        pairs.push(format!("{}={value}", Escape::Component.apply(name)));
    }
    if pairs.is_empty() {
        return Ok(());
    }
    let own = headers.get(header::COOKIE).map(|own| own.as_bytes().to_vec());
    let mut text = own.map(|own| [own.as_slice(), b"; "].concat()).unwrap_or_default();
    text.extend_from_slice(pairs.join("; ").as_bytes());
    let mut value =
        HeaderValue::from_bytes(&text).map_err(|_| ToolError::internal("the cookies cannot be a header"))?;
    value.set_sensitive(true);
    headers.insert(header::COOKIE, value);
    Ok(())
}

fn secret_value(name: &HeaderName, value: &SecretString) -> Result<HeaderValue, ToolError> {
    let mut value = headers::value(value.expose_secret()).ok_or_else(|| ToolError::MissingCredential {
        what: format!("the stored value of the header `{name}` holds characters that no header can carry"),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn method(operation: &Operation) -> Method {
    use crate::normal::Method as Normal;
    match operation.method {
        Normal::Get => Method::GET,
        Normal::Put => Method::PUT,
        Normal::Post => Method::POST,
        Normal::Delete => Method::DELETE,
        Normal::Options => Method::OPTIONS,
        Normal::Head => Method::HEAD,
        Normal::Patch => Method::PATCH,
        Normal::Trace => Method::TRACE,
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
