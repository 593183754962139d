//! `feishu/send_message`: the custom bot of a Feishu (Lark) group.
//!
//! `POST` of `{msg_type, content}` to the bot's address; signed by the HMAC of nothing under the key
//! `timestamp\nsecret` (open.feishu.cn, "自定义机器人使用指南"). Refusals come with status 200 or 400 and a `code`.

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
    #[schemars(length(min = 1, max = 8000))]
    pub text: String,
    /// A headline. With one, the message is shown as a card, and its text may use Markdown.
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// Whether to call the attention of everybody in the group.
    #[serde(default)]
    pub mention_all: bool,
}

/// Builds the tool.
pub fn send_message(
    params: SendMessageParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = SendMessageArgs>, BuildError> {
    let vendor = Vendor::new("feishu", "Feishu", deps);
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
        let mut body = body(&args);
        if let Some(secret) = &target.secret {
            let seconds = (self.now)() / 1000;
            body["timestamp"] = json!(seconds.to_string());
            body["sign"] = json!(signature(&format!("{seconds}\n{}", secret.expose_secret()), "")?);
        }
        let answer = self.bot.post(target.url, &body, cx).await?;
        judge(answer)
    }
}

fn body(args: &SendMessageArgs) -> Value {
    match args.title.as_deref().filter(|title| !title.trim().is_empty()) {
        None => {
            let all = if args.mention_all { "<at user_id=\"all\"></at> " } else { "" };
            json!({"msg_type": "text", "content": {"text": format!("{all}{}", args.text)}})
        }
        Some(title) => {
            let all = if args.mention_all { "<at id=all></at> " } else { "" };
            let element = json!({"tag": "markdown", "content": format!("{all}{}", args.text)});
            let header = json!({"title": {"tag": "plain_text", "content": title}});
            json!({"msg_type": "interactive", "card": {"header": header, "elements": [element]}})
        }
    }
}

fn judge(answer: Answer) -> Result<ToolOutput, ToolError> {
    let verdict: Option<Verdict> = answer.json().ok();
    let code = verdict.and_then(|verdict| verdict.code.or(verdict.status_code));
    match code {
        Some(0) => Ok(ToolOutput::structured("The message was sent.", json!({"sent": true}))),
        Some(19001 | 19021 | 19022) => Err(answer.key_refused()),
        Some(19024) => Ok(ToolOutput::failed(
            "The bot takes only messages that hold one of its keywords; this one holds none. Ask the user for the keyword.",
        )),
        Some(11232 | 11233) => Err(answer.too_many()),
        Some(_) => Err(answer.failed()),
        None => {
            let answer = answer.ok()?;
            Err(answer.not_understood("it does not say whether the message was sent"))
        }
    }
}

#[derive(Deserialize)]
struct Verdict {
    code: Option<i64>,
    #[serde(rename = "StatusCode")]
    status_code: Option<i64>,
}
