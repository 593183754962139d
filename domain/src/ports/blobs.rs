//! `Blobs`: bodies too large for a record or a reply.

use crate::account::AccountId;
use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use std::time::Duration;

/// What is stored of a blob besides its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobInfo {
    /// The media type.
    pub content_type: String,
    /// The size in bytes.
    pub size: u64,
    /// From when on it counts as gone.
    pub expires_at: Option<Timestamp>,
}

/// A blob, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// What is stored of it.
    pub info: BlobInfo,
    /// Its bytes.
    pub bytes: Bytes,
}

/// An address that works without a key, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobLink {
    /// The address.
    pub url: String,
    /// Until when it works.
    pub expires_at: Timestamp,
}

/// Why a blob was not stored or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The key is empty, too long, or has characters other than letters, digits, `_`, `-`, `.` and single `/`.
    #[error("`{0}` is not a blob key")]
    InvalidKey(String),
    /// There is none, or it has expired.
    #[error("there is no blob `{0}`, or it has expired")]
    NotFound(String),
    /// It is larger than the store takes.
    #[error("the blob is too large: at most {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The store is full, or refuses writes.
    #[error("blobs cannot be written: {0}")]
    ReadOnly(String),
    /// Anything else.
    #[error("the blob store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The store of large bodies. Keys begin with the account: `{account}/{what}/{id}`.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores bytes, replacing what was there. A reader sees the old or the new, never a part.
    async fn put(
        &self,
        key: &str,
        bytes: Bytes,
        content_type: &str,
        keep: Option<Duration>,
    ) -> Result<(), BlobError>;

    /// Reads a blob whole, refusing one larger than `max` bytes.
    async fn get(&self, key: &str, max: u64) -> Result<Blob, BlobError>;

    /// What is known of a blob.
    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError>;

    /// Removes a blob; removing what is not there is no error.
    async fn delete(&self, key: &str) -> Result<(), BlobError>;

    /// An address where anyone may read the blob until it expires.
    async fn link(&self, key: &str, keep: Duration) -> Result<BlobLink, BlobError>;

    /// An address where anyone may PUT up to `max` bytes to `key` until it expires.
    ///
    /// An upload is for handing over: a store may drop it a day after the address has expired.
    async fn upload_link(&self, key: &str, max: u64, keep: Duration) -> Result<BlobLink, BlobError>;
}

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 1024;

/// Refuses a key that is not `part/part/…` of letters, digits, `_`, `-` and `.`, so that no key names anything
/// outside its store. For adapters.
pub fn check_blob_key(key: &str) -> Result<(), BlobError> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let part = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(legal);
    if key.len() > MAX_KEY_BYTES || !key.split('/').all(part) {
        return Err(BlobError::InvalidKey(key.chars().take(80).collect()));
    }
    Ok(())
}

/// Where the bytes of an upload are kept; none for a text that is no `upload_id`.
pub fn upload_key(account: &AccountId, upload_id: &str) -> Option<String> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let is_id = !upload_id.is_empty() && upload_id.len() <= 64 && upload_id.bytes().all(legal);
    is_id.then(|| format!("{account}/upload/{upload_id}"))
}
