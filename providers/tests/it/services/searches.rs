//! Search engines and readers of pages.

use serde_json::{Value, json};

use super::{Expect, KEY, Service};
use crate::stand_in::Reply;

pub(super) fn services() -> Vec<Service> {
    vec![serper(), duckduckgo(), wikipedia(), tavily(), brave(), bocha(), searxng(), jina(), arxiv()]
}

fn serper() -> Service {
    let found = json!({
        "searchParameters": {"q": "haft", "type": "search"},
        "answerBox": {"title": "Haft", "answer": "the handle of a tool"},
        "organic": [
            {"title": "Haft", "link": "https://example.com/haft", "snippet": "A handle.", "date": "2 days ago", "position": 1},
            {"title": "No address", "snippet": "left out"},
        ],
    });
    Service {
        tool: "google/google_serper",
        params: json!({"url": "{base}"}),
        credentials: json!({"google": {"api_key": KEY}}),
        args: json!({"query": "haft"}),
        replies: vec![Reply::json(200, &found)],
        requests: vec![json!({
            "method": "POST", "path": "/search", "query": {}, "headers": {"x-api-key": KEY, "content-type": "application/json"},
            "body": {"q": "haft", "num": 10},
        })],
        expect: Expect::Result(
            "the handle of a tool\n\n1. Haft (2 days ago)\nhttps://example.com/haft\nA handle.",
            vec![
                ("/query", json!("haft")),
                ("/answer", json!("the handle of a tool")),
                (
                    "/results",
                    json!([{"title": "Haft", "url": "https://example.com/haft", "text": "A handle.", "published": "2 days ago"}]),
                ),
            ],
        ),
        others: vec![
            (
                "bad key",
                Reply::json(403, &json!({"message": "Unauthorized.", "statusCode": 403})),
                Expect::Error("missing_credential", "Unauthorized"),
            ),
            (
                "quota",
                Reply::json(400, &json!({"message": "Not enough credits", "statusCode": 400})),
                Expect::Error("upstream", "quota at Serper is used up"),
            ),
            (
                "empty",
                Reply::json(200, &json!({"organic": []})),
                Expect::Result("Nothing was found for `haft`", vec![("/results", json!([]))]),
            ),
            (
                "the key in the vendor's words",
                Reply::json(500, &json!({"message": format!("bad key {KEY}")})),
                Expect::Error("upstream", "bad key ********"),
            ),
            (
                "moved",
                Reply::of(302, "text/plain", "").with("location", "https://elsewhere.example/"),
                Expect::Error("upstream", "elsewhere.example"),
            ),
        ],
    }
}

const DUCK: &str = r#"<html><body><div class="results">
<div class="result results_links web-result result--ad"><a class="result__a" href="https://ads.example/">Buy</a></div>
<div class="result results_links web-result"><h2><a class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc&amp;rut=1">Example &amp; more</a></h2>
<a class="result__snippet" href="x">A <b>good</b> page</a></div>
<div class="result"><a class="result__a" href="https://example.org/">Direct</a></div>
</div></body></html>"#;

fn duckduckgo() -> Service {
    let page = |body: &str| Reply::of(200, "text/html", format!("<html><body>{body}</body></html>"));
    Service {
        tool: "duckduckgo/duckduckgo_search",
        params: json!({"url": "{base}/html"}),
        credentials: json!({}),
        args: json!({"query": "鱼 & chips"}),
        replies: vec![Reply::of(200, "text/html", DUCK)],
        requests: vec![json!({
            "method": "POST", "path": "/html/", "query": {}, "headers": {"user-agent": "Mozilla/5.0 (compatible; Haft)"},
            "body": {"q": "鱼 & chips"},
        })],
        expect: Expect::Result(
            "1. Example & more\nhttps://example.com/a?b=c\nA good page\n\n2. Direct",
            vec![
                ("/results/0/url", json!("https://example.com/a?b=c")),
                ("/results/1/url", json!("https://example.org/")),
            ],
        ),
        others: vec![
            (
                "empty",
                page("<div class='no-results'>No results.</div>"),
                Expect::Result("Nothing was found", vec![("/results", json!([]))]),
            ),
            (
                "challenge",
                page("<div class='anomaly-modal__title'>Select all ducks</div>"),
                Expect::Error("rate_limited", ""),
            ),
            ("robot", Reply::of(202, "text/html", "<html></html>"), Expect::Error("rate_limited", "")),
        ],
    }
}

