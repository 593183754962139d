//! `wikipedia/wikipedia_search`: introductions of articles, by the MediaWiki Action API.
//!
//! One request: `generator=search` with `prop=extracts|info` (mediawiki.org, "API:Search" and
//! "Extension:TextExtracts"). Failures come with status 200 and `error: {code, info}`.

use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::WikipediaSearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::findings::{Findings, Hit};
use crate::upstream::{Vendor, base_url};

/// The most articles that are given.
const MOST: usize = 3;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WikipediaSearchArgs {
    /// The name of the article, or words that it holds, in the language of this Wikipedia.
    #[schemars(length(min = 1, max = 300))]
    pub query: String,
}

/// Builds the tool.
pub fn wikipedia_search(
    params: WikipediaSearchParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = WikipediaSearchArgs>, BuildError> {
    let language = params.language.trim().to_ascii_lowercase();
    let is_code = (2..=20).contains(&language.len())
        && language.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !language.starts_with('-')
        && !language.ends_with('-');
    if !is_code {
        return Err(BuildError::invalid_param("language", "is not a language code such as `en` or `zh`"));
    }
    let api = base_url(&params.url.replace("{language}", &language))?;
    Ok(WikipediaSearch { vendor: Vendor::new("wikipedia", "Wikipedia", deps), api })
}

struct WikipediaSearch {
    vendor: Vendor,
    api: Url,
}

impl CallTool for WikipediaSearch {
    type Args = WikipediaSearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let request = self.vendor.http.get(self.api.clone()).query(&[
            ("action", "query"),
            ("format", "json"),
            ("formatversion", "2"),
            ("generator", "search"),
            ("gsrsearch", &args.query),
            ("gsrlimit", &MOST.to_string()),
            ("prop", "extracts|info"),
            ("exintro", "1"),
            ("explaintext", "1"),
            ("exlimit", "max"),
            ("inprop", "url"),
            ("redirects", "1"),
        ]);
        let answer = self.vendor.send(request, &[], cx).await?.ok()?;
        let found: Found = answer.json()?;
        match found.error {
            Some(error) if error.code == "ratelimited" || error.code == "maxlag" => Err(answer.too_many()),
            Some(_) => Err(answer.failed()),
            None => Ok(found.query.unwrap_or_default().findings().output(&args.query, MOST)),
        }
    }
}

#[derive(Deserialize)]
struct Found {
    error: Option<Refused>,
    query: Option<Pages>,
}

#[derive(Deserialize)]
struct Refused {
    code: String,
}

#[derive(Deserialize, Default)]
struct Pages {
    #[serde(default)]
    pages: Vec<Article>,
}

#[derive(Deserialize)]
struct Article {
    title: String,
    #[serde(default)]
    index: i64,
    #[serde(default)]
    extract: String,
    #[serde(default)]
    fullurl: String,
}

impl Pages {
    fn findings(mut self) -> Findings {
        // The API gives pages by their id; `index` is their rank.
        self.pages.sort_by_key(|page| page.index);
        let hit =
            |page: Article| Hit { title: page.title, url: page.fullurl, text: page.extract, published: None };
        Findings { answer: None, hits: self.pages.into_iter().map(hit).collect() }
    }
}
