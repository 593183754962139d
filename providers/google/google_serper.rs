//! `google/google_serper`: Google through the Serper service.
//!
//! `POST /search {q}` with `X-API-KEY` (serper.dev, "Playground" and "API key" pages). A wrong key is answered with
//! 403, used-up credits with 400 `Not enough credits`.

use http::HeaderName;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::GoogleSerperParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::findings::{Findings, Hit};
use crate::upstream::{Vendor, base_url, below};

/// The most hits that are given.
const MOST: usize = 10;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoogleSerperArgs {
    /// What to search for, as one would type it into Google.
    #[schemars(length(min = 1, max = 1000))]
    pub query: String,
}

/// Builds the tool.
pub fn google_serper(
    params: GoogleSerperParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = GoogleSerperArgs>, BuildError> {
    Ok(GoogleSerper { vendor: Vendor::new("google", "Serper", deps), base: base_url(&params.url)? })
}

struct GoogleSerper {
    vendor: Vendor,
    base: Url,
}

impl CallTool for GoogleSerper {
    type Args = GoogleSerperArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(None, cx).await?;
        let request = self.vendor.http.post(below(&self.base, &["search"]));
        let request = request.secret_header(HeaderName::from_static("x-api-key"), &key);
        let request = request.json(&json!({"q": args.query, "num": MOST}));
        let answer = self.vendor.send(request, &[&key], cx).await?;
        if answer.status == 400 && answer.words().to_lowercase().contains("credits") {
            return Err(answer.over_quota());
        }
        let found: Found = answer.ok()?.json()?;
        Ok(found.findings().output(&args.query, MOST))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    answer_box: Option<AnswerBox>,
    knowledge_graph: Option<KnowledgeGraph>,
    #[serde(default)]
    organic: Vec<Organic>,
}

#[derive(Deserialize)]
struct AnswerBox {
    answer: Option<String>,
    snippet: Option<String>,
}

#[derive(Deserialize)]
struct KnowledgeGraph {
    title: Option<String>,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Organic {
    #[serde(default)]
    title: String,
    #[serde(default)]
    link: String,
    #[serde(default)]
    snippet: String,
    date: Option<String>,
}

impl Found {
    fn findings(self) -> Findings {
        let known = self.knowledge_graph.and_then(|known| {
            let description = known.description?;
            Some(known.title.map_or_else(|| description.clone(), |title| format!("{title}: {description}")))
        });
        let answer = self.answer_box.and_then(|found| found.answer.or(found.snippet)).or(known);
        let hit =
            |hit: Organic| Hit { title: hit.title, url: hit.link, text: hit.snippet, published: hit.date };
        Findings { answer, hits: self.organic.into_iter().map(hit).collect() }
    }
}
