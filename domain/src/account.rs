//! Whose data it is, and what a key may do.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of an account. Every read and write of the product is scoped to one.
///
/// It holds letters, digits, `_` and `-` only, so that it can stand in a partition key and in a policy
/// pattern without changing its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccountId(String);

/// The longest account id, in bytes.
const MAX_LEN: usize = 64;

/// A text that cannot be an account id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an account id: use 1 to 64 letters, digits, `_` or `-`")]
pub struct InvalidAccountId(String);

impl AccountId {
    /// A new random id.
    pub fn generate() -> Self {
        Self(format!("acc_{}", uuid::Uuid::now_v7().simple()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AccountId {
    type Error = InvalidAccountId;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if id.is_empty() || id.len() > MAX_LEN || !id.bytes().all(legal) {
            return Err(InvalidAccountId(id));
        }
        Ok(Self(id))
    }
}

impl From<AccountId> for String {
    fn from(id: AccountId) -> Self {
        id.0
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the holder of a key may do. Each role may do all that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Reads, and calls tools that only read.
    Viewer,
    /// Calls any tool, and writes everything but keys, credentials and commands to run.
    Operator,
    /// Everything, including keys and registering commands (MCP servers over stdio).
    Admin,
}

impl Role {
    /// The role's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}
