//! Authentication: `Authorization: Bearer KEY`, required on every route that is not listed as public.

use crate::{error::ApiError, principal::Principal};
use apps::keys::Keys;
use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, header};
use std::sync::Arc;

/// The routes that work without a key. Every other route refuses; adding one here is a decision.
pub const PUBLIC_ROUTES: &[&str] = &[
    // Says that the server is up, and nothing else.
    "/health",
    // The contract itself.
    "/openapi.json",
    // The token is the permission: random, and gone after a while.
    "/blobs/{token}",
    // Pictures that are compiled in; pages show them by URL.
    "/builtin-tools/{provider}/icon",
];

/// Looks up the key and leaves the [`Principal`] for handlers, and for the log line on the way back.
pub(crate) async fn authenticate(
    State(keys): State<Arc<Keys>>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_open = match request.extensions().get::<MatchedPath>() {
        Some(path) => PUBLIC_ROUTES.contains(&path.as_str()),
        // No route: the answer is 404 for everybody.
        None => true,
    };
    if is_open {
        return next.run(request).await;
    }
    let principal = match principal_of(&keys, request.headers()).await {
        Ok(principal) => principal,
        Err(refusal) => return refusal.into_response(),
    };
    request.extensions_mut().insert(principal.clone());
    let mut response = next.run(request).await;
    response.extensions_mut().insert(principal);
    response
}

async fn principal_of(keys: &Keys, headers: &HeaderMap) -> Result<Principal, ApiError> {
    let presented = bearer(headers).ok_or_else(no_key)?;
    let key = keys.verify(presented).await?;
    if key.app_id.is_some() {
        let detail = "this key belongs to one app and opens that app's own routes only";
        return Err(ApiError::forbidden("app_key", detail));
    }
    Ok(Principal::from(key.as_ref()))
}

pub(crate) fn no_key() -> ApiError {
    ApiError::unauthorized("no_key", "send an API key with the header `Authorization: Bearer KEY`")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}
