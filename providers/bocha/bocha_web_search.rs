//! `bocha/bocha_web_search`: Bocha's web search.
//!
//! `POST /v1/web-search` with a bearer key; hits are in `data.webPages.value`, in the shape of Bing's API (open.bochaai.com,
//! "Web Search API"). 401 is a wrong key, 403 an empty balance, 429 too many calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::BochaWebSearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::findings::{Findings, Hit};
use crate::upstream::{Vendor, base_url, below};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BochaWebSearchArgs {
    /// What to search for.
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// Only pages published within this time. Left out: `noLimit`, which is best unless time matters.
    #[serde(default)]
    pub freshness: Freshness,
}

/// The age of pages.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Freshness {
    #[default]
    NoLimit,
    OneDay,
    OneWeek,
    OneMonth,
    OneYear,
}

/// Builds the tool.
pub fn bocha_web_search(
    params: BochaWebSearchParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = BochaWebSearchArgs>, BuildError> {
    Ok(BochaWebSearch {
        vendor: Vendor::new("bocha", "Bocha", deps),
        endpoint: below(&base_url(&params.url)?, &["v1", "web-search"]),
        params,
    })
}

struct BochaWebSearch {
    vendor: Vendor,
    endpoint: Url,
    params: BochaWebSearchParams,
}

impl CallTool for BochaWebSearch {
    type Args = BochaWebSearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(None, cx).await?;
        let BochaWebSearchParams { max_results, summary, .. } = &self.params;
        let body = json!({"query": args.query, "freshness": args.freshness, "summary": summary, "count": max_results});
        let request = self.vendor.http.post(self.endpoint.clone()).bearer(&key).json(&body);
        let answer = self.vendor.send(request, &[&key], cx).await?;
        if answer.status == 403 {
            return Err(answer.over_quota());
        }
        let answer = answer.ok()?;
        let found: Found = answer.json()?;
        match found.code.as_ref().map(Value::to_string).as_deref() {
            None | Some("200" | "\"200\"") => {}
            Some("401" | "\"401\"") => return Err(answer.key_refused()),
            Some("403" | "\"403\"") => return Err(answer.over_quota()),
            Some("429" | "\"429\"") => return Err(answer.too_many()),
            Some(_) => return Err(answer.failed()),
        }
        let pages = found.data.and_then(|data| data.web_pages).unwrap_or_default().value;
        let most = usize::try_from(*max_results).unwrap_or(10);
        let hits = pages.into_iter().map(Page::hit).collect();
        Ok(Findings { answer: None, hits }.output(&args.query, most))
    }
}

#[derive(Deserialize)]
struct Found {
    code: Option<Value>,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    web_pages: Option<WebPages>,
}

#[derive(Deserialize, Default)]
struct WebPages {
    #[serde(default)]
    value: Vec<Page>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: String,
    snippet: Option<String>,
    summary: Option<String>,
    date_published: Option<String>,
}

impl Page {
    fn hit(self) -> Hit {
        let text = self.summary.filter(|text| !text.is_empty()).or(self.snippet).unwrap_or_default();
        Hit { title: self.name, url: self.url, text, published: self.date_published }
    }
}
