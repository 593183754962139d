//! One log line per request. Headers, bodies, queries and raw paths are never in it.

use crate::principal::Principal;
use axum::{
    extract::{MatchedPath, Request},
    middleware::Next,
    response::Response,
};
use http::Method;
use std::time::Instant;

/// Writes the line when the answer begins, or when the client goes away before that.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let mut line = Line {
        method: request.method().clone(),
        // The raw path may hold a token.
        route: request
            .extensions()
            .get::<MatchedPath>()
            .map_or_else(|| "unmatched".to_owned(), |path| path.as_str().to_owned()),
        request_id: crate::request_id::of(&request),
        started: Instant::now(),
        account: String::new(),
        status: None,
    };
    let response = next.run(request).await;
    if let Some(principal) = response.extensions().get::<Principal>() {
        line.account = principal.account.to_string();
    }
    line.status = Some(response.status().as_u16());
    response
}

struct Line {
    method: Method,
    route: String,
    request_id: String,
    started: Instant,
    account: String,
    status: Option<u16>,
}

impl Drop for Line {
    fn drop(&mut self) {
        let latency_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (status, text) = match self.status {
            Some(status) => (status, "request answered"),
            None => (499, "request given up by its client"),
        };
        tracing::info!(
            http.method = %self.method,
            http.route = %self.route,
            http.status = status,
            latency_us,
            request_id = %self.request_id,
            account = %self.account,
            "{text}"
        );
    }
}
