//! Streams of server-sent events.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use http::header;
use std::convert::Infallible;

/// A response whose body is events, each written out whole. A client that goes away drops the stream.
pub fn event_stream(events: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(events.map(|event| Ok::<_, Infallible>(Bytes::from(event))));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        // Proxies that gather answers are told not to.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}
