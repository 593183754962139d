//! Bots of groups. Signatures were computed by other means: `printf 'TS\nSECRET' | openssl dgst -sha256 -hmac … -binary | base64`.

use serde_json::{Value, json};

use super::{Expect, KEY, Service, call_once};
use crate::stand_in::Reply;

pub(super) fn services() -> Vec<Service> {
    vec![feishu(), dingtalk(), wecom(), slack()]
}

fn sent() -> Expect {
    Expect::Result("The message was sent.", vec![("/sent", json!(true))])
}

fn feishu() -> Service {
    let code = |code: i64, msg: &str| Reply::json(200, &json!({"code": code, "msg": msg, "data": {}}));
    Service {
        tool: "feishu/send_message",
        params: json!({}),
        credentials: json!({"feishu": {"webhook_url": format!("{{base}}/open-apis/bot/v2/hook/{KEY}"), "secret": "s3cret"}}),
        args: json!({"text": "你好", "mention_all": true}),
        replies: vec![code(0, "success")],
        requests: vec![json!({
            "method": "POST", "path": format!("/open-apis/bot/v2/hook/{KEY}"), "query": {},
            "body": {
                "msg_type": "text", "content": {"text": "<at user_id=\"all\"></at> 你好"},
                "timestamp": "1796136269", "sign": FEISHU_SIGN,
            },
        })],
        expect: sent(),
        others: vec![
            (
                "sign",
                code(19021, "sign match fail or timestamp is not within one hour from current time"),
                Expect::Error("missing_credential", "sign match fail"),
            ),
            (
                "unknown bot",
                Reply::json(
                    400,
                    &json!({"code": 19001, "msg": "param invalid: incoming webhook access token invalid"}),
                ),
                Expect::Error("missing_credential", "token invalid"),
            ),
            ("keyword", code(19024, "Key Words Not Found"), Expect::Failed("one of its keywords")),
            ("often", code(11232, "frequency limited psm[x]"), Expect::Error("rate_limited", "")),
            ("bad", code(9499, "Bad Request"), Expect::Error("upstream", "Bad Request")),
            ("the old form", Reply::json(200, &json!({"StatusCode": 0, "StatusMessage": "success"})), sent()),
        ],
    }
}

fn dingtalk() -> Service {
    let code = |code: i64, msg: &str| Reply::json(200, &json!({"errcode": code, "errmsg": msg}));
    Service {
        tool: "dingtalk/send_message",
        params: json!({}),
        credentials: json!({"dingtalk": {"webhook_url": format!("{{base}}/robot/send?access_token={KEY}"), "secret": "s3cret"}}),
        args: json!({"text": "下班", "title": "通知", "mention_mobiles": ["13800000000"]}),
        replies: vec![code(0, "ok")],
        requests: vec![json!({
            "method": "POST", "path": "/robot/send",
            "query": {"access_token": KEY, "timestamp": "1796136269000", "sign": DINGTALK_SIGN},
            "body": {
                "msgtype": "markdown", "markdown": {"title": "通知", "text": "下班 @13800000000"},
                "at": {"atMobiles": ["13800000000"], "isAtAll": false},
            },
        })],
        expect: sent(),
        others: vec![
            (
                "keyword",
                code(310_000, "keywords not in content, more: [https://ding-doc…]"),
                Expect::Failed("one of its keywords"),
            ),
            (
                "sign",
                code(310_000, "sign not match, more: […]"),
                Expect::Error("missing_credential", "sign not match"),
            ),
            (
                "unknown bot",
                code(300_005, "token is not exist"),
                Expect::Error("missing_credential", "token is not exist"),
            ),
            ("often", code(130_101, "send too fast"), Expect::Error("rate_limited", "")),
            ("bad", code(40035, "缺少参数 json"), Expect::Error("upstream", "缺少参数")),
        ],
    }
}

