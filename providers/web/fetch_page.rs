//! `web/fetch_page`: a page of the web as readable text.

use std::time::Duration;

use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::FetchPageParams;
use super::shared::{self, Page};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
    request_failed,
};
use crate::reading::Part;

/// The most that is read of a page, in bytes after decompression.
const LARGEST: u64 = 4 * 1024 * 1024;
/// How much of an error page is told.
const EXCERPT: usize = 300;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchPageArgs {
    /// The address of the page, beginning with `http://` or `https://`.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// The most characters to give. Left out: 20000.
    #[schemars(range(min = 500, max = 100_000))]
    #[serde(default = "default_max_chars")]
    pub max_chars: u32,
    /// The character to begin at, to read on in a long page. Left out: 0.
    #[serde(default)]
    pub start: u32,
}

fn default_max_chars() -> u32 {
    20_000
}

/// Builds the tool.
pub fn fetch_page(
    params: FetchPageParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = FetchPageArgs>, BuildError> {
    let timeout = u64::try_from(params.timeout_s).map(Duration::from_secs);
    let timeout = timeout.map_err(|_| BuildError::invalid_param("timeout_s", "must not be negative"))?;
    Ok(FetchPage { http: deps.http.clone(), timeout })
}

struct FetchPage {
    http: egress::Client,
    timeout: Duration,
}

impl CallTool for FetchPage {
    type Args = FetchPageArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let url = parse(&args.url)?;
        let answer = self.fetch(url, self.timeout.min(cx.remaining())).await?;
        let page = compute(move || shared::read(&answer)).await?;
        Ok(match page {
            Ok(page) => part(&page, args.start, args.max_chars),
            Err(refusal) => ToolOutput::failed(refusal),
        })
    }
}

impl FetchPage {
    async fn fetch(&self, url: Url, timeout: Duration) -> Result<shared::Answer, ToolError> {
        let accept =
            "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5";
        let response = self
            .http
            .get(url)
            .header(ACCEPT, HeaderValue::from_static(accept))
            .timeout(timeout)
            .max_response_bytes(LARGEST)
            .send()
            .await
            .map_err(|error| request_failed(&error))?;
        let status = response.status();
        let header = response.headers().get(CONTENT_TYPE);
        let content_type = header.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let url = response.url().clone();
        let body = response.bytes_capped().await.map_err(|error| request_failed(&error))?;
        let answer =
            shared::Answer { url, content_type, bytes: body.bytes.to_vec(), truncated: body.truncated };
        if status.is_success() {
            return Ok(answer);
        }
        let text =
            compute(move || shared::read(&answer)).await?.map_or_else(|_| String::new(), |page| page.text);
        Err(ToolError::Upstream { status: status.as_u16(), body: text.chars().take(EXCERPT).collect() })
    }
}

fn parse(text: &str) -> Result<Url, ToolError> {
    let wrong = |message: String| invalid_argument("url", message);
    let url = Url::parse(text.trim()).map_err(|error| {
        wrong(format!("is not a whole address ({error}): write it as `https://example.com/page`"))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(format!("has the scheme `{}`: only http and https can be read", url.scheme())));
    }
    Ok(url)
}

/// The part that was asked for, and how to read on.
fn part(page: &Page, start: u32, most: u32) -> ToolOutput {
    let Part { text, total, next } = Part::of(&page.text, start, most);
    let title = page
        .title
        .as_deref()
        .filter(|_| start == 0)
        .map_or_else(String::new, |title| format!("# {title}\n\n"));
    let body = if text.is_empty() { "(nothing: the page ends before this character)" } else { &text };
    let more = match next {
        Some(next) => {
            format!("\n\n(The page goes on: {total} characters in all. Call again with start={next}.)")
        }
        None if page.truncated => "\n\n(The page was too large to be read to its end.)".to_owned(),
        None => String::new(),
    };
    let data = json!({
        "url": page.url.as_str(),
        "title": page.title,
        "kind": page.kind.as_str(),
        "charset": page.charset,
        "text": text,
        "start": start,
        "total_chars": total,
        "next_start": next,
        "truncated": page.truncated,
    });
    ToolOutput::structured(format!("{title}{body}{more}"), data)
}
