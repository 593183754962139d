//! `brave/brave_search`: Brave's web search.
//!
//! `GET /res/v1/web/search` with `X-Subscription-Token` (api-dashboard.search.brave.com, "Web search" and "Rate
//! limiting"). A wrong key is 401 or 422 `SUBSCRIPTION_TOKEN_INVALID`; 429 is `RATE_LIMITED` or `QUOTA_LIMITED`.

use http::{HeaderName, HeaderValue, header::ACCEPT};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::BraveSearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::findings::{Findings, Hit};
use crate::upstream::{Answer, Vendor, base_url, below};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BraveSearchArgs {
    /// What to search for, at most 400 characters and 50 words. `site:example.com` keeps to one site.
    #[schemars(length(min = 1, max = 400))]
    pub query: String,
    /// Only pages found within this time.
    pub freshness: Option<Freshness>,
}

/// The age of pages.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Freshness {
    Day,
    Week,
    Month,
    Year,
}

impl Freshness {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "pd",
            Self::Week => "pw",
            Self::Month => "pm",
            Self::Year => "py",
        }
    }
}

/// Builds the tool.
pub fn brave_search(
    params: BraveSearchParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = BraveSearchArgs>, BuildError> {
    Ok(BraveSearch {
        vendor: Vendor::new("brave", "Brave", deps),
        endpoint: below(&base_url(&params.url)?, &["res", "v1", "web", "search"]),
        params,
    })
}

struct BraveSearch {
    vendor: Vendor,
    endpoint: Url,
    params: BraveSearchParams,
}

impl CallTool for BraveSearch {
    type Args = BraveSearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(None, cx).await?;
        let count = self.params.max_results.to_string();
        let mut query = vec![
            ("q", args.query.as_str()),
            ("count", &count),
            ("safesearch", self.params.safesearch.as_str()),
            ("text_decorations", "false"),
            ("result_filter", "web"),
        ];
        query.extend(self.params.country.as_deref().map(|country| ("country", country)));
        query.extend(self.params.search_language.as_deref().map(|language| ("search_lang", language)));
        query.extend(args.freshness.map(|freshness| ("freshness", freshness.as_str())));
        let request = self.vendor.http.get(self.endpoint.clone()).query(&query);
        let request = request.header(ACCEPT, HeaderValue::from_static("application/json"));
        let request = request.secret_header(HeaderName::from_static("x-subscription-token"), &key);
        let answer = self.vendor.send(request, &[&key], cx).await?;
        match code(&answer).as_deref() {
            Some("SUBSCRIPTION_TOKEN_INVALID") => return Err(answer.key_refused()),
            Some("QUOTA_LIMITED") => return Err(answer.over_quota()),
            _ => {}
        }
        let found: Found = answer.ok()?.json()?;
        let hit = |hit: Page| Hit {
            title: hit.title,
            url: hit.url,
            text: hit.description,
            published: hit.page_age,
        };
        let hits = found.web.unwrap_or_default().results.into_iter().map(hit).collect();
        let most = usize::try_from(self.params.max_results).unwrap_or(10);
        Ok(Findings { answer: None, hits }.output(&args.query, most))
    }
}

/// The code of a failure; none when there is none.
fn code(answer: &Answer) -> Option<String> {
    if answer.status.is_success() {
        return None;
    }
    let body: Value = serde_json::from_slice(&answer.bytes).ok()?;
    body.pointer("/error/code").and_then(Value::as_str).map(str::to_owned)
}

#[derive(Deserialize)]
struct Found {
    web: Option<Web>,
}

#[derive(Deserialize, Default)]
struct Web {
    #[serde(default)]
    results: Vec<Page>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    description: String,
    page_age: Option<String>,
}
