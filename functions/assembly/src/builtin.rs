//! `/builtin-tools`: the registry as it was compiled in.

use axum::{
    Json,
    extract::Path,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::header;
use http_kit::{ApiError, List, Principal, Refusals};
use providers::{
    catalogue::{self, ProviderView, ToolDetail},
    runtime::Category,
};

/// Lists the builtin providers with their tools, in their order.
#[utoipa::path(get, path = "/builtin-tools", tag = "assembly",
    responses((status = 200, description = "The providers", body = List<ProviderView>), Refusals))]
pub(crate) async fn list(_principal: Principal) -> Json<List<ProviderView>> {
    Json(List::whole(catalogue::providers().collect()))
}

/// Lists the categories of builtin providers, in their order.
#[utoipa::path(get, path = "/builtin-tools/categories", tag = "assembly",
    responses((status = 200, description = "The categories", body = List<Category>), Refusals))]
pub(crate) async fn categories(_principal: Principal) -> Json<List<&'static Category>> {
    Json(List::whole(catalogue::categories().iter().collect()))
}

/// One builtin tool.
#[utoipa::path(get, path = "/builtin-tools/{provider}/tools/{tool}", tag = "assembly",
    params(("provider" = String, Path, description = "The provider's name"), ("tool" = String, Path, description = "The tool's name")),
    responses((status = 200, description = "The tool and its provider", body = ToolDetail), Refusals))]
pub(crate) async fn tool(
    _principal: Principal,
    Path((provider, tool)): Path<(String, String)>,
) -> Result<Json<ToolDetail>, ApiError> {
    let found = catalogue::tool(&provider, &tool);
    let missing = || ApiError::not_found(format_args!("the builtin tool `{provider}/{tool}`"));
    found.map(Json).ok_or_else(missing)
}

/// A builtin provider's icon.
#[utoipa::path(get, path = "/builtin-tools/{provider}/icon", tag = "assembly", security(()),
    params(("provider" = String, Path, description = "The provider's name")),
    responses((status = 200, description = "The picture", body = [u8], content_type = "image/*"), Refusals))]
pub(crate) async fn icon(Path(provider): Path<String>) -> Result<Response, ApiError> {
    let icon = catalogue::icon(&provider);
    let icon = icon.ok_or_else(|| ApiError::not_found(format_args!("the builtin provider `{provider}`")))?;
    let headers = [
        (header::CONTENT_TYPE, icon.media_type),
        (header::CACHE_CONTROL, "public, max-age=86400"),
        // A picture from the registry is shown, and never runs.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, Bytes::from_static(icon.bytes)).into_response())
}