fn wecom() -> Service {
    let code = |code: i64, msg: &str| Reply::json(200, &json!({"errcode": code, "errmsg": msg}));
    Service {
        tool: "wecom/send_message",
        params: json!({"webhook_url": format!("{{base}}/cgi-bin/webhook/send?key={KEY}")}),
        credentials: json!({}),
        args: json!({"text": "上线了", "mention_users": ["@all"], "mention_mobiles": []}),
        replies: vec![code(0, "ok")],
        requests: vec![json!({
            "method": "POST", "path": "/cgi-bin/webhook/send", "query": {"key": KEY},
            "body": {"msgtype": "text", "text": {"content": "上线了", "mentioned_list": ["@all"], "mentioned_mobile_list": []}},
        })],
        expect: sent(),
        others: vec![
            (
                "unknown bot",
                code(93000, "invalid webhook url, hint: [1]"),
                Expect::Error("missing_credential", "invalid webhook url"),
            ),
            ("often", code(45009, "api freq out of limit"), Expect::Error("rate_limited", "")),
            ("bad", code(40008, "invalid message type"), Expect::Error("upstream", "invalid message type")),
        ],
    }
}

fn slack() -> Service {
    Service {
        tool: "slack/send_message",
        params: json!({}),
        credentials: json!({"slack": {"webhook_url": format!("{{base}}/services/T0/B0/{KEY}")}}),
        args: json!({"text": "*hi* <https://example.com|there>"}),
        replies: vec![Reply::of(200, "text/html", "ok")],
        requests: vec![json!({
            "method": "POST", "path": format!("/services/T0/B0/{KEY}"), "body": {"text": "*hi* <https://example.com|there>"},
        })],
        expect: sent(),
        others: vec![
            (
                "unknown",
                Reply::of(404, "text/html", "no_service"),
                Expect::Error("missing_credential", "no_service"),
            ),
            (
                "revoked",
                Reply::of(403, "text/html", "invalid_token"),
                Expect::Error("missing_credential", "invalid_token"),
            ),
            (
                "archived",
                Reply::of(410, "text/html", "channel_is_archived"),
                Expect::Failed("channel_is_archived"),
            ),
            (
                "bad",
                Reply::of(400, "text/html", "invalid_payload"),
                Expect::Error("upstream", "invalid_payload"),
            ),
        ],
    }
}

const FEISHU_SIGN: &str = "h5MUUkP1sDP86F3ftAoC8UxXrwHN0iZPSNcVIPJixKU=";
const DINGTALK_SIGN: &str = "TZfWvo7amHyrtpl9LPgKCfVHsE8iKSVRAKyY4VMEx1E=";

#[tokio::test]
async fn a_headline_makes_a_card_and_no_secret_sends_no_signature() {
    let hook = json!({"feishu": {"webhook_url": "{base}/hook"}});
    let args = json!({"text": "**ok**", "title": "Build"});
    let ok = vec![Reply::json(200, &json!({"code": 0}))];
    let (result, seen) = call_once("feishu/send_message", json!({}), &hook, args, ok).await;
    result.unwrap();
    assert_eq!(
        seen[0]["body"],
        json!({"msg_type": "interactive", "card": {
            "header": {"title": {"tag": "plain_text", "content": "Build"}},
            "elements": [{"tag": "markdown", "content": "**ok**"}],
        }})
    );
}

#[tokio::test]
async fn a_tools_own_bot_is_not_signed_with_the_accounts_secret() {
    let stored = json!({"dingtalk": {"webhook_url": "{base}/stored", "secret": "s3cret"}});
    let ok = vec![Reply::json(200, &json!({"errcode": 0, "errmsg": "ok"}))];
    let own = json!({"webhook_url": "{base}/own"});
    let (result, seen) = call_once("dingtalk/send_message", own, &stored, json!({"text": "x"}), ok).await;
    result.unwrap();
    assert_eq!((&seen[0]["path"], &seen[0]["query"]), (&json!("/own"), &json!({})));
    assert_eq!(
        seen[0]["body"],
        json!({"msgtype": "text", "text": {"content": "x"}, "at": {"atMobiles": [], "isAtAll": false}})
    );
}

#[tokio::test]
async fn wecom_counts_bytes_before_it_sends() {
    let own = || json!({"webhook_url": "{base}/own"});
    for (args, place, part) in [
        (json!({"text": "鱼".repeat(700)}), "/text", "2100 bytes"),
        (json!({"text": "x", "markdown": true, "mention_users": ["a"]}), "/markdown", "plain text"),
    ] {
        let (result, seen) = call_once("wecom/send_message", own(), &Value::Null, args, vec![]).await;
        let error = result.unwrap_err();
        assert!(error.for_model().contains(place) && error.for_model().contains(part), "{error:?}");
        assert!(seen.is_empty());
    }
}
