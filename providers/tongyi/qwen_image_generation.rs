//! `tongyi/qwen_image_generation`: a picture by Qwen-Image on Alibaba Cloud Model Studio.
//!
//! `qwen-image` and `qwen-image-plus` are asked through an asynchronous task: submitted with
//! `X-DashScope-Async: enable` to `services/aigc/text2image/image-synthesis`, then polled at `tasks/{id}`.
//! `qwen-image-max` answers `services/aigc/multimodal-generation/generation` at once and knows no tasks
//! (help.aliyun.com/zh/model-studio/qwen-image-api, "错误码"). Addresses of pictures work for a day, so pictures
//! are fetched and kept.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{QwenImageGenerationModel, QwenImageGenerationParams};
use crate::contract::{BuildError, CallContext, CallTool, Content, ToolDeps, ToolError, ToolOutput};
use crate::pictures::{Album, media_type};
use crate::upstream::{Answer, Vendor, base_url, below};

/// The largest picture that is fetched, in bytes.
const LARGEST: u64 = 24 * 1024 * 1024;
/// How long is waited before the first look at a task, and at most between two.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QwenImageGenerationArgs {
    /// What the picture shows, in Chinese or English: subject, setting, style. Text to be written in the picture
    /// stands in quotes.
    #[schemars(length(min = 1, max = 800))]
    pub prompt: String,
    /// What the picture must not show.
    #[schemars(length(max = 500))]
    pub negative_prompt: Option<String>,
}

/// Builds the tool.
pub fn qwen_image_generation(
    params: QwenImageGenerationParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = QwenImageGenerationArgs>, BuildError> {
    Ok(QwenImageGeneration {
        vendor: Vendor::new("tongyi", "Alibaba Cloud Model Studio", deps),
        album: Album::new(deps),
        base: base_url(&params.url)?,
        params,
    })
}

struct QwenImageGeneration {
    vendor: Vendor,
    album: Album,
    base: Url,
    params: QwenImageGenerationParams,
}

impl CallTool for QwenImageGeneration {
    type Args = QwenImageGenerationArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(None, cx).await?;
        let outcome = match self.params.model {
            QwenImageGenerationModel::QwenImageMax => self.at_once(&args, &key, cx).await?,
            _ => self.by_task(&args, &key, cx).await?,
        };
        match outcome {
            Outcome::Drawn { url, prompt } => self.picture(&url, prompt, cx).await,
            Outcome::Refused(words) => Ok(ToolOutput::failed(format!(
                "The model does not draw this: {words} Describe something else, in other words."
            ))),
        }
    }
}

/// How a request for a picture ended.
enum Outcome {
    Drawn { url: String, prompt: Option<String> },
    Refused(String),
}

impl QwenImageGeneration {
    async fn at_once(
        &self,
        args: &QwenImageGenerationArgs,
        key: &SecretString,
        cx: &CallContext,
    ) -> Result<Outcome, ToolError> {
        let input = json!({"messages": [{"role": "user", "content": [{"text": args.prompt}]}]});
        let url = below(&self.base, &["services", "aigc", "multimodal-generation", "generation"]);
        let answer = match self.ask(url, input, args, false, key, cx).await? {
            Ok(answer) => answer,
            Err(refused) => return Ok(refused),
        };
        let body: Value = answer.json()?;
        match body.pointer("/output/choices/0/message/content/0/image").and_then(Value::as_str) {
            Some(url) => Ok(Outcome::Drawn { url: url.to_owned(), prompt: None }),
            None => Err(answer.not_understood("there is no picture in it")),
        }
    }

    async fn by_task(
        &self,
        args: &QwenImageGenerationArgs,
        key: &SecretString,
        cx: &CallContext,
    ) -> Result<Outcome, ToolError> {
        let url = below(&self.base, &["services", "aigc", "text2image", "image-synthesis"]);
        let input = json!({"prompt": args.prompt});
        let answer = match self.ask(url, input, args, true, key, cx).await? {
            Ok(answer) => answer,
            Err(refused) => return Ok(refused),
        };
        let submitted: Task = answer.json()?;
        let id = submitted.output.task_id.ok_or_else(|| answer.not_understood("it names no task"))?;
        let mut wait = FIRST_WAIT;
        loop {
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
            let request = self.vendor.http.get(below(&self.base, &["tasks", &id])).bearer(key);
            let answer = self.vendor.send(request, &[key], cx).await?.ok()?;
            let task: Task = answer.json()?;
            match task.output.task_status.as_str() {
                "PENDING" | "RUNNING" => {
                    if let Some(progress) = &cx.progress {
                        progress.report(0.0, None, Some("the picture is being made"));
                    }
                }
                "SUCCEEDED" => {
                    return task.output.drawn().ok_or_else(|| answer.not_understood("it has no picture"));
                }
                _ => return task.output.refused().ok_or_else(|| answer.failed()),
            }
        }
    }

