//! A blob's file: one line of JSON that says what it is, then the bytes.

use crate::layout::{self, Layout};
use bytes::Bytes;
use domain::ports::{Blob, BlobError, BlobInfo};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{io, path::PathBuf, sync::Arc};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufReader},
};

/// More than the first line ever has.
pub(crate) const MAX_META_BYTES: u64 = 8192;
/// The longest media type that is kept.
const MAX_CONTENT_TYPE: usize = 1024;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// The version of this form.
    haft_blob: u8,
    pub(crate) key: String,
    content_type: String,
    /// In milliseconds.
    expires: Option<i64>,
}

impl Meta {
    pub(crate) fn new(key: &str, content_type: &str, expires_at: Option<Timestamp>) -> Self {
        Self {
            haft_blob: 1,
            key: key.to_owned(),
            content_type: content_type.chars().take(MAX_CONTENT_TYPE).collect(),
            expires: expires_at.map(Timestamp::as_millisecond),
        }
    }

    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|meta: &Self| meta.haft_blob == 1)
    }

    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|at| at <= now.as_millisecond())
    }
}

/// A blob whose bytes are still to be read.
#[derive(Debug)]
pub struct OpenBlob {
    /// What is stored of it.
    pub info: BlobInfo,
    /// Its key, whose last part is a good name for a download.
    pub key: String,
    /// Stands at the first byte, and ends with the last.
    pub file: File,
}

impl OpenBlob {
    /// Reads all of it, refusing more than `max` bytes.
    pub async fn read(mut self, max: u64) -> Result<Blob, BlobError> {
        let too_large = BlobError::TooLarge { limit: max };
        if self.info.size > max {
            return Err(too_large);
        }
        let Ok(size) = usize::try_from(self.info.size) else {
            return Err(too_large);
        };
        let mut bytes = Vec::with_capacity(size);
        let read = self.file.read_to_end(&mut bytes).await;
        read.map_err(|e| BlobError::Failed(Box::new(e)))?;
        if bytes.len() != size {
            return Err(BlobError::Failed("the blob's file changed while it was read".into()));
        }
        Ok(Blob { info: self.info, bytes: Bytes::from(bytes) })
    }
}

/// Opens the file of a key.
pub(crate) async fn open(layout: &Layout, key: &str) -> Result<OpenBlob, BlobError> {
    let path = layout.blob(key);
    let file = File::open(&path).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BlobError::NotFound(key.to_owned()),
        _ => layout.fault(error),
    })?;
    let length = file.metadata().await.map_err(|e| layout.fault(e))?.len();
    let mut line = Vec::new();
    let mut reader = BufReader::new(file);
    (&mut reader).take(MAX_META_BYTES).read_until(b'\n', &mut line).await.map_err(|e| layout.fault(e))?;
    let corrupt = || BlobError::Failed(format!("{} is not a blob's file", path.display()).into());
    let meta = Meta::parse(&line).filter(|meta| meta.key == key);
    let meta = meta.ok_or_else(corrupt)?;
    let start = line.len() as u64;
    let mut file = reader.into_inner();
    file.seek(io::SeekFrom::Start(start)).await.map_err(|e| layout.fault(e))?;
    let expires_at = meta.expires.map(Timestamp::from_millisecond).transpose();
    Ok(OpenBlob {
        info: BlobInfo {
            content_type: meta.content_type,
            size: length.saturating_sub(start),
            expires_at: expires_at.map_err(|_| corrupt())?,
        },
        key: meta.key,
        file,
    })
}

/// Removes the file of a key; it may be gone already.
pub(crate) async fn remove(layout: &Layout, key: &str) -> Result<(), BlobError> {
    match tokio::fs::remove_file(layout.blob(key)).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(layout.fault(error)),
        _ => Ok(()),
    }
}

/// A blob that is being written. Unless finished, it leaves nothing.
pub(crate) struct Draft {
    layout: Arc<Layout>,
    key: String,
    path: PathBuf,
    file: File,
    finished: bool,
}

impl Draft {
    pub(crate) async fn begin(layout: &Arc<Layout>, meta: Meta) -> Result<Self, BlobError> {
        let path = layout.new_draft()?;
        let options: tokio::fs::OpenOptions = layout::new_private_file().into();
        let file = options.open(&path).await.map_err(|e| layout.fault(e))?;
        let mut line = serde_json::to_vec(&meta).map_err(|e| BlobError::Failed(Box::new(e)))?;
        line.push(b'\n');
        let mut draft = Self { layout: layout.clone(), key: meta.key, path, file, finished: false };
        draft.write(&line).await?;
        Ok(draft)
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        let written = self.file.write_all(bytes).await;
        written.map_err(|e| self.layout.fault(e))
    }

    /// Makes it the blob of its key, on the disk before any reader sees it.
    pub(crate) async fn finish(mut self) -> Result<(), BlobError> {
        let fault = |e| self.layout.fault(e);
        self.file.flush().await.map_err(fault)?;
        self.file.sync_all().await.map_err(fault)?;
        let target = self.layout.blob(&self.key);
        if let Some(directory) = target.parent() {
            layout::make_private(directory).map_err(fault)?;
        }
        tokio::fs::rename(&self.path, &target).await.map_err(fault)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "a broken-off write was not removed");
        }
    }
}
