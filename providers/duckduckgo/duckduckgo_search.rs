//! `duckduckgo/duckduckgo_search`: the result page that DuckDuckGo serves to browsers without scripts.
//!
//! There is no API for web results; the page at html.duckduckgo.com takes a form with `q` and answers with
//! `div.result` blocks. Ads carry `result--ad`. What looks like a robot gets status 202 and a challenge.

use dom_query::Document;
use http::HeaderValue;
use http::header::USER_AGENT;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::DuckduckgoSearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute};
use crate::findings::{Findings, Hit};
use crate::upstream::{Vendor, base_url};

/// The most hits that are given.
const MOST: usize = 10;
/// The largest page that is read, in bytes.
const LARGEST: u64 = 2 * 1024 * 1024;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuckduckgoSearchArgs {
    /// What to search for. `site:example.com` keeps to one site, quotes keep words together.
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
}

/// Builds the tool.
pub fn duckduckgo_search(
    params: DuckduckgoSearchParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = DuckduckgoSearchArgs>, BuildError> {
    let mut page = base_url(&params.url)?;
    page.set_path(&format!("{}/", page.path().trim_end_matches('/')));
    Ok(DuckduckgoSearch { vendor: Vendor::new("duckduckgo", "DuckDuckGo", deps), page })
}

struct DuckduckgoSearch {
    vendor: Vendor,
    page: Url,
}

impl CallTool for DuckduckgoSearch {
    type Args = DuckduckgoSearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let request = self.vendor.http.post(self.page.clone()).max_response_bytes(LARGEST);
        let request = request.header(USER_AGENT, HeaderValue::from_static("Mozilla/5.0 (compatible; Haft)"));
        let answer = self.vendor.send(request.form(&[("q", &args.query)]), &[], cx).await?;
        if matches!(answer.status.as_u16(), 202 | 403) {
            return Err(answer.too_many());
        }
        let answer = answer.ok()?;
        let page = String::from_utf8_lossy(&answer.bytes).into_owned();
        match compute(move || read(&page)).await? {
            Page::Found(hits) => Ok(Findings { answer: None, hits }.output(&args.query, MOST)),
            Page::Challenge => Err(answer.too_many()),
            Page::Unknown => {
                Err(answer.not_understood("the page has no results and does not say that there are none"))
            }
        }
    }
}

enum Page {
    Found(Vec<Hit>),
    Challenge,
    Unknown,
}

fn read(html: &str) -> Page {
    let page = Document::from(html);
    let blocks = page.select("div.result");
    let hits: Vec<_> = blocks
        .iter()
        .filter(|block| !block.has_class("result--ad"))
        .filter_map(|block| {
            let link = block.select("a.result__a").first();
            let url = target(&link.attr("href")?)?;
            let text = block.select(".result__snippet").first().text().to_string();
            Some(Hit { title: link.text().to_string(), url, text, published: None })
        })
        .collect();
    if page.select(".anomaly-modal__title, #challenge-form").exists() {
        return Page::Challenge;
    }
    if hits.is_empty() && !page.select(".no-results, .result--no-result").exists() {
        return Page::Unknown;
    }
    Page::Found(hits)
}

/// Where a link of the page leads: it may pass through a counter that names the target as `uddg`.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com/").ok()?;
    let url = base.join(href).ok()?;
    let named = url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, value)| value.into_owned());
    named.or_else(|| Some(url.to_string())).filter(|url| url.starts_with("http"))
}