fn wikipedia() -> Service {
    let found = json!({"batchcomplete": true, "query": {"pages": [
        {"pageid": 2, "title": "鱼", "index": 2, "extract": "鱼是动物。", "fullurl": "https://zh.wikipedia.org/wiki/鱼"},
        {"pageid": 9, "title": "金鱼", "index": 1, "extract": "金鱼是鱼。", "fullurl": "https://zh.wikipedia.org/wiki/金鱼"},
    ]}});
    Service {
        tool: "wikipedia/wikipedia_search",
        params: json!({"url": "{base}/{language}/api.php", "language": "zh"}),
        credentials: json!({}),
        args: json!({"query": "金鱼"}),
        replies: vec![Reply::json(200, &found)],
        requests: vec![json!({"method": "GET", "path": "/zh/api.php", "query": {
            "action": "query", "format": "json", "formatversion": "2", "generator": "search", "gsrsearch": "金鱼",
            "gsrlimit": "3", "prop": "extracts|info", "exintro": "1", "explaintext": "1", "exlimit": "max",
            "inprop": "url", "redirects": "1",
        }, "body": null})],
        expect: Expect::Result(
            "1. 金鱼\n",
            vec![("/results/0/text", json!("金鱼是鱼。")), ("/results/1/title", json!("鱼"))],
        ),
        others: vec![
            (
                "empty",
                Reply::json(200, &json!({"batchcomplete": true})),
                Expect::Result("Nothing was found", vec![]),
            ),
            (
                "limited",
                Reply::json(200, &json!({"error": {"code": "ratelimited", "info": "slow down"}})),
                Expect::Error("rate_limited", ""),
            ),
            (
                "refused",
                Reply::json(
                    200,
                    &json!({"error": {"code": "cirrussearch-bad", "info": "The query is bad."}}),
                ),
                Expect::Error("upstream", "The query is bad."),
            ),
        ],
    }
}

fn tavily() -> Service {
    let found = json!({"query": "q", "answer": "Forty-two.", "results": [
        {"title": "T", "url": "https://example.com", "content": "C", "score": 0.9},
    ]});
    Service {
        tool: "tavily/tavily_search",
        params: json!({
            "url": "{base}", "max_results": 3, "search_depth": "advanced", "include_answer": true,
            "include_domains": "a.example, b.example,", "exclude_domains": "",
        }),
        credentials: json!({"tavily": {"api_key": KEY}}),
        args: json!({"query": "q", "topic": "news", "time_range": "week"}),
        replies: vec![Reply::json(200, &found)],
        requests: vec![json!({
            "method": "POST", "path": "/search", "headers": {"authorization": format!("Bearer {KEY}")},
            "body": {
                "query": "q", "topic": "news", "time_range": "week", "max_results": 3, "search_depth": "advanced",
                "include_answer": true, "include_domains": ["a.example", "b.example"], "exclude_domains": [],
            },
        })],
        expect: Expect::Result("Forty-two.\n\n1. T", vec![("/results/0/text", json!("C"))]),
        others: vec![
            (
                "bad key",
                Reply::json(401, &json!({"detail": {"error": "Unauthorized: missing or invalid API key."}})),
                Expect::Error("missing_credential", "invalid API key"),
            ),
            (
                "plan used up",
                Reply::json(
                    432,
                    &json!({"detail": {"error": "This request exceeds your plan's set usage limit."}}),
                ),
                Expect::Error("upstream", "exceeds your plan"),
            ),
            (
                "pay-as-you-go used up",
                Reply::json(433, &json!({"detail": {"error": "limit"}})),
                Expect::Error("upstream", "used up"),
            ),
            (
                "bad request",
                Reply::json(400, &json!({"detail": {"error": "Invalid topic."}})),
                Expect::Error("upstream", "Invalid topic."),
            ),
            (
                "empty",
                Reply::json(200, &json!({"results": [], "answer": null})),
                Expect::Result("Nothing was found for `q`", vec![("/answer", Value::Null)]),
            ),
        ],
    }
}

