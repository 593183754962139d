//! Reading an answer without trusting its size or its pace.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::Stream;
use http::{HeaderMap, StatusCode};
use url::Url;

use crate::error::{EgressError, Stage};
use crate::target::safe_url;

/// The bounds of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Of everything together.
    pub(crate) timeout: Option<Duration>,
    /// Of each wait.
    pub(crate) idle: Option<Duration>,
    /// Of the body, after decompression.
    pub(crate) bytes: u64,
}

/// The head of an answer, and its body still to be read. Dropping it cancels the request.
pub struct Response {
    inner: reqwest::Response,
    limits: Limits,
    read: u64,
}

/// A body, or as much of it as the limit lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capped {
    /// The bytes, at most as many as the limit.
    pub bytes: Bytes,
    /// Whether there was more.
    pub truncated: bool,
}

impl Response {
    pub(crate) fn new(inner: reqwest::Response, limits: Limits) -> Self {
        Self { inner, limits, read: 0 }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The headers. `Content-Encoding` and `Content-Length` are gone when the body is
    /// being decompressed.
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The URL that answered, after redirects. Its query may hold secrets of the request:
    /// print it with [`crate::safe_url`].
    pub fn url(&self) -> &Url {
        self.inner.url()
    }

    /// Reads the body up to the limit, and says whether there was more.
    pub async fn bytes_capped(mut self) -> Result<Capped, EgressError> {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = self.next_chunk().await? {
            let room = self.limits.bytes.saturating_sub(bytes.len() as u64);
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            if chunk.len() > room {
                bytes.extend_from_slice(&chunk[..room]);
                return Ok(Capped { bytes: bytes.freeze(), truncated: true });
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Capped { bytes: bytes.freeze(), truncated: false })
    }

    /// Reads the whole body; a larger one than the limit is an error.
    pub async fn bytes(mut self) -> Result<Bytes, EgressError> {
        if self.inner.content_length() > Some(self.limits.bytes) {
            return Err(self.too_large());
        }
        let mut bytes = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    }

    /// The next part of the body; an error once the limit is exceeded.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        let chunk = self.next_chunk().await?;
        self.read += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.read > self.limits.bytes {
            return Err(self.too_large());
        }
        Ok(chunk)
    }

    /// The body part by part; it ends with an error once the limit is exceeded.
    pub fn stream(self) -> impl Stream<Item = Result<Bytes, EgressError>> + Send + 'static {
        futures::stream::try_unfold(self, |mut response| async move {
            let chunk = response.chunk().await?;
            Ok(chunk.map(|chunk| (chunk, response)))
        })
    }

    async fn next_chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        let limit = self.limits.idle.or(self.limits.timeout);
        let after = limit.unwrap_or_default();
        let chunk = match self.limits.idle {
            Some(idle) => match tokio::time::timeout(idle, self.inner.chunk()).await {
                Ok(chunk) => chunk,
                Err(_) => {
                    return Err(EgressError::Timeout {
                        url: safe_url(self.url()),
                        stage: Stage::Reading,
                        after,
                    });
                }
            },
            None => self.inner.chunk().await,
        };
        chunk.map_err(|error| EgressError::translate(&error, self.url(), Stage::Reading, after))
    }

    fn too_large(&self) -> EgressError {
        EgressError::TooLarge { url: safe_url(self.url()), limit: self.limits.bytes }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status())
            .field("url", &safe_url(self.url()))
            .finish_non_exhaustive()
    }
}
