//! The layers around every router, in their order.

use crate::{auth, body::MAX_BODY_BYTES, error::ApiError, problem, request_id, trace};
use apps::keys::Keys;
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    response::{IntoResponse as _, Response},
};
use std::{any::Any, sync::Arc};
use tower_http::catch_panic::CatchPanicLayer;

/// Puts the layers around a router of functions. From outside in: request id, log line, problem documents,
/// caught panics, authentication, body limit.
pub fn stack(router: Router, keys: Arc<Keys>) -> Router {
    router
        .fallback(problem::no_such_route)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(keys, auth::authenticate))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(problem::finish))
        .layer(middleware::from_fn(trace::log))
        .layer(middleware::from_fn(request_id::assign))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is that of the layer")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    ApiError::internal(format!("a handler panicked: {message}")).into_response()
}
