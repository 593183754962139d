//! The [`Blobs`] port over a directory, with the links that the gateway serves.
//!
//! A blob is one file: a line that says what it is, then its bytes. It is written aside and renamed, so a
//! reader sees the old or the new. It knows files; HTTP is the gateway's part: it hands the token of
//! `GET` and `PUT /blobs/{token}` to [`DirectoryBlobs::open_link`] and [`DirectoryBlobs::accept_upload`].
//!
//! `layout` says where a blob lies, `file` how one looks and is written, `token` what a link holds,
//! `sweep` removes what has expired.

mod file;
mod layout;
mod sweep;
mod token;

use async_trait::async_trait;
use bytes::Bytes;
use domain::ports::{Blob, BlobError, BlobInfo, BlobLink, Blobs, Clock, SystemClock, check_blob_key};
use file::Meta;
use futures::{Stream, StreamExt as _};
use jiff::Timestamp;
use layout::Layout;
use std::{
    path::PathBuf,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};
use token::{Claims, Tokens, Use};

pub use file::OpenBlob;
pub use token::LinkError;

/// How long an upload stays after its address has expired.
const KEEP_UPLOAD: Duration = Duration::from_hours(24);
/// How often expired blobs are looked for, in milliseconds.
const SWEEP_EVERY_MS: i64 = 3_600_000;

/// Blobs in a directory.
#[derive(Clone)]
pub struct DirectoryBlobs {
    layout: Arc<Layout>,
    tokens: Arc<Tokens>,
    public_url: Arc<str>,
    clock: Arc<dyn Clock>,
    next_sweep: Arc<AtomicI64>,
}

impl DirectoryBlobs {
    /// The blobs in `root`, which is made when absent. Links begin with `public_url`, the address at which
    /// the gateway is reached.
    pub fn open(root: impl Into<PathBuf>, public_url: &str) -> Result<Self, BlobError> {
        Self::with_clock(root, public_url, Arc::new(SystemClock))
    }

    /// The same, going by another clock.
    pub fn with_clock(
        root: impl Into<PathBuf>,
        public_url: &str,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, BlobError> {
        let layout = Layout::make(root.into())?;
        Ok(Self {
            tokens: Arc::new(Tokens::of(&layout)?),
            layout: Arc::new(layout),
            public_url: public_url.trim_end_matches('/').into(),
            next_sweep: Arc::new(AtomicI64::new(0)),
            clock,
        })
    }

    /// The blob behind a link's token, to be streamed.
    pub async fn open_link(&self, token: &str) -> Result<OpenBlob, LinkError> {
        let claims = self.tokens.read(token, Use::Read, self.clock.now())?;
        Ok(self.open_blob(&claims.key).await?)
    }

    /// Stores what was sent to an upload link, refusing more than the link allows. Nothing is stored when
    /// the body ends in an error.
    pub async fn accept_upload<E>(
        &self,
        token: &str,
        content_type: Option<&str>,
        body: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<BlobInfo, LinkError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let claims = self.tokens.read(token, Use::Write, self.clock.now())?;
        let expires_at = claims.expires_at()? + KEEP_UPLOAD;
        let content_type = content_type.unwrap_or("application/octet-stream");
        let meta = Meta::new(&claims.key, content_type, Some(expires_at));
        let mut draft = file::Draft::begin(&self.layout, meta).await?;
        let (mut body, mut size) = (pin!(body), 0_u64);
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| LinkError::Interrupted(error.into()))?;
            size += chunk.len() as u64;
            if size > claims.max {
                return Err(BlobError::TooLarge { limit: claims.max }.into());
            }
            draft.write(&chunk).await?;
        }
        draft.finish().await?;
        self.sweep_sometimes();
        Ok(BlobInfo { content_type: content_type.to_owned(), size, expires_at: Some(expires_at) })
    }

    /// Removes expired blobs and what broken-off writes have left, and gives their number.
    pub async fn sweep(&self) -> Result<usize, BlobError> {
        let (layout, now) = (self.layout.clone(), self.clock.now());
        let swept = tokio::task::spawn_blocking(move || sweep::sweep(&layout, now));
        swept.await.map_err(|e| BlobError::Failed(Box::new(e)))?
    }

    async fn open_blob(&self, key: &str) -> Result<OpenBlob, BlobError> {
        check_blob_key(key)?;
        let blob = file::open(&self.layout, key).await?;
        match blob.info.expires_at {
            Some(at) if at <= self.clock.now() => Err(BlobError::NotFound(key.to_owned())),
            _ => Ok(blob),
        }
    }

    fn issue(&self, key: &str, usage: Use, max: u64, keep: Duration) -> Result<BlobLink, BlobError> {
        check_blob_key(key)?;
        let expires_at = self.clock.now() + keep;
        let token = self.tokens.issue(&Claims::new(key, usage, max, expires_at))?;
        let url = format!("{}/blobs/{token}", self.public_url);
        Ok(BlobLink { url, expires_at })
    }

    /// Starts a sweep beside the caller's work when it is time for one.
    fn sweep_sometimes(&self) {
        let now = self.clock.now().as_millisecond();
        let due = self.next_sweep.load(Ordering::Relaxed);
        let taken = now >= due
            && self
                .next_sweep
                .compare_exchange(due, now + SWEEP_EVERY_MS, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !taken {
            return;
        }
        let blobs = self.clone();
        tokio::spawn(async move {
            if let Err(error) = blobs.sweep().await {
                tracing::warn!(%error, "expired blobs were not removed");
            }
        });
    }

    fn until(&self, keep: Option<Duration>) -> Option<Timestamp> {
        keep.map(|keep| self.clock.now() + keep)
    }
}

#[async_trait]
impl Blobs for DirectoryBlobs {
    async fn put(
        &self,
        key: &str,
        bytes: Bytes,
        content_type: &str,
        keep: Option<Duration>,
    ) -> Result<(), BlobError> {
        check_blob_key(key)?;
        let meta = Meta::new(key, content_type, self.until(keep));
        let mut draft = file::Draft::begin(&self.layout, meta).await?;
        draft.write(&bytes).await?;
        draft.finish().await?;
        self.sweep_sometimes();
        Ok(())
    }

    async fn get(&self, key: &str, max: u64) -> Result<Blob, BlobError> {
        self.open_blob(key).await?.read(max).await
    }

    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError> {
        Ok(self.open_blob(key).await?.info)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        check_blob_key(key)?;
        file::remove(&self.layout, key).await
    }

    async fn link(&self, key: &str, keep: Duration) -> Result<BlobLink, BlobError> {
        self.issue(key, Use::Read, 0, keep)
    }

    async fn upload_link(&self, key: &str, max: u64, keep: Duration) -> Result<BlobLink, BlobError> {
        self.issue(key, Use::Write, max, keep)
    }
}
