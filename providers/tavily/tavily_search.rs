//! `tavily/tavily_search`: Tavily's search.
//!
//! `POST /search` with a bearer key (docs.tavily.com, "Tavily Search"). 401 is a wrong key, 429 too many calls, 432
//! and 433 a used-up plan or pay-as-you-go limit.

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::TavilySearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::findings::{Findings, Hit};
use crate::upstream::{Vendor, base_url, below};

/// The most sites that may be listed.
const MOST_SITES: usize = 100;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TavilySearchArgs {
    /// The question or words to search for, at most 400 characters.
    #[schemars(length(min = 1, max = 400))]
    pub query: String,
    /// Where to look. Left out: `general`.
    #[serde(default)]
    pub topic: Topic,
    /// Only pages published within this time.
    pub time_range: Option<TimeRange>,
}

/// Where to look.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Topic {
    #[default]
    General,
    News,
    Finance,
}

/// The age of pages.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum TimeRange {
    Day,
    Week,
    Month,
    Year,
}

/// Builds the tool.
pub fn tavily_search(
    params: TavilySearchParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = TavilySearchArgs>, BuildError> {
    Ok(TavilySearch {
        vendor: Vendor::new("tavily", "Tavily", deps),
        endpoint: below(&base_url(&params.url)?, &["search"]),
        most: usize::try_from(params.max_results).unwrap_or(5),
        settings: json!({
            "max_results": params.max_results,
            "search_depth": params.search_depth.as_str(),
            "include_answer": params.include_answer,
            "include_domains": sites("include_domains", params.include_domains)?,
            "exclude_domains": sites("exclude_domains", params.exclude_domains)?,
        }),
        api_key: params.api_key,
    })
}

struct TavilySearch {
    vendor: Vendor,
    endpoint: Url,
    most: usize,
    settings: Value,
    api_key: Option<SecretString>,
}

impl CallTool for TavilySearch {
    type Args = TavilySearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(self.api_key.as_ref(), cx).await?;
        let mut body = self.settings.clone();
        body["query"] = json!(args.query);
        body["topic"] = json!(args.topic);
        if let Some(range) = args.time_range {
            body["time_range"] = json!(range);
        }
        let request = self.vendor.http.post(self.endpoint.clone()).bearer(&key).json(&body);
        let answer = self.vendor.send(request, &[&key], cx).await?;
        if matches!(answer.status.as_u16(), 432 | 433) {
            return Err(answer.over_quota());
        }
        let found: Found = answer.ok()?.json()?;
        let hit = |hit: Page| Hit {
            title: hit.title,
            url: hit.url,
            text: hit.content,
            published: hit.published_date,
        };
        let findings = Findings { answer: found.answer, hits: found.results.into_iter().map(hit).collect() };
        Ok(findings.output(&args.query, self.most))
    }
}

/// Names of sites, separated by commas.
fn sites(param: &str, text: Option<String>) -> Result<Vec<String>, BuildError> {
    let text = text.unwrap_or_default();
    let sites: Vec<_> =
        text.split(',').map(str::trim).filter(|site| !site.is_empty()).map(str::to_owned).collect();
    if sites.len() > MOST_SITES {
        return Err(BuildError::invalid_param(param, format!("lists more than {MOST_SITES} sites")));
    }
    Ok(sites)
}

#[derive(Deserialize)]
struct Found {
    answer: Option<String>,
    results: Vec<Page>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    content: String,
    published_date: Option<String>,
}
