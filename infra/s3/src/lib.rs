//! The [`Blobs`] port over an S3 bucket.
//!
//! Expiry stands in an object's metadata and is checked on every read; deleting is the bucket's lifecycle's
//! part. Links are presigned. Two things differ from what a directory can do: a link signed by a role's
//! temporary credentials ends with those, perhaps before its own time; and S3 cannot refuse an upload for its
//! size, so `max` of an upload link is kept by whoever reads: [`Blobs::get`] refuses what is larger before it
//! reads any of it.
//!
//! The role needs `s3:ListBucket` besides reading: without it S3 says "forbidden" of what is not there.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_s3::{
    Client,
    config::{RequestChecksumCalculation, retry::RetryConfig, timeout::TimeoutConfig},
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
    presigning::PresigningConfig,
    primitives::ByteStream,
};
use bytes::Bytes;
use domain::ports::{Blob, BlobError, BlobInfo, BlobLink, Blobs, Clock, SystemClock, check_blob_key};
use jiff::Timestamp;
use std::{collections::HashMap, sync::Arc, time::Duration};

/// The metadata that holds an object's expiry, in milliseconds.
const EXPIRES: &str = "haft-expires";
/// The longest time that S3 lets a presigned address work.
const LONGEST_LINK: Duration = Duration::from_hours(7 * 24);
/// How long the connection may take; the transfer itself takes as long as it takes.
const CONNECT: Duration = Duration::from_secs(3);

/// Blobs in a bucket.
#[derive(Clone)]
pub struct S3Blobs {
    client: Client,
    bucket: Arc<str>,
    clock: Arc<dyn Clock>,
}

impl S3Blobs {
    /// The blobs of this bucket. Nothing is sent before the first use.
    pub fn new(config: &SdkConfig, bucket: &str) -> Self {
        Self::with_clock(config, bucket, Arc::new(SystemClock))
    }

    /// The same, going by another clock.
    pub fn with_clock(config: &SdkConfig, bucket: &str, clock: Arc<dyn Clock>) -> Self {
        let timeouts =
            TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(Duration::from_secs(20));
        let config = aws_sdk_s3::config::Builder::from(config)
            // An endpoint that is named is a server of another kind, which has no host per bucket.
            .force_path_style(config.endpoint_url().is_some())
            // A stranger with a presigned address sends the bytes alone, and no checksum of ours.
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .retry_config(RetryConfig::standard().with_max_attempts(4))
            .timeout_config(timeouts.build());
        Self { client: Client::from_conf(config.build()), bucket: bucket.into(), clock }
    }

    /// What is known of an object, unless it has expired.
    fn info_of(
        &self,
        key: &str,
        content_type: Option<String>,
        size: Option<i64>,
        metadata: Option<HashMap<String, String>>,
    ) -> Result<BlobInfo, BlobError> {
        let expires = metadata.and_then(|m| m.get(EXPIRES)?.parse().ok());
        let expires_at = expires.and_then(|at| Timestamp::from_millisecond(at).ok());
        if expires_at.is_some_and(|at| at <= self.clock.now()) {
            return Err(BlobError::NotFound(key.to_owned()));
        }
        Ok(BlobInfo {
            content_type: content_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
            size: size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0),
            expires_at,
        })
    }

    fn presigning(&self, keep: Duration) -> Result<(PresigningConfig, Timestamp), BlobError> {
        let keep = keep.clamp(Duration::from_secs(1), LONGEST_LINK);
        let config = PresigningConfig::expires_in(keep).map_err(|e| BlobError::Failed(Box::new(e)))?;
        Ok((config, self.clock.now() + keep))
    }

    /// The port's error for a failed request.
    fn fault<E, R>(&self, key: &str, error: SdkError<E, R>) -> BlobError
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        let bucket = &self.bucket;
        match error.code() {
            Some("NoSuchKey" | "NotFound") => BlobError::NotFound(key.to_owned()),
            Some("NoSuchBucket") => BlobError::Failed(
                format!("the bucket `{bucket}` does not exist: create it, or correct its name").into(),
            ),
            Some("AccessDenied") => BlobError::ReadOnly(format!(
                "the bucket `{bucket}` may not be used so by this role: {}",
                error.message().unwrap_or("no reason given")
            )),
            _ => BlobError::Failed(DisplayErrorContext(error).to_string().into()),
        }
    }
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn put(
        &self,
        key: &str,
        bytes: Bytes,
        content_type: &str,
        keep: Option<Duration>,
    ) -> Result<(), BlobError> {
        check_blob_key(key)?;
        let expires = keep.map(|keep| (self.clock.now() + keep).as_millisecond().to_string());
        let request = self
            .client
            .put_object()
            .bucket(&*self.bucket)
            .key(key)
            .content_type(content_type)
            .set_metadata(expires.map(|at| HashMap::from([(EXPIRES.to_owned(), at)])))
            .body(ByteStream::from(bytes));
        request.send().await.map(drop).map_err(|e| self.fault(key, e))
    }

    async fn get(&self, key: &str, max: u64) -> Result<Blob, BlobError> {
        check_blob_key(key)?;
        let request = self.client.get_object().bucket(&*self.bucket).key(key);
        let object = request.send().await.map_err(|e| self.fault(key, e))?;
        let info = self.info_of(key, object.content_type, object.content_length, object.metadata)?;
        if info.size > max {
            return Err(BlobError::TooLarge { limit: max });
        }
        let read = object.body.collect().await.map_err(|e| BlobError::Failed(Box::new(e)))?;
        let bytes = read.into_bytes();
        if bytes.len() as u64 != info.size {
            return Err(BlobError::Failed("the object ended before its announced size".into()));
        }
        Ok(Blob { info, bytes })
    }

    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError> {
        check_blob_key(key)?;
        let request = self.client.head_object().bucket(&*self.bucket).key(key);
        let head = request.send().await.map_err(|e| self.fault(key, e))?;
        self.info_of(key, head.content_type, head.content_length, head.metadata)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        check_blob_key(key)?;
        let request = self.client.delete_object().bucket(&*self.bucket).key(key);
        match request.send().await.map_err(|e| self.fault(key, e)) {
            Err(BlobError::NotFound(_)) => Ok(()),
            other => other.map(drop),
        }
    }

    async fn link(&self, key: &str, keep: Duration) -> Result<BlobLink, BlobError> {
        check_blob_key(key)?;
        let (presigning, expires_at) = self.presigning(keep)?;
        let request = self.client.get_object().bucket(&*self.bucket).key(key);
        let signed = request.presigned(presigning).await.map_err(|e| self.fault(key, e))?;
        Ok(BlobLink { url: signed.uri().to_owned(), expires_at })
    }

    async fn upload_link(&self, key: &str, _max: u64, keep: Duration) -> Result<BlobLink, BlobError> {
        check_blob_key(key)?;
        let (presigning, expires_at) = self.presigning(keep)?;
        let request = self.client.put_object().bucket(&*self.bucket).key(key);
        let signed = request.presigned(presigning).await.map_err(|e| self.fault(key, e))?;
        Ok(BlobLink { url: signed.uri().to_owned(), expires_at })
    }
}