    /// Asks for a picture; the inner error is a refusal that belongs to the matter.
    async fn ask(
        &self,
        url: Url,
        input: Value,
        args: &QwenImageGenerationArgs,
        as_task: bool,
        key: &SecretString,
        cx: &CallContext,
    ) -> Result<Result<Answer, Outcome>, ToolError> {
        let QwenImageGenerationParams { model, size, prompt_extend, watermark, .. } = &self.params;
        let mut parameters =
            json!({"size": size.as_str(), "n": 1, "prompt_extend": prompt_extend, "watermark": watermark});
        if let Some(unwanted) = args.negative_prompt.as_deref().filter(|text| !text.trim().is_empty()) {
            parameters["negative_prompt"] = json!(unwanted);
        }
        let body = json!({"model": model.as_str(), "input": input, "parameters": parameters});
        let mut request = self.vendor.http.post(url).bearer(key).json(&body);
        if as_task {
            request = request
                .header(HeaderName::from_static("x-dashscope-async"), HeaderValue::from_static("enable"));
        }
        let answer = self.vendor.send(request, &[key], cx).await?;
        let code = failure(&answer);
        match code.as_deref().unwrap_or_default() {
            "InvalidApiKey" => Err(answer.key_refused()),
            "Arrearage" | "Throttling.AllocationQuota" => Err(answer.over_quota()),
            code if code.starts_with("DataInspection") => Ok(Err(Outcome::Refused(answer.words()))),
            _ => answer.ok().map(Ok),
        }
    }

    async fn picture(
        &self,
        url: &str,
        prompt: Option<String>,
        cx: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let url = Url::parse(url).map_err(|error| ToolError::Upstream {
            status: 0,
            body: format!("the picture's address cannot be read: {error}"),
        })?;
        let request = self.vendor.http.get(url).max_response_bytes(LARGEST);
        let answer = self.vendor.send(request, &[], cx).await?.ok()?;
        let kind = media_type(&answer.bytes)
            .ok_or_else(|| answer.not_understood("it is no picture of a known kind"))?;
        let kept = self.album.keep(answer.bytes, kind, cx).await;
        let text = match &prompt {
            Some(prompt) => format!("The picture was made from this description: {prompt}"),
            None => "The picture was made.".to_owned(),
        };
        let data = json!({"images": [kept.data], "actual_prompt": prompt});
        Ok(ToolOutput {
            content: vec![Content::text(text), kept.content],
            structured: Some(data),
            is_error: false,
        })
    }
}

/// The code of a failure; none when there is none.
fn failure(answer: &Answer) -> Option<String> {
    if answer.status.is_success() {
        return None;
    }
    let body: Value = serde_json::from_slice(&answer.bytes).ok()?;
    body.get("code").and_then(Value::as_str).map(str::to_owned)
}

#[derive(Deserialize)]
struct Task {
    output: TaskOutput,
}

#[derive(Deserialize)]
struct TaskOutput {
    task_id: Option<String>,
    #[serde(default)]
    task_status: String,
    #[serde(default)]
    results: Vec<Drawn>,
    code: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Drawn {
    url: Option<String>,
    actual_prompt: Option<String>,
}

impl TaskOutput {
    fn drawn(self) -> Option<Outcome> {
        let first = self.results.into_iter().next()?;
        Some(Outcome::Drawn { url: first.url?, prompt: first.actual_prompt })
    }

    /// A refusal of the content, told from other failures by its code.
    fn refused(self) -> Option<Outcome> {
        let code = self.code.unwrap_or_default();
        let is_content = code.starts_with("DataInspection") || code.starts_with("IPInfringement");
        is_content.then(|| Outcome::Refused(crate::upstream::excerpt(&self.message.unwrap_or(code))))
    }
}
