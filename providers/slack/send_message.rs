//! `slack/send_message`: an incoming webhook of Slack.
//!
//! `POST` of `{text}` to the webhook; the answer is the text `ok`, or a status with a word for what is wrong
//! (docs.slack.dev, "Sending messages using incoming webhooks").

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::SendMessageParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::upstream::Vendor;
use crate::webhook::Webhook;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessageArgs {
    /// The message, in Slack's own markup: `*bold*`, `_italic_`, `<https://example.com|link>`, `<!channel>` to call
    /// the attention of everybody.
    #[schemars(length(min = 1, max = 12000))]
    pub text: String,
}

/// Builds the tool.
pub fn send_message(
    params: SendMessageParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = SendMessageArgs>, BuildError> {
    let vendor = Vendor::new("slack", "Slack", deps);
    Ok(SendMessage { bot: Webhook::new(vendor, params.webhook_url.as_ref(), None)? })
}

struct SendMessage {
    bot: Webhook,
}

impl CallTool for SendMessage {
    type Args = SendMessageArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let target = self.bot.target(cx).await?;
        let answer = self.bot.post(target.url, &json!({"text": args.text}), cx).await?;
        match (answer.status.as_u16(), answer.words().as_str()) {
            (200, "ok") => Ok(ToolOutput::structured("The message was sent.", json!({"sent": true}))),
            (_, "channel_is_archived" | "action_prohibited" | "posting_to_general_channel_denied") => {
                Ok(ToolOutput::failed(format!(
                    "Slack does not take messages for this channel: {}",
                    answer.words()
                )))
            }
            (
                _,
                "no_service" | "no_team" | "no_active_hooks" | "invalid_token" | "team_disabled"
                | "user_not_found",
            )
            | (404 | 410, _) => Err(answer.key_refused()),
            _ => {
                let answer = answer.ok()?;
                Err(answer.not_understood("it does not say that the message was sent"))
            }
        }
    }
}
