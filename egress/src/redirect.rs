//! What becomes of a request when the server points elsewhere.
//!
//! The rules of the Fetch standard, with two of our own: every hop is checked like a
//! first request, and nothing leaves https for http.

use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE,
    COOKIE, HOST, LOCATION, PROXY_AUTHORIZATION, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use reqwest::Request;
use reqwest::redirect::{Attempt, Policy as RedirectPolicy};
use url::Url;

use crate::error::EgressError;
use crate::policy::Policy;
use crate::target::{check, safe_url};

/// Redirects followed unless the caller says otherwise.
pub(crate) const DEFAULT_LIMIT: usize = 5;

const BODY_HEADERS: [HeaderName; 6] =
    [CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE, TRANSFER_ENCODING];

/// Where a response redirects to, if it does.
pub(crate) fn location(response: &reqwest::Response) -> Option<Result<Url, EgressError>> {
    let follows = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let value = follows.then(|| response.headers().get(LOCATION)).flatten()?;
    let target = std::str::from_utf8(value.as_bytes()).ok().and_then(|text| response.url().join(text).ok());
    Some(target.ok_or_else(|| EgressError::Redirect {
        from: safe_url(response.url()),
        to: "an unreadable address".to_owned(),
        reason: "its Location header is not a URL",
    }))
}

/// Turns `request` into the one to send to `next`. `body_is_gone` says that the body was
/// a stream which has been sent already.
pub(crate) fn follow(
    mut request: Request,
    status: StatusCode,
    next: Url,
    body_is_gone: bool,
) -> Result<Request, EgressError> {
    let refused =
        |reason| EgressError::Redirect { from: safe_url(request.url()), to: safe_url(&next), reason };
    if request.url().scheme() == "https" && next.scheme() == "http" {
        return Err(refused("it leaves https for http"));
    }
    let becomes_get = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => request.method() == Method::POST,
        StatusCode::SEE_OTHER => !matches!(*request.method(), Method::GET | Method::HEAD),
        _ => false,
    };
    if body_is_gone && !becomes_get {
        return Err(refused("the body was a stream and cannot be sent again"));
    }
    if becomes_get {
        *request.method_mut() = Method::GET;
        *request.body_mut() = None;
        for name in BODY_HEADERS {
            request.headers_mut().remove(name);
        }
    }
    if request.url().origin() != next.origin() {
        drop_secrets(request.headers_mut());
    }
    *request.url_mut() = next;
    Ok(request)
}

/// Removes what the next origin must not learn: credentials, and every header whose
/// value its sender marked as sensitive.
fn drop_secrets(headers: &mut HeaderMap) {
    for name in [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, HOST] {
        headers.remove(name);
    }
    headers.remove("cookie2");
    let marked: Vec<HeaderName> =
        headers.iter().filter(|(_, value)| value.is_sensitive()).map(|(name, _)| name.clone()).collect();
    for name in marked {
        headers.remove(name);
    }
}

/// The redirect policy of clients that are lent to libraries.
pub(crate) fn within_origin(policy: Policy) -> RedirectPolicy {
    RedirectPolicy::custom(move |attempt: Attempt<'_>| {
        let next = attempt.url();
        let Some(from) = attempt.previous().last() else {
            return attempt.stop();
        };
        let problem = if attempt.previous().len() > DEFAULT_LIMIT {
            Some(EgressError::TooManyRedirects { url: safe_url(next), limit: DEFAULT_LIMIT })
        } else if from.origin() != next.origin() {
            Some(EgressError::Redirect {
                from: safe_url(from),
                to: safe_url(next),
                reason: "it leaves the configured server; use the new address instead",
            })
        } else {
            check(&policy, next).err()
        };
        match problem {
            Some(problem) => attempt.error(problem),
            None => attempt.follow(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{AUTHORIZATION, Method, Request, StatusCode, Url, follow};

    fn hop(from: &str, to: &str) -> Result<Request, super::EgressError> {
        let mut request = Request::new(Method::GET, Url::parse(from).unwrap());
        let secret = "Bearer canary".parse().unwrap();
        request.headers_mut().insert(AUTHORIZATION, secret);
        follow(request, StatusCode::FOUND, Url::parse(to).unwrap(), false)
    }

    #[test]
    fn https_is_not_left_for_http() {
        let error = hop("https://a.example/x?q=canary", "http://a.example/y").unwrap_err();
        assert_eq!(error.code(), "redirect");
        assert!(!error.to_string().contains("canary"));
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let table = [
            ("https://a.example/", "https://a.example:443/b", true),
            ("https://a.example/", "https://A.EXAMPLE/b", true),
            ("https://a.example/", "https://a.example:444/", false),
            ("https://a.example/", "https://b.a.example/", false),
            ("http://a.example/", "https://a.example/", false),
        ];
        for (from, to, kept) in table {
            let request = hop(from, to).unwrap();
            let has = request.headers().contains_key(AUTHORIZATION);
            assert_eq!(has, kept, "{from} -> {to}");
        }
    }
}