fn brave() -> Service {
    let error = |status, code: &str, detail: &str| {
        Reply::json(
            status,
            &json!({"type": "ErrorResponse", "error": {"id": "1", "status": status, "code": code, "detail": detail}}),
        )
    };
    let found = json!({"type": "search", "web": {"type": "search", "results": [
        {"title": "T", "url": "https://example.com", "description": "D", "page_age": "2026-11-30T00:00:00"},
    ]}});
    Service {
        tool: "brave/brave_search",
        params: json!({"url": "{base}/", "max_results": 2, "country": "DE", "search_language": "de", "safesearch": "strict"}),
        credentials: json!({"brave": {"api_key": KEY}}),
        args: json!({"query": "q", "freshness": "month"}),
        replies: vec![Reply::json(200, &found)],
        requests: vec![json!({
            "method": "GET", "path": "/res/v1/web/search", "headers": {"x-subscription-token": KEY, "accept": "application/json"},
            "query": {
                "q": "q", "count": "2", "safesearch": "strict", "text_decorations": "false", "result_filter": "web",
                "country": "DE", "search_lang": "de", "freshness": "pm",
            },
        })],
        expect: Expect::Result("1. T (2026-11-30T00:00:00)", vec![("/results/0/text", json!("D"))]),
        others: vec![
            (
                "bad key",
                error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."),
                Expect::Error("missing_credential", "token is invalid"),
            ),
            (
                "quota",
                error(429, "QUOTA_LIMITED", "Quota limit reached."),
                Expect::Error("upstream", "Quota limit reached."),
            ),
            (
                "bad request",
                error(422, "VALIDATION", "Unable to validate request parameter(s)"),
                Expect::Error("upstream", "Unable to validate"),
            ),
            (
                "empty",
                Reply::json(200, &json!({"type": "search"})),
                Expect::Result("Nothing was found", vec![]),
            ),
        ],
    }
}

fn bocha() -> Service {
    let found = json!({"code": 200, "log_id": "1", "msg": null, "data": {"_type": "SearchResponse", "webPages": {"value": [
        {"name": "标题", "url": "https://example.cn", "snippet": "短", "summary": "长摘要", "siteName": "站", "datePublished": "2026-11-30T08:00:00+08:00"},
        {"name": "二", "url": "https://example.cn/2", "snippet": "短", "summary": null},
    ]}}});
    Service {
        tool: "bocha/bocha_web_search",
        params: json!({"url": "{base}"}),
        credentials: json!({"bocha": {"api_key": KEY}}),
        args: json!({"query": "新闻", "freshness": "oneDay"}),
        replies: vec![Reply::json(200, &found)],
        requests: vec![json!({
            "method": "POST", "path": "/v1/web-search", "headers": {"authorization": format!("Bearer {KEY}")},
            "body": {"query": "新闻", "freshness": "oneDay", "summary": true, "count": 10},
        })],
        expect: Expect::Result(
            "1. 标题",
            vec![("/results/0/text", json!("长摘要")), ("/results/1/text", json!("短"))],
        ),
        others: vec![
            (
                "bad key",
                Reply::json(401, &json!({"code": "401", "message": "Invalid API KEY", "log_id": "1"})),
                Expect::Error("missing_credential", "Invalid API KEY"),
            ),
            (
                "quota",
                Reply::json(
                    403,
                    &json!({"code": "403", "message": "You do not have enough money", "log_id": "1"}),
                ),
                Expect::Error("upstream", "enough money"),
            ),
            (
                "refused with 200",
                Reply::json(200, &json!({"code": "400", "message": "Missing parameter query"})),
                Expect::Error("upstream", "Missing parameter"),
            ),
            (
                "empty",
                Reply::json(200, &json!({"code": 200, "data": {"webPages": {"value": []}}})),
                Expect::Result("Nothing was found", vec![]),
            ),
        ],
    }
}

fn searxng() -> Service {
    let found = json!({"query": "q", "number_of_results": 0, "results": [
        {"title": "T", "url": "https://example.com", "content": "C", "engine": "x", "publishedDate": null},
        {"title": "U", "url": "https://example.com/u", "content": null},
    ], "answers": [{"answer": "42", "url": "u"}], "infoboxes": [], "suggestions": []});
    Service {
        tool: "searxng/searxng_search",
        params: json!({"url": "{base}/searx", "language": "zh-CN", "engines": "bing,duckduckgo"}),
        credentials: json!({}),
        args: json!({"query": "q", "category": "it", "time_range": "year", "page": 2}),
        replies: vec![Reply::json(200, &found)],
        requests: vec![json!({"method": "GET", "path": "/searx/search", "query": {
            "q": "q", "format": "json", "categories": "it", "pageno": "2", "language": "zh-CN",
            "engines": "bing,duckduckgo", "time_range": "year",
        }})],
        expect: Expect::Result("42\n\n1. T", vec![("/results/1/title", json!("U"))]),
        others: vec![
            (
                "no JSON",
                Reply::of(403, "text/html", "<h1>Forbidden</h1>"),
                Expect::Error("upstream", "`search.formats`"),
            ),
            ("empty", Reply::json(200, &json!({"results": []})), Expect::Result("Nothing was found", vec![])),
        ],
    }
}

