//! The function `apps`: what belongs to an account. For now its keys and its credentials.
//!
//! Handlers only translate; what a key or a credential is, the crate `apps` knows.

mod credentials;
mod keys;

use apps::{credentials::CredentialStore, keys::Keys};
use std::sync::Arc;
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone, Debug)]
pub struct AppsState {
    /// The keys of all accounts.
    pub keys: Arc<Keys>,
    /// Stored credentials.
    pub credentials: Arc<CredentialStore>,
    /// What a provider wants stored; none for a provider that does not exist.
    pub declared: fn(&str) -> Option<Vec<DeclaredField>>,
}

/// A field that a provider wants stored.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredField {
    /// Its name.
    pub name: &'static str,
    /// Whether the provider does nothing without it.
    pub required: bool,
}

/// The function's routes.
pub fn router(state: AppsState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(credentials::list))
        .routes(routes!(credentials::get, credentials::put, credentials::delete))
        .with_state(state)
}
