//! `searxng/searxng_search`: a SearXNG instance.
//!
//! `GET /search?format=json` (docs.searxng.org, "Search API"). An instance whose settings do not list the format
//! answers 403; its limiter answers 429.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::SearxngSearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::findings::{Findings, Hit};
use crate::upstream::{Vendor, base_url, below};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearxngSearchArgs {
    /// What to search for.
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// What kind of pages to look for. Left out: `general`.
    #[serde(default)]
    pub category: Category,
    /// Only pages published within this time.
    pub time_range: Option<TimeRange>,
    /// Which page of results. Left out: 1.
    #[schemars(range(min = 1, max = 20))]
    #[serde(default = "first")]
    pub page: u8,
}

fn first() -> u8 {
    1
}

/// A kind of pages.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Category {
    #[default]
    General,
    News,
    Science,
    It,
}

impl Category {
    const fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::News => "news",
            Self::Science => "science",
            Self::It => "it",
        }
    }
}

/// The age of pages.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum TimeRange {
    Day,
    Month,
    Year,
}

impl TimeRange {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// Builds the tool.
pub fn searxng_search(
    params: SearxngSearchParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = SearxngSearchArgs>, BuildError> {
    Ok(SearxngSearch {
        vendor: Vendor::new("searxng", "SearXNG", deps),
        endpoint: below(&base_url(&params.url)?, &["search"]),
        params,
    })
}

struct SearxngSearch {
    vendor: Vendor,
    endpoint: Url,
    params: SearxngSearchParams,
}

impl CallTool for SearxngSearch {
    type Args = SearxngSearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let page = args.page.to_string();
        let mut query = vec![
            ("q", args.query.as_str()),
            ("format", "json"),
            ("categories", args.category.as_str()),
            ("pageno", &page),
        ];
        query.extend(self.params.language.as_deref().map(|language| ("language", language)));
        query.extend(self.params.engines.as_deref().map(|engines| ("engines", engines)));
        query.extend(args.time_range.map(|range| ("time_range", range.as_str())));
        let request = self.vendor.http.get(self.endpoint.clone()).query(&query);
        let answer = self.vendor.send(request, &[], cx).await?;
        if answer.status == 403 {
            let body = "the instance does not give JSON: add `json` to `search.formats` in its settings.yml";
            return Err(ToolError::Upstream { status: 403, body: body.to_owned() });
        }
        let found: Found = answer.ok()?.json()?;
        let most = usize::try_from(self.params.max_results).unwrap_or(10);
        Ok(found.findings().output(&args.query, most))
    }
}

#[derive(Deserialize)]
struct Found {
    results: Vec<Page>,
    #[serde(default)]
    answers: Vec<Value>,
    #[serde(default)]
    infoboxes: Vec<Infobox>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    content: Option<String>,
    #[serde(rename = "publishedDate")]
    published_date: Option<String>,
}

#[derive(Deserialize)]
struct Infobox {
    content: Option<String>,
}

impl Found {
    fn findings(self) -> Findings {
        // Answers were texts, and are objects since 2024.
        let told =
            |answer: &Value| answer.as_str().or_else(|| answer.get("answer")?.as_str()).map(str::to_owned);
        let answer = self.answers.iter().find_map(told);
        let answer = answer.or_else(|| self.infoboxes.into_iter().find_map(|infobox| infobox.content));
        let hit = |page: Page| Hit {
            title: page.title,
            url: page.url,
            text: page.content.unwrap_or_default(),
            published: page.published_date,
        };
        Findings { answer, hits: self.results.into_iter().map(hit).collect() }
    }
}
