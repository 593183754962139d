//! Sending a request, with the retries that cannot repeat an effect.

use super::request::Prepared;
use domain::ToolError;
use egress::{EgressError, Response};
use http::{HeaderMap, StatusCode, header};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// How often a request is sent at most.
const MAX_ATTEMPTS: u32 = 3;
/// How long to wait before the first repetition after a failed connection.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How many redirects a request that changes nothing follows. Others are not redirected.
const MAX_REDIRECTS: usize = 5;

/// The bounds of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// How long it may take, retries included.
    pub(crate) timeout: Duration,
    /// When that is over.
    pub(crate) deadline: Instant,
    /// How much of the answer is read.
    pub(crate) max_bytes: u64,
}

impl Bounds {
    /// Bounds that begin now.
    pub(crate) fn new(timeout: Duration, max_bytes: u64) -> Self {
        Self { timeout, deadline: Instant::now() + timeout, max_bytes }
    }

    /// What is left of the time.
    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Sends a request. A request that may be repeated is, after a failed connection and where the service says
/// when (429 or 503 with `Retry-After`), as long as the time allows.
pub(crate) async fn send(
    client: &egress::Client,
    request: &Prepared,
    bounds: Bounds,
) -> Result<Response, ToolError> {
    let repeatable = request.method.is_idempotent();
    let mut attempt = 1;
    loop {
        let outcome = once(client, request, bounds).await;
        let wait = match &outcome {
            _ if !repeatable || attempt == MAX_ATTEMPTS => None,
            Ok(response) => asked_wait(response.status(), response.headers(), SystemTime::now()),
            Err(error) => is_transient(error).then(|| FIRST_WAIT * 4_u32.pow(attempt - 1)),
        };
        match wait {
            Some(wait) if wait < bounds.left() => {
                drop(outcome);
                tokio::time::sleep(wait).await;
                attempt += 1;
            }
            _ => return outcome.map_err(|error| translate(&error, bounds.timeout)),
        }
    }
}

async fn once(client: &egress::Client, request: &Prepared, bounds: Bounds) -> Result<Response, EgressError> {
    let redirects = if request.method.is_safe() { MAX_REDIRECTS } else { 0 };
    let mut builder = client
        .request(request.method.clone(), request.url.clone())
        .headers(request.headers.clone())
        .timeout(bounds.left())
        .max_response_bytes(bounds.max_bytes)
        .max_redirects(redirects);
    if let Some(body) = &request.body {
        builder = builder.body(body.clone());
    }
    builder.send().await
}

/// Whether a failure may pass by itself: no connection, or one that broke.
fn is_transient(error: &EgressError) -> bool {
    matches!(error, EgressError::Connect { .. } | EgressError::Dns { .. } | EgressError::Protocol { .. })
}

/// How long the service asks to wait, where it asks.
pub(crate) fn asked_wait(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?;
    let at = SystemTime::try_from(at.timestamp()).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

/// What an egress error is to a caller.
pub(crate) fn translate(error: &EgressError, timeout: Duration) -> ToolError {
    match error {
        EgressError::Blocked(_) => ToolError::Blocked { reason: error.to_string() },
        EgressError::Timeout { .. } => ToolError::Timeout { after: timeout },
        EgressError::Setup { .. } => ToolError::internal(error),
        EgressError::TooLarge { limit, .. } => {
            ToolError::TooLarge { what: "the answer".into(), limit: *limit }
        }
        _ => ToolError::Unreachable { reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_wait_is_read_in_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 7);
        let table = [
            (429, "3", Some(3)),
            (503, "3", Some(3)),
            (503, "Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            (503, "Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            (503, "soon", None),
            (503, "-1", None),
            (500, "3", None),
        ];
        for (status, text, wanted) in table {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static(text))]);
            let found = asked_wait(StatusCode::from_u16(status).unwrap(), &headers, now);
            assert_eq!(found.map(|d| d.as_secs()), wanted, "{status} {text}");
        }
    }
}
