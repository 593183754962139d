//! Models that draw.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::Content;
use serde_json::{Value, json};

use super::{Expect, KEY, Service, call_once};
use crate::stand_in::{Reply, StandIn};
use crate::support::{Memory, context, deps_with, invoke};

/// The smallest PNG there is: one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn pixel() -> Vec<u8> {
    BASE64_STANDARD.decode(PIXEL).unwrap()
}

pub(super) fn services() -> Vec<Service> {
    vec![dalle(), qwen_by_task(), qwen_at_once()]
}

fn dalle() -> Service {
    let drawn = json!({"created": 1, "data": [{"b64_json": PIXEL, "revised_prompt": "A red cat"}]});
    let error = |status, code: &str, message: &str| {
        Reply::json(status, &json!({"error": {"message": message, "type": "x", "param": null, "code": code}}))
    };
    Service {
        tool: "dalle/dalle3",
        params: json!({"url": "{base}/v1", "size": "1792x1024", "style": "natural"}),
        credentials: json!({"dalle": {"api_key": KEY}}),
        args: json!({"query": "a cat"}),
        replies: vec![Reply::json(200, &drawn)],
        requests: vec![json!({
            "method": "POST", "path": "/v1/images/generations", "headers": {"authorization": format!("Bearer {KEY}")},
            "body": {
                "model": "dall-e-3", "prompt": "a cat", "n": 1, "size": "1792x1024", "style": "natural",
                "response_format": "b64_json",
            },
        })],
        expect: Expect::Result(
            "A red cat",
            vec![("/images/0/media_type", json!("image/png")), ("/images/0/bytes", json!(pixel().len()))],
        ),
        others: vec![
            (
                "bad key",
                error(401, "invalid_api_key", &format!("Incorrect API key provided: {KEY}.")),
                Expect::Error("missing_credential", "Incorrect API key"),
            ),
            (
                "quota",
                error(429, "insufficient_quota", "You exceeded your current quota"),
                Expect::Error("upstream", "exceeded your current quota"),
            ),
            (
                "content",
                error(400, "content_policy_violation", "Your request was rejected."),
                Expect::Failed("Describe something else"),
            ),
            ("empty", Reply::json(200, &json!({"data": []})), Expect::Error("upstream", "no picture")),
            (
                "no picture",
                Reply::json(200, &json!({"data": [{"b64_json": "AAAA"}]})),
                Expect::Error("upstream", "no picture"),
            ),
            (
                "no base64",
                Reply::json(200, &json!({"data": [{"b64_json": "?"}]})),
                Expect::Error("upstream", "cannot be read"),
            ),
        ],
    }
}

fn refusals() -> Vec<(&'static str, Reply, Expect)> {
    let error = |status, code: &str, message: &str| {
        Reply::json(status, &json!({"code": code, "message": message, "request_id": "1"}))
    };
    vec![
        (
            "bad key",
            error(401, "InvalidApiKey", "Invalid API-key provided."),
            Expect::Error("missing_credential", "Invalid API-key"),
        ),
        (
            "arrears",
            error(400, "Arrearage", "Access denied, account not in good standing."),
            Expect::Error("upstream", "good standing"),
        ),
        (
            "quota",
            error(429, "Throttling.AllocationQuota", "Allocated quota exceeded"),
            Expect::Error("upstream", "quota exceeded"),
        ),
        (
            "often",
            error(429, "Throttling.RateQuota", "Requests rate limit exceeded"),
            Expect::Error("rate_limited", ""),
        ),
        (
            "content",
            error(400, "DataInspectionFailed", "Input data may contain inappropriate content."),
            Expect::Failed("inappropriate content"),
        ),
        (
            "bad request",
            error(400, "InvalidParameter", "size is wrong"),
            Expect::Error("upstream", "size is wrong"),
        ),
        ("empty", Reply::json(200, &json!({"output": {}, "request_id": "1"})), Expect::Error("upstream", "")),
    ]
}

fn task(status: &str, more: Value) -> Reply {
    let mut output = json!({"task_id": "t-1", "task_status": status});
    output.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Reply::json(200, &json!({"output": output, "request_id": "1"}))
}