fn jina() -> Service {
    let read = json!({"code": 200, "status": 20000, "data": {
        "title": "Title", "description": "", "url": "https://example.com/page", "content": "鱼".repeat(600), "usage": {"tokens": 9},
    }});
    let refused = |status, name: &str, words: &str| {
        Reply::json(
            status,
            &json!({"data": null, "code": status, "name": name, "status": status * 100, "message": words}),
        )
    };
    Service {
        tool: "jina/jina_reader",
        params: json!({"url": "{base}"}),
        credentials: json!({"jina": {"api_key": KEY}}),
        args: json!({"url": "https://example.com/page", "max_chars": 500}),
        replies: vec![Reply::json(200, &read)],
        requests: vec![json!({
            "method": "POST", "path": "/", "headers": {"authorization": format!("Bearer {KEY}"), "accept": "application/json"},
            "body": {"url": "https://example.com/page"},
        })],
        expect: Expect::Result(
            "The page goes on: 600 characters",
            vec![("/truncated", json!(true)), ("/total_chars", json!(600))],
        ),
        others: vec![
            (
                "bad key",
                refused(401, "AuthenticationFailedError", "Invalid API key"),
                Expect::Error("missing_credential", "Invalid API key"),
            ),
            (
                "quota",
                refused(402, "InsufficientBalanceError", "Account balance not enough"),
                Expect::Error("upstream", "balance not enough"),
            ),
            (
                "unreadable",
                refused(422, "AssertionFailureError", "Failed to goto the page"),
                Expect::Failed("Failed to goto the page"),
            ),
            (
                "empty",
                Reply::json(200, &json!({"code": 200, "data": {"title": "T", "content": ""}})),
                Expect::Result("has no text", vec![]),
            ),
        ],
    }
}

const ATOM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="html">ArXiv Query</title><id>http://arxiv.org/api/x</id><updated>2026-12-01T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults>
  <entry>
    <id>http://arxiv.org/abs/1706.03762v7</id><updated>2023-08-02T00:41:18Z</updated><published>2017-06-12T17:57:34Z</published>
    <title>Attention Is All
  You Need</title><summary>  The dominant models &amp; more.
</summary>
    <author><name>Ashish Vaswani</name></author><author><name>Noam Shazeer</name></author>
    <arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">15 pages</arxiv:comment>
    <link href="http://arxiv.org/abs/1706.03762v7" rel="alternate" type="text/html"/>
    <category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/><category term="cs.LG" scheme="x"/>
  </entry>
</feed>"#;

fn arxiv() -> Service {
    let feed =
        |entry: &str| Reply::of(200, "application/atom+xml", format!("<feed><id>x</id>{entry}</feed>"));
    let refusal = "<entry><id>http://arxiv.org/api/errors#1</id><title>Error</title><summary>incorrect id format</summary></entry>";
    Service {
        tool: "arxiv/search",
        params: json!({"url": "{base}/api", "max_results": 2}),
        credentials: json!({}),
        args: json!({"query": "attention (transformer)", "sort_by": "newest", "start": 4}),
        replies: vec![Reply::of(200, "application/atom+xml", ATOM)],
        requests: vec![json!({"method": "GET", "path": "/api/query", "query": {
            "search_query": "all:attention AND all:transformer", "start": "4", "max_results": "2",
            "sortBy": "submittedDate", "sortOrder": "descending",
        }})],
        expect: Expect::Result(
            "5. Attention Is All You Need\nAshish Vaswani, Noam Shazeer",
            vec![
                ("/papers/0/abstract", json!("The dominant models & more.")),
                ("/papers/0/pdf", json!("http://arxiv.org/pdf/1706.03762v7")),
                ("/papers/0/categories", json!(["cs.CL", "cs.LG"])),
            ],
        ),
        others: vec![
            ("empty", feed(""), Expect::Result("No paper was found", vec![("/papers", json!([]))])),
            ("refused", feed(refusal), Expect::Failed("incorrect id format")),
            ("busy", Reply::of(503, "text/html", "Retry later"), Expect::Error("rate_limited", "")),
        ],
    }
}
