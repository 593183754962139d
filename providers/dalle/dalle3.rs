//! `dalle/dalle3`: a picture by OpenAI's image API.
//!
//! `POST /images/generations` with `response_format: b64_json`, so that one exchange gives the picture itself
//! (platform.openai.com, "Create image" and "Error codes").

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{Dalle3Params, Dalle3Size, Dalle3Style};
use crate::contract::{BuildError, CallContext, CallTool, Content, ToolDeps, ToolError, ToolOutput};
use crate::pictures::{Album, media_type};
use crate::upstream::{Answer, Vendor, base_url, below};

/// The largest answer that is read: a picture in base64.
const LARGEST: u64 = 24 * 1024 * 1024;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dalle3Args {
    /// What the picture shows, in any language: subject, setting, style, light, mood.
    #[schemars(length(min = 1, max = 4000))]
    pub query: String,
}

/// Builds the tool.
pub fn dalle3(params: Dalle3Params, deps: &ToolDeps) -> Result<impl CallTool<Args = Dalle3Args>, BuildError> {
    Ok(Dalle3 {
        vendor: Vendor::new("dalle", "OpenAI", deps),
        album: Album::new(deps),
        base: base_url(&params.url)?,
        size: params.size,
        style: params.style,
    })
}

struct Dalle3 {
    vendor: Vendor,
    album: Album,
    base: Url,
    size: Dalle3Size,
    style: Dalle3Style,
}

impl CallTool for Dalle3 {
    type Args = Dalle3Args;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(None, cx).await?;
        let body = json!({
            "model": "dall-e-3", "prompt": args.query, "n": 1, "size": self.size.as_str(),
            "style": self.style.as_str(), "response_format": "b64_json",
        });
        let request = self.vendor.http.post(below(&self.base, &["images", "generations"]));
        let request = request.bearer(&key).max_response_bytes(LARGEST).json(&body);
        let answer = self.vendor.send(request, &[&key], cx).await?;
        match refusal(&answer).as_deref() {
            Some("content_policy_violation" | "moderation_blocked") => {
                return Ok(ToolOutput::failed(format!(
                    "OpenAI does not draw this: {} Describe something else.",
                    answer.words()
                )));
            }
            Some("insufficient_quota" | "billing_hard_limit_reached") => return Err(answer.over_quota()),
            _ => {}
        }
        let answer = answer.ok()?;
        let drawn: Drawn = answer.json()?;
        let picture = drawn
            .data
            .into_iter()
            .next()
            .ok_or_else(|| answer.not_understood("there is no picture in it"))?;
        let bytes =
            BASE64_STANDARD.decode(&picture.b64_json).map_err(|e| answer.not_understood(&e.to_string()))?;
        let kind =
            media_type(&bytes).ok_or_else(|| answer.not_understood("it holds no picture of a known kind"))?;
        let kept = self.album.keep(bytes.into(), kind, cx).await;
        let text = match &picture.revised_prompt {
            Some(prompt) => format!("The picture was made from this description: {prompt}"),
            None => "The picture was made.".to_owned(),
        };
        let data = json!({"images": [kept.data], "revised_prompt": picture.revised_prompt});
        Ok(ToolOutput {
            content: vec![Content::text(text), kept.content],
            structured: Some(data),
            is_error: false,
        })
    }
}

/// The code of a refusal; none when there is none.
fn refusal(answer: &Answer) -> Option<String> {
    if answer.status.is_success() {
        return None;
    }
    let body: Value = serde_json::from_slice(&answer.bytes).ok()?;
    body.pointer("/error/code").and_then(Value::as_str).map(str::to_owned)
}

#[derive(Deserialize)]
struct Drawn {
    data: Vec<Picture>,
}

#[derive(Deserialize)]
struct Picture {
    b64_json: String,
    revised_prompt: Option<String>,
}
