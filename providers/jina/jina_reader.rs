//! `jina/jina_reader`: pages read by the Jina Reader service, which runs their scripts.
//!
//! `POST / {url}` with `Accept: application/json`, a bearer key where there is one (jina.ai/reader, "Reader API").
//! 401 is a wrong key, 402 an empty balance, 422 an address that it cannot read, 451 one that it will not.

use http::{HeaderValue, header::ACCEPT};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::JinaReaderParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};
use crate::upstream::{Vendor, base_url};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JinaReaderArgs {
    /// The address of the page, beginning with `http://` or `https://`.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// The most characters to give. Left out: 20000.
    #[schemars(range(min = 500, max = 100_000))]
    #[serde(default = "default_max_chars")]
    pub max_chars: u32,
}

fn default_max_chars() -> u32 {
    20_000
}

/// Builds the tool.
pub fn jina_reader(
    params: JinaReaderParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = JinaReaderArgs>, BuildError> {
    Ok(JinaReader { vendor: Vendor::new("jina", "Jina", deps), endpoint: base_url(&params.url)? })
}

struct JinaReader {
    vendor: Vendor,
    endpoint: Url,
}

impl CallTool for JinaReader {
    type Args = JinaReaderArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let target = Url::parse(args.url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let target =
            target.filter(|url| url.username().is_empty() && url.password().is_none()).ok_or_else(|| {
                invalid_argument("url", "is not a whole public address such as `https://example.com/page`")
            })?;
        let key = self.vendor.stored(cx).await?.remove("api_key");
        let mut request = self.vendor.http.post(self.endpoint.clone());
        if let Some(key) = &key {
            request = request.bearer(key);
        }
        let request = request.header(ACCEPT, HeaderValue::from_static("application/json"));
        let request = request.json(&json!({"url": target.as_str()}));
        let secrets: Vec<_> = key.iter().collect();
        let answer = self.vendor.send(request, &secrets, cx).await?;
        if matches!(answer.status.as_u16(), 400 | 404 | 422 | 451) {
            return Ok(ToolOutput::failed(format!("Jina could not read the page: {}", answer.words())));
        }
        let read: Read = answer.ok()?.json()?;
        Ok(read.data.output(args.max_chars as usize))
    }
}

#[derive(Deserialize)]
struct Read {
    data: Page,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    content: String,
}

impl Page {
    fn output(self, most: usize) -> ToolOutput {
        let total = self.content.chars().count();
        let text: String = self.content.chars().take(most).collect();
        let truncated = total > most;
        let body = if text.trim().is_empty() { "(The page has no text.)" } else { &text };
        let more = if truncated {
            format!("\n\n(The page goes on: {total} characters in all. Raise `max_chars` to read more.)")
        } else {
            String::new()
        };
        let data = json!({
            "title": self.title, "url": self.url, "text": text, "total_chars": total, "truncated": truncated,
        });
        ToolOutput::structured(format!("# {}\n\n{body}{more}", self.title), data)
    }
}
