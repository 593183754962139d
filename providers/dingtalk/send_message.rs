//! `dingtalk/send_message`: the custom bot of a DingTalk group.
//!
//! `POST` of `{msgtype, …}` to the bot's address, with `timestamp` and `sign` in its query where the bot checks
//! signatures (open.dingtalk.com, "自定义机器人接入", "自定义机器人安全设置"). Refusals come with status 200 and `errcode`.

use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::SendMessageParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::upstream::{Answer, Vendor};
use crate::webhook::{Webhook, now_ms, signature};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessageArgs {
    /// The message.
    #[schemars(length(min = 1, max = 6000))]
    pub text: String,
    /// A headline. With one, the text may use Markdown.
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// The mobile numbers of people whose attention to call.
    #[schemars(length(max = 50))]
    #[serde(default)]
    pub mention_mobiles: Vec<String>,
    /// Whether to call the attention of everybody in the group.
    #[serde(default)]
    pub mention_all: bool,
}

/// Builds the tool.
pub fn send_message(
    params: SendMessageParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = SendMessageArgs>, BuildError> {
    let vendor = Vendor::new("dingtalk", "DingTalk", deps);
    Ok(SendMessage {
        bot: Webhook::new(vendor, params.webhook_url.as_ref(), params.secret)?,
        now: now_ms(deps),
    })
}

struct SendMessage<N> {
    bot: Webhook,
    now: N,
}

impl<N: Fn() -> i64 + Send + Sync + 'static> CallTool for SendMessage<N> {
    type Args = SendMessageArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let target = self.bot.target(cx).await?;
        let mut url = target.url;
        if let Some(secret) = &target.secret {
            let now = (self.now)();
            let sign = signature(secret.expose_secret(), &format!("{now}\n{}", secret.expose_secret()))?;
            url.query_pairs_mut().append_pair("timestamp", &now.to_string()).append_pair("sign", &sign);
        }
        let answer = self.bot.post(url, &body(&args), cx).await?;
        judge(answer)
    }
}

fn body(args: &SendMessageArgs) -> Value {
    let at = json!({"atMobiles": args.mention_mobiles, "isAtAll": args.mention_all});
    match args.title.as_deref().filter(|title| !title.trim().is_empty()) {
        None => json!({"msgtype": "text", "text": {"content": args.text}, "at": at}),
        Some(title) => {
            // Only numbers that stand in the text itself are shown as mentions.
            let mentions: String = args.mention_mobiles.iter().map(|mobile| format!(" @{mobile}")).collect();
            let text = format!("{}{mentions}", args.text);
            json!({"msgtype": "markdown", "markdown": {"title": title, "text": text}, "at": at})
        }
    }
}

fn judge(answer: Answer) -> Result<ToolOutput, ToolError> {
    let verdict: Option<Verdict> = answer.json().ok();
    let Some(Verdict { errcode, errmsg }) = verdict else {
        let answer = answer.ok()?;
        return Err(answer.not_understood("it does not say whether the message was sent"));
    };
    match errcode {
        0 => Ok(ToolOutput::structured("The message was sent.", json!({"sent": true}))),
        310_000 if errmsg.contains("keyword") => Ok(ToolOutput::failed(
            "The bot takes only messages that hold one of its keywords; this one holds none. Ask the user for the keyword.",
        )),
        310_000 | 300_001 | 300_005 | 400_101 | 400_102 => Err(answer.key_refused()),
        130_101 | 410_100 => Err(answer.too_many()),
        _ => Err(answer.failed()),
    }
}

#[derive(Deserialize)]
struct Verdict {
    errcode: i64,
    #[serde(default)]
    errmsg: String,
}
