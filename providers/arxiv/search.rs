//! `arxiv/search`: papers, by arXiv's API.
//!
//! `GET /query` answers with an Atom feed (info.arxiv.org/help/api/user-manual). A refusal is a feed of one entry
//! titled `Error`. The service asks for at most one request in three seconds and answers 503 or 429 beyond that.

use quick_xml::de::from_str;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::SearchParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute};
use crate::findings::cut;
use crate::upstream::{Vendor, base_url, below};

/// The largest answer that is read, in bytes.
const LARGEST: u64 = 2 * 1024 * 1024;
/// The longest abstract that is given, in characters.
const LONGEST_ABSTRACT: usize = 2_500;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchArgs {
    /// Words that the paper holds, or an expression such as `ti:"attention is all you need" AND au:vaswani`.
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// In which order. Left out: `relevance`.
    #[serde(default)]
    pub sort_by: SortBy,
    /// How many papers to skip, to read on. Left out: 0.
    #[schemars(range(max = 1000))]
    #[serde(default)]
    pub start: u16,
}

/// An order of papers.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum SortBy {
    #[default]
    Relevance,
    Newest,
}

/// Builds the tool.
pub fn search(params: SearchParams, deps: &ToolDeps) -> Result<impl CallTool<Args = SearchArgs>, BuildError> {
    Ok(Search {
        vendor: Vendor::new("arxiv", "arXiv", deps),
        endpoint: below(&base_url(&params.url)?, &["query"]),
        most: params.max_results.to_string(),
    })
}

struct Search {
    vendor: Vendor,
    endpoint: Url,
    most: String,
}

impl CallTool for Search {
    type Args = SearchArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let expression = expression(&args.query);
        let start = args.start.to_string();
        let sort = match args.sort_by {
            SortBy::Relevance => "relevance",
            SortBy::Newest => "submittedDate",
        };
        let request = self.vendor.http.get(self.endpoint.clone()).max_response_bytes(LARGEST).query(&[
            ("search_query", expression.as_str()),
            ("start", &start),
            ("max_results", &self.most),
            ("sortBy", sort),
            ("sortOrder", "descending"),
        ]);
        let answer = self.vendor.send(request, &[], cx).await?;
        if answer.status == 503 {
            return Err(answer.too_many());
        }
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        let feed = compute(move || from_str::<Feed>(&text)).await?;
        let refused =
            feed.as_ref().ok().and_then(|feed| feed.entry.iter().find(|entry| entry.title == "Error"));
        if let Some(refused) = refused {
            return Ok(ToolOutput::failed(format!(
                "arXiv cannot search for this: {}",
                cut(&refused.summary, 300)
            )));
        }
        let answer = answer.ok()?;
        let feed = feed.map_err(|error| answer.not_understood(&error.to_string()))?;
        Ok(feed.output(&args.query, args.start))
    }
}

/// The query as an expression of the API: plain words must all occur.
fn expression(query: &str) -> String {
    const FIELDS: [&str; 8] = ["ti:", "au:", "abs:", "co:", "jr:", "cat:", "rn:", "all:"];
    let is_expression = FIELDS.iter().any(|field| query.contains(field));
    if is_expression {
        return query.to_owned();
    }
    let plain = query.replace(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '.' | '\''), " ");
    let words: Vec<_> = plain.split_whitespace().map(|word| format!("all:{word}")).collect();
    if words.is_empty() { query.to_owned() } else { words.join(" AND ") }
}

#[derive(Deserialize)]
#[serde(rename = "feed")]
struct Feed {
    /// Every Atom feed has one; what lacks it is something else.
    #[serde(rename = "id")]
    _id: String,
    #[serde(default)]
    entry: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    published: String,
    #[serde(default)]
    author: Vec<Author>,
    #[serde(default)]
    category: Vec<Category>,
}

#[derive(Deserialize)]
struct Author {
    name: String,
}

#[derive(Deserialize)]
struct Category {
    #[serde(rename = "@term")]
    term: String,
}

impl Feed {
    fn output(self, query: &str, start: u16) -> ToolOutput {
        let mut lines = Vec::new();
        let mut papers = Vec::new();
        for entry in self.entry {
            let title = entry.title.split_whitespace().collect::<Vec<_>>().join(" ");
            let summary =
                cut(&entry.summary.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_ABSTRACT);
            let authors: Vec<_> = entry.author.into_iter().take(20).map(|author| author.name).collect();
            let categories: Vec<_> = entry.category.into_iter().map(|category| category.term).collect();
            let number = usize::from(start) + papers.len() + 1;
            let by = authors.join(", ");
            lines.push(format!("{number}. {title}\n{by} ({})\n{}\n{summary}", entry.published, entry.id));
            let pdf = entry.id.replacen("/abs/", "/pdf/", 1);
            papers.push(json!({
                "title": title, "authors": authors, "published": entry.published, "categories": categories,
                "url": entry.id, "pdf": pdf, "abstract": summary,
            }));
        }
        if papers.is_empty() {
            lines.push(format!(
                "No paper was found for `{query}`. Try fewer words, or leave out the prefixes."
            ));
        }
        ToolOutput::structured(lines.join("\n\n"), json!({"query": query, "papers": papers}))
    }
}
