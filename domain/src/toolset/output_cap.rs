//! Keeps results small enough to hand on: large content moves to blobs and leaves an expiring link.

use super::{Limits, Runtime};
use crate::{
    account::AccountId,
    error::ToolError,
    output::{Content, ToolOutput},
    ports::Blobs,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde_json::Value;

/// Moves content over the limits to blobs. Without a blob store, such a result is refused.
pub(super) async fn cap(
    mut output: ToolOutput,
    account: &AccountId,
    runtime: &Runtime,
) -> Result<ToolOutput, ToolError> {
    let limits = &runtime.limits;
    if total_size(&output) <= limits.inline_bytes {
        return Ok(output);
    }
    let structured = output.structured.as_ref().map_or(0, json_size);
    let sizes: Vec<usize> = output.content.iter().map(size_of).collect();
    let Some(blobs) = &runtime.blobs else {
        return Err(ToolError::TooLarge { what: "the result".into(), limit: limits.inline_bytes as u64 });
    };
    if structured > limits.inline_bytes {
        let bytes = output.structured.take().map(|v| v.to_string()).unwrap_or_default();
        let link = store(blobs.as_ref(), account, limits, bytes.into(), "application/json").await?;
        output.content.push(link);
    }
    let mut total = output.structured.as_ref().map_or(0, json_size) + sizes.iter().sum::<usize>();
    let mut largest_first: Vec<usize> = (0..sizes.len()).collect();
    largest_first.sort_by_key(|&i| std::cmp::Reverse(sizes[i]));
    for i in largest_first {
        if sizes[i] <= limits.inline_bytes && total <= limits.output_bytes {
            break;
        }
        if let Some((bytes, media_type)) = body_of(&output.content[i]) {
            output.content[i] = store(blobs.as_ref(), account, limits, bytes, &media_type).await?;
            total -= sizes[i];
        }
    }
    if total > limits.output_bytes {
        return Err(ToolError::TooLarge { what: "the result".into(), limit: limits.output_bytes as u64 });
    }
    Ok(output)
}

async fn store(
    blobs: &dyn Blobs,
    account: &AccountId,
    limits: &Limits,
    bytes: Bytes,
    media_type: &str,
) -> Result<Content, ToolError> {
    let name = format!("output-{}", uuid::Uuid::now_v7().simple());
    let key = format!("{account}/output/{name}");
    blobs.put(&key, bytes, media_type, Some(limits.link_keep)).await.map_err(ToolError::internal)?;
    let link = blobs.link(&key, limits.link_keep).await.map_err(ToolError::internal)?;
    Ok(Content::link(link.url, name, media_type))
}

/// The size of a result's inline content, in bytes.
pub(super) fn total_size(output: &ToolOutput) -> usize {
    output.structured.as_ref().map_or(0, json_size) + output.content.iter().map(size_of).sum::<usize>()
}

fn size_of(content: &Content) -> usize {
    match content {
        Content::Text { text, .. } => text.len(),
        Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
        Content::Resource { resource, .. } | Content::Unknown(resource) => {
            resource.iter().map(|(k, v)| k.len() + json_size(v)).sum()
        }
        Content::ResourceLink { uri, name, .. } => uri.len() + name.len(),
    }
}

/// The bytes that a block carries, with their media type; none for blocks that carry none.
fn body_of(content: &Content) -> Option<(Bytes, String)> {
    let decode = |data: &str| BASE64_STANDARD.decode(data).ok().map(Bytes::from);
    match content {
        Content::Text { text, .. } => Some((text.clone().into(), "text/plain; charset=utf-8".into())),
        Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type, .. } => {
            Some((decode(data)?, mime_type.clone()))
        }
        Content::Resource { resource, .. } => {
            let field = |name: &str| resource.get(name).and_then(Value::as_str);
            let media_type = field("mimeType").unwrap_or("application/octet-stream").to_owned();
            let bytes = match field("text") {
                Some(text) => text.to_owned().into(),
                None => decode(field("blob")?)?,
            };
            Some((bytes, media_type))
        }
        Content::ResourceLink { .. } | Content::Unknown(_) => None,
    }
}

/// About how many bytes a value has as JSON, without writing it.
pub(super) fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|v| json_size(v) + 1).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(k, v)| k.len() + 4 + json_size(v)).sum::<usize>(),
    }
}
