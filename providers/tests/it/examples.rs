//! A good call of every tool: shown in `docs/builtin-tools.md`, and the start of the tests over the whole registry.

use serde_json::{Value, json};

/// A tool, what it is built with, and a call.
pub(crate) struct Example {
    pub(crate) tool: &'static str,
    pub(crate) params: Value,
    pub(crate) args: Value,
}

fn example(tool: &'static str, args: Value) -> Example {
    Example { tool, params: json!({}), args }
}

/// In the order of the registry.
pub(crate) fn all() -> Vec<Example> {
    let mut all = local();
    all.extend(searches());
    all.extend(services());
    all.extend(messages());
    all
}

/// The example of a tool.
pub(crate) fn of(path: &str) -> Example {
    let found = all().into_iter().find(|example| example.tool == path);
    found.unwrap_or_else(|| {
        panic!("`{path}` has no example: add a good call to providers/tests/it/examples.rs")
    })
}

fn local() -> Vec<Example> {
    vec![
        example("time/current_time", json!({"timezone": "Asia/Shanghai"})),
        example(
            "time/convert_time",
            json!({"time": "2026-12-01 22:44", "from": "Asia/Shanghai", "to": "Europe/Berlin"}),
        ),
        example("calculator/evaluate", json!({"expression": "5 km + 3 miles to m"})),
        example("calculator/statistics", json!({"numbers": [3, 5, 8, 13], "other": [1, 2, 3, 4]})),
        example(
            "json/query",
            json!({"data": {"items": [{"id": 1, "price": 20}]}, "expression": "items[?price > `10`].id"}),
        ),
        example(
            "json/validate",
            json!({"data": {"age": "old"}, "schema": {"properties": {"age": {"type": "integer"}}}}),
        ),
        example("json/convert", json!({"text": "name: Ada\nage: 36", "from": "yaml", "to": "json"})),
        example(
            "text/extract",
            json!({"text": "ada@example.com", "pattern": r"(?P<user>\w+)@(?P<host>[\w.]+)"}),
        ),
        example(
            "text/replace",
            json!({"text": "2026-12-01", "pattern": r"(\d+)-(\d+)-(\d+)", "replacement": "$3.$2.$1"}),
        ),
        example("text/count", json!({"text": "你好，world", "occurrences_of": "o"})),
        example("text/compare", json!({"before": "a\nb\n", "after": "a\nc\n"})),
        example("text/encode", json!({"text": "鱼 & chips", "encoding": "url"})),
        example("qrcode/generate", json!({"text": "https://example.com/"})),
        example(
            "chart/render",
            json!({
                "kind": "bar", "title": "季度销售额", "unit": "万元", "labels": ["一季度", "二季度", "三季度"],
                "series": [{"name": "线上", "values": [12, 19, 15]}, {"name": "门店", "values": [8, 9, 11]}],
            }),
        ),
    ]
}

fn searches() -> Vec<Example> {
    vec![
        example("web/fetch_page", json!({"url": "https://example.com/"})),
        example("document/to_markdown", json!({"url": "https://example.com/report.docx"})),
        example("google/google_serper", json!({"query": "Rust 2024 edition release date"})),
        example("duckduckgo/duckduckgo_search", json!({"query": "site:doc.rust-lang.org let chains"})),
        example("wikipedia/wikipedia_search", json!({"query": "Alan Turing"})),
        example(
            "tavily/tavily_search",
            json!({"query": "latest Mars missions", "topic": "news", "time_range": "month"}),
        ),
        example("brave/brave_search", json!({"query": "open source licences compared", "freshness": "year"})),
        example("bocha/bocha_web_search", json!({"query": "杭州 本周 展览", "freshness": "oneWeek"})),
        Example {
            tool: "searxng/searxng_search",
            params: json!({"url": "https://searxng.example"}),
            args: json!({"query": "graph databases", "category": "science"}),
        },
        example("jina/jina_reader", json!({"url": "https://example.com/app"})),
        example("arxiv/search", json!({"query": "ti:\"attention is all you need\" AND au:vaswani"})),
    ]
}

fn services() -> Vec<Example> {
    vec![
        example("gaode/gaode_weather", json!({"city": "杭州"})),
        example("open_meteo/forecast", json!({"place": "Reykjavik", "days": 2})),
        example("frankfurter/convert", json!({"amount": 250, "from": "EUR", "to": ["CNY", "USD"]})),
        example("youdao/translate", json!({"text": "Well begun is half done.", "to": "zh-CHS"})),
        example("http/request", json!({"url": "https://api.example.com/items", "query": {"page": "2"}})),
        example("dalle/dalle3", json!({"query": "A lighthouse in a storm, as a woodcut"})),
        example(
            "tongyi/qwen_image_generation",
            json!({"prompt": "木质招牌，上面写着“开门大吉”，清晨的阳光"}),
        ),
    ]
}

fn messages() -> Vec<Example> {
    vec![
        example("feishu/send_message", json!({"text": "构建 **42** 已通过。", "title": "每日构建"})),
        example("dingtalk/send_message", json!({"text": "服务器将于 22:00 重启。", "mention_all": true})),
        example("wecom/send_message", json!({"text": "周报已更新。", "mention_users": ["@all"]})),
        example("slack/send_message", json!({"text": "Build <https://example.com/42|42> is *green*."})),
        Example {
            tool: "email/send",
            params: json!({"host": "smtp.example.com", "from": "Haft <haft@example.com>"}),
            args: json!({"to": ["ada@example.com"], "subject": "Minutes", "text": "Dear Ada,\n\nhere are the minutes."}),
        },
    ]
}
