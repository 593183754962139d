//! `wecom/send_message`: the bot of a WeCom group.
//!
//! `POST` of `{msgtype, …}` to the bot's address, whose `key` is all that protects it (developer.work.weixin.qq.com,
//! "群机器人配置说明"). Text holds 2048 bytes, Markdown 4096. Refusals come with status 200 and `errcode`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::SendMessageParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};
use crate::upstream::{Answer, Vendor};
use crate::webhook::Webhook;

/// The longest text, in bytes.
const LONGEST_TEXT: usize = 2048;
/// The longest Markdown, in bytes.
const LONGEST_MARKDOWN: usize = 4096;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessageArgs {
    /// The message: at most 2048 bytes, or 4096 as Markdown; a Chinese character has three.
    #[schemars(length(min = 1, max = 4096))]
    pub text: String,
    /// Whether the text is Markdown. Nobody can be mentioned in it.
    #[serde(default)]
    pub markdown: bool,
    /// The user ids of people whose attention to call; `@all` for everybody.
    #[schemars(length(max = 50))]
    #[serde(default)]
    pub mention_users: Vec<String>,
    /// The mobile numbers of people whose attention to call.
    #[schemars(length(max = 50))]
    #[serde(default)]
    pub mention_mobiles: Vec<String>,
}

/// Builds the tool.
pub fn send_message(
    params: SendMessageParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = SendMessageArgs>, BuildError> {
    let vendor = Vendor::new("wecom", "WeCom", deps);
    Ok(SendMessage { bot: Webhook::new(vendor, params.webhook_url.as_ref(), None)? })
}

struct SendMessage {
    bot: Webhook,
}

impl CallTool for SendMessage {
    type Args = SendMessageArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let body = body(&args)?;
        let target = self.bot.target(cx).await?;
        let answer = self.bot.post(target.url, &body, cx).await?;
        judge(answer)
    }
}

fn body(args: &SendMessageArgs) -> Result<Value, ToolError> {
    let longest = if args.markdown { LONGEST_MARKDOWN } else { LONGEST_TEXT };
    if args.text.len() > longest {
        let message = format!(
            "has {} bytes, and WeCom takes {longest}: shorten it or send it in parts",
            args.text.len()
        );
        return Err(invalid_argument("text", message));
    }
    if !args.markdown {
        return Ok(json!({"msgtype": "text", "text": {
            "content": args.text,
            "mentioned_list": args.mention_users,
            "mentioned_mobile_list": args.mention_mobiles,
        }}));
    }
    if !args.mention_users.is_empty() || !args.mention_mobiles.is_empty() {
        return Err(invalid_argument(
            "markdown",
            "cannot be true when people are mentioned: send plain text",
        ));
    }
    Ok(json!({"msgtype": "markdown", "markdown": {"content": args.text}}))
}

fn judge(answer: Answer) -> Result<ToolOutput, ToolError> {
    let verdict: Option<Verdict> = answer.json().ok();
    let Some(verdict) = verdict else {
        let answer = answer.ok()?;
        return Err(answer.not_understood("it does not say whether the message was sent"));
    };
    match verdict.errcode {
        0 => Ok(ToolOutput::structured("The message was sent.", json!({"sent": true}))),
        93000 | 93008 | 93017 => Err(answer.key_refused()),
        45009 | 45033 => Err(answer.too_many()),
        _ => Err(answer.failed()),
    }
}

#[derive(Deserialize)]
struct Verdict {
    errcode: i64,
}