fn qwen_by_task() -> Service {
    let results = json!({"results": [{"orig_prompt": "猫", "actual_prompt": "一只红猫", "url": "{base}/pictures/1.png?Expires=1"}]});
    Service {
        tool: "tongyi/qwen_image_generation",
        params: json!({"url": "{base}/api/v1", "size": "1664*928", "prompt_extend": true}),
        credentials: json!({"tongyi": {"api_key": KEY}}),
        args: json!({"prompt": "猫", "negative_prompt": "狗"}),
        replies: vec![
            task("PENDING", json!({})),
            task("RUNNING", json!({})),
            task("SUCCEEDED", results),
            Reply::of(200, "image/png", pixel()),
        ],
        requests: vec![
            json!({
                "method": "POST", "path": "/api/v1/services/aigc/text2image/image-synthesis",
                "headers": {"authorization": format!("Bearer {KEY}"), "x-dashscope-async": "enable"},
                "body": {
                    "model": "qwen-image-plus", "input": {"prompt": "猫"},
                    "parameters": {"size": "1664*928", "n": 1, "prompt_extend": true, "watermark": false, "negative_prompt": "狗"},
                },
            }),
            json!({"method": "GET", "path": "/api/v1/tasks/t-1", "headers": {"authorization": format!("Bearer {KEY}")}}),
            json!({"method": "GET", "path": "/api/v1/tasks/t-1"}),
            json!({"method": "GET", "path": "/pictures/1.png", "query": {"Expires": "1"}, "headers": {"authorization": null}}),
        ],
        expect: Expect::Result(
            "一只红猫",
            vec![("/images/0/media_type", json!("image/png")), ("/actual_prompt", json!("一只红猫"))],
        ),
        others: refusals(),
    }
}

fn qwen_at_once() -> Service {
    let drawn = json!({"output": {"choices": [{"finish_reason": "stop", "message": {
        "role": "assistant", "content": [{"image": "{base}/pictures/2.png"}],
    }}]}, "usage": {"image_count": 1}, "request_id": "1"});
    Service {
        tool: "tongyi/qwen_image_generation",
        params: json!({"url": "{base}/api/v1", "model": "qwen-image-max", "watermark": true, "prompt_extend": false}),
        credentials: json!({"tongyi": {"api_key": KEY}}),
        args: json!({"prompt": "写着“鱼”的招牌"}),
        replies: vec![Reply::json(200, &drawn), Reply::of(200, "image/png", pixel())],
        requests: vec![
            json!({
                "method": "POST", "path": "/api/v1/services/aigc/multimodal-generation/generation",
                "headers": {"authorization": format!("Bearer {KEY}"), "x-dashscope-async": null},
                "body": {
                    "model": "qwen-image-max",
                    "input": {"messages": [{"role": "user", "content": [{"text": "写着“鱼”的招牌"}]}]},
                    "parameters": {"size": "1328*1328", "n": 1, "prompt_extend": false, "watermark": true},
                },
            }),
            json!({"method": "GET", "path": "/pictures/2.png"}),
        ],
        expect: Expect::Result("The picture was made.", vec![("/images/0/bytes", json!(pixel().len()))]),
        others: refusals(),
    }
}

#[tokio::test]
async fn a_task_that_fails_says_why() {
    let key = json!({"tongyi": {"api_key": KEY}});
    let ask = |last| {
        call_once(
            "tongyi/qwen_image_generation",
            json!({"url": "{base}"}),
            &key,
            json!({"prompt": "x"}),
            vec![task("PENDING", json!({})), last],
        )
    };
    let (refused, _) =
        ask(task("FAILED", json!({"code": "DataInspectionFailed", "message": "Output is inappropriate."})))
            .await;
    super::check("content", &refused, &Expect::Failed("Output is inappropriate."));
    let (failed, _) =
        ask(task("FAILED", json!({"code": "InternalError", "message": "Worker is gone."}))).await;
    super::check("failed", &failed, &Expect::Error("upstream", "Worker is gone."));
    let (unknown, _) = ask(task("UNKNOWN", json!({}))).await;
    super::check("unknown", &unknown, &Expect::Error("upstream", "UNKNOWN"));
}

#[tokio::test]
async fn a_small_picture_stands_in_the_answer_and_a_large_one_is_a_link() {
    let mut large = pixel();
    large.resize(900 * 1024, 0);
    for (bytes, is_link) in [(pixel(), false), (large, true)] {
        let drawn = json!({"data": [{"b64_json": BASE64_STANDARD.encode(&bytes), "revised_prompt": null}]});
        let stand_in = StandIn::start(vec![Reply::json(200, &drawn)]).await;
        let mut deps = deps_with(&json!({"dalle": {"api_key": KEY}}));
        let blobs = Arc::new(Memory::default());
        deps.blobs = blobs.clone();
        let params = json!({"url": stand_in.base});
        let output = invoke(deps, "dalle/dalle3", params, json!({"query": "x"}), &context()).await.unwrap();
        let stored = blobs.stored();
        let (name, blob) = stored.first_key_value().unwrap();
        assert_eq!(stored.len(), 1, "a picture is stored once");
        assert!(
            name.starts_with("alice/picture/")
                && blob.bytes == bytes
                && blob.info.content_type == "image/png"
        );
        let link = json!(format!("https://blobs.example/{name}"));
        assert_eq!(output.structured.unwrap()["images"][0]["url"], link);
        match (&output.content[1], is_link) {
            (Content::ResourceLink { uri, .. }, true) => assert_eq!(json!(uri), link),
            (Content::Image { data, mime_type, .. }, false) => {
                assert_eq!((data.as_str(), mime_type.as_str()), (PIXEL, "image/png"))
            }
            (other, _) => panic!("{other:?}"),
        }
    }
}
