//! `Principal`: who is asking.

use crate::error::ApiError;
use apps::keys::ApiKey;
use axum::extract::FromRequestParts;
use domain::{AccountId, Role};
use http::request::Parts;

/// Who is asking, as their key says. Handlers take it as an argument; without a key they are never reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Whose data the request is about.
    pub account: AccountId,
    /// What the key may do.
    pub role: Role,
    /// Which key it is.
    pub key_id: String,
}

impl Principal {
    /// Refuses with 403 unless the key may do what `role` may.
    pub fn require(&self, role: Role) -> Result<(), ApiError> {
        if self.role >= role {
            return Ok(());
        }
        let detail = format!(
            "this needs a key with the role `{}`; this key has `{}`",
            role.as_str(),
            self.role.as_str()
        );
        Err(ApiError::forbidden("role_too_low", detail))
    }
}

impl From<&ApiKey> for Principal {
    fn from(key: &ApiKey) -> Self {
        Self { account: key.account.clone(), role: key.role, key_id: key.id.clone() }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(crate::auth::no_key)
    }
}
