//! Pictures that a tool made: kept in the blob store, and handed back as an image or, where that would be too
//! large for an answer, as a link.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use domain::ports::Blobs;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::contract::{CallContext, Content, ToolDeps};

/// How long a picture is kept.
const KEPT: Duration = Duration::from_hours(24);
/// The largest picture that stands in the answer itself: as base64 it stays below what an answer may hold.
const LARGEST_INLINE: usize = 700 * 1024;

/// Keeps pictures.
#[derive(Clone)]
pub(crate) struct Album {
    blobs: Arc<dyn Blobs>,
}

/// A picture as a part of an answer.
pub(crate) struct Kept {
    /// The picture, or a link to it.
    pub(crate) content: Content,
    /// Where it is, as data.
    pub(crate) data: Value,
}

impl Album {
    pub(crate) fn new(deps: &ToolDeps) -> Self {
        Self { blobs: Arc::clone(&deps.blobs) }
    }

    /// Stores a picture. Where that fails it still is handed back: it may have cost money.
    pub(crate) async fn keep(&self, bytes: Bytes, media_type: &'static str, cx: &CallContext) -> Kept {
        let size = bytes.len();
        let link = match self.store(&bytes, media_type, cx).await {
            Ok(link) => Some(link),
            Err(error) => {
                tracing::warn!(%error, request_id = %cx.request_id, "a picture could not be stored");
                None
            }
        };
        let data = json!({
            "url": link.as_ref().map(|(url, _)| url),
            "expires_at": link.as_ref().map(|(_, until)| until.to_string()),
            "media_type": media_type,
            "bytes": size,
        });
        let content = match link {
            Some((url, _)) if size > LARGEST_INLINE => Content::link(url, "picture", media_type),
            _ => Content::image(BASE64_STANDARD.encode(&bytes), media_type),
        };
        Kept { content, data }
    }

    async fn store(
        &self,
        bytes: &Bytes,
        media_type: &str,
        cx: &CallContext,
    ) -> Result<(String, Timestamp), domain::ports::BlobError> {
        let key = format!("{}/picture/{}", cx.account, uuid::Uuid::now_v7().simple());
        self.blobs.put(&key, bytes.clone(), media_type, Some(KEPT)).await?;
        let link = self.blobs.link(&key, KEPT).await?;
        Ok((link.url, link.expires_at))
    }
}

/// The media type of a picture, told by its first bytes.
pub(crate) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Grey pixels as a PNG.
pub(crate) fn png_of_grey(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    png_of(png::ColorType::Grayscale, pixels, width, height)
}

/// Pixels of three bytes - red, green, blue - as a PNG.
pub(crate) fn png_of_rgb(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    png_of(png::ColorType::Rgb, pixels, width, height)
}

fn png_of(
    color: png::ColorType,
    pixels: &[u8],
    width: u32,
    height: u32,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
