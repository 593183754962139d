//! `document/to_markdown`: office documents, PDF and HTML as Markdown.

use std::sync::Arc;
use std::time::Duration;

use domain::ports::{BlobError, Blobs, upload_key};
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::{ToMarkdownParams, shared};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
    request_failed,
};
use crate::reading::Part;

/// The largest document that is read, in bytes.
const LARGEST: u64 = 20 * 1024 * 1024;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToMarkdownArgs {
    /// The address of the document, beginning with `http://` or `https://`. Either this or `upload_id`.
    #[schemars(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// The id of an uploaded document.
    #[schemars(length(min = 1, max = 64))]
    pub upload_id: Option<String>,
    /// The most characters to give. Left out: 20000.
    #[schemars(range(min = 500, max = 100_000))]
    #[serde(default = "default_max_chars")]
    pub max_chars: u32,
    /// The character to begin at, to read on in a long document. Left out: 0.
    #[serde(default)]
    pub start: u32,
}

fn default_max_chars() -> u32 {
    20_000
}

/// Builds the tool.
pub fn to_markdown(
    params: ToMarkdownParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = ToMarkdownArgs>, BuildError> {
    let timeout = u64::try_from(params.timeout_s).map(Duration::from_secs);
    let timeout = timeout.map_err(|_| BuildError::invalid_param("timeout_s", "must not be negative"))?;
    Ok(ToMarkdown { http: deps.http.clone(), blobs: Arc::clone(&deps.blobs), timeout })
}

struct ToMarkdown {
    http: egress::Client,
    blobs: Arc<dyn Blobs>,
    timeout: Duration,
}

impl CallTool for ToMarkdown {
    type Args = ToMarkdownArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let file = match (&args.url, &args.upload_id) {
            (Some(url), None) => self.fetched(url, cx).await?,
            (None, Some(id)) => self.uploaded(id, cx).await?,
            _ => return Err(invalid_argument("url", "or `upload_id` is needed, and not both")),
        };
        let (start, most) = (args.start, args.max_chars);
        compute(move || match shared::read(&file) {
            Ok(document) => output(&document, start, most),
            Err(refusal) => ToolOutput::failed(refusal),
        })
        .await
    }
}

impl ToMarkdown {
    async fn fetched(&self, url: &str, cx: &CallContext) -> Result<shared::File, ToolError> {
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| {
            invalid_argument("url", "is no whole address: write it as `https://example.com/report.docx`")
        })?;
        let request =
            self.http.get(url).timeout(self.timeout.min(cx.remaining())).max_response_bytes(LARGEST);
        let response = request.send().await.map_err(|error| request_failed(&error))?;
        if !response.status().is_success() {
            let body = "the document's server did not give it".to_owned();
            return Err(ToolError::Upstream { status: response.status().as_u16(), body });
        }
        let header = response.headers().get(CONTENT_TYPE);
        let content_type = header.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let url = response.url().clone();
        let bytes = response.bytes().await.map_err(|error| request_failed(&error))?;
        Ok(shared::File { bytes, content_type, url: Some(url) })
    }

    async fn uploaded(&self, id: &str, cx: &CallContext) -> Result<shared::File, ToolError> {
        let key = upload_key(&cx.account, id)
            .ok_or_else(|| invalid_argument("upload_id", "is no id of an upload"))?;
        match self.blobs.get(&key, LARGEST).await {
            Ok(blob) => {
                Ok(shared::File { bytes: blob.bytes, content_type: blob.info.content_type, url: None })
            }
            Err(BlobError::NotFound(_)) => Err(ToolError::NotFound { what: format!("the upload `{id}`") }),
            Err(BlobError::TooLarge { .. }) => {
                Err(ToolError::TooLarge { what: "the document".to_owned(), limit: LARGEST })
            }
            Err(error) => Err(ToolError::internal(error)),
        }
    }
}

fn output(document: &shared::Document, start: u32, most: u32) -> ToolOutput {
    let Part { text, total, next } = Part::of(&document.text, start, most);
    let mut told = match (text.trim().is_empty(), start) {
        (false, _) => text.clone(),
        (true, 0) => "(The document has no text. It may hold pictures only.)".to_owned(),
        (true, _) => "(nothing: the document ends before this character)".to_owned(),
    };
    if let Some(next) = next {
        told +=
            &format!("\n\n(The document goes on: {total} characters in all. Call again with start={next}.)");
    }
    for note in &document.notes {
        told += &format!("\n\n({note})");
    }
    let data = json!({
        "kind": document.kind, "text": text, "start": start, "total_chars": total, "next_start": next,
        "notes": document.notes,
    });
    ToolOutput::structured(told, data)
}
