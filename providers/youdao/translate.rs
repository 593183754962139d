//! `youdao/translate`: text translation by Youdao.
//!
//! A form to `POST /api`, signed with SHA-256 over key, shortened text, salt, time and secret (ai.youdao.com,
//! "文本翻译服务", signature v3). Refusals come with status 200 and an `errorCode`.

use std::sync::Arc;

use domain::ports::Clock;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::TranslateParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::upstream::{Vendor, base_url, below};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslateArgs {
    /// The text to translate.
    #[schemars(length(min = 1, max = 5000))]
    pub text: String,
    /// The language to translate to: `zh-CHS`, `zh-CHT`, `en`, `ja`, `ko`, `fr`, `de`, `es`, `ru`, `ar`, and others.
    #[schemars(length(min = 2, max = 10))]
    pub to: String,
    /// The language of the text. Left out: found out by itself.
    #[schemars(length(min = 2, max = 10))]
    #[serde(default = "auto")]
    pub from: String,
}

fn auto() -> String {
    "auto".to_owned()
}

/// Builds the tool.
pub fn translate(
    params: TranslateParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = TranslateArgs>, BuildError> {
    Ok(Translate {
        vendor: Vendor::new("youdao", "Youdao", deps),
        endpoint: below(&base_url(&params.url)?, &["api"]),
        clock: Arc::clone(&deps.clock),
    })
}

struct Translate {
    vendor: Vendor,
    endpoint: Url,
    clock: Arc<dyn Clock>,
}

impl CallTool for Translate {
    type Args = TranslateArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let mut stored = self.vendor.stored(cx).await?;
        let key = stored.remove("app_key").ok_or_else(|| self.vendor.missing("app_key"))?;
        let secret = stored.remove("app_secret").ok_or_else(|| self.vendor.missing("app_secret"))?;
        let salt = uuid::Uuid::new_v4().to_string();
        let time = self.clock.now().as_second().to_string();
        let sign = sign(&key, &secret, &args.text, &salt, &time);
        let to = match args.to.as_str() {
            "zh" | "zh-CN" | "zh-Hans" => "zh-CHS",
            "zh-TW" | "zh-Hant" => "zh-CHT",
            other => other,
        };
        let request = self.vendor.http.post(self.endpoint.clone()).form(&[
            ("q", args.text.as_str()),
            ("from", &args.from),
            ("to", to),
            ("appKey", key.expose_secret()),
            ("salt", &salt),
            ("sign", &sign),
            ("signType", "v3"),
            ("curtime", &time),
        ]);
        let answer = self.vendor.send(request, &[&key, &secret], cx).await?.ok()?;
        let said: Said = answer.json()?;
        match said.code.as_str() {
            "0" => Ok(said.output()),
            "102" => Ok(ToolOutput::failed(format!(
                "Youdao does not know the language `{to}` or `{}`. Use codes such as `zh-CHS`, `en`, `ja`.",
                args.from
            ))),
            "103" => Ok(ToolOutput::failed("The text is too long. Translate it in parts.")),
            "101" | "108" | "110" | "111" | "112" | "202" | "203" | "205" | "206" | "207" => {
                Err(refused(&said.code))
            }
            "401" | "402" => Err(answer.over_quota()),
            "411" | "412" => Err(answer.too_many()),
            _ => Err(answer.failed()),
        }
    }
}

/// The service tells numbers only.
fn refused(code: &str) -> ToolError {
    let why = match code {
        "108" => "the application id is unknown",
        "110" | "112" => "the application is not bound to text translation",
        "202" => "the signature does not fit: the application secret is wrong",
        "203" => "the address of this server is not on the application's list",
        "206" => "the clock of this server is wrong",
        _ => "see the list of codes of Youdao",
    };
    let what = format!("Youdao refused the credentials of `youdao` (errorCode {code}: {why})");
    ToolError::MissingCredential { what }
}

fn sign(key: &SecretString, secret: &SecretString, text: &str, salt: &str, time: &str) -> String {
    let signed = format!("{}{}{salt}{time}{}", key.expose_secret(), shortened(text), secret.expose_secret());
    hex::encode(Sha256::digest(signed.as_bytes()))
}

/// A text of more than 20 characters is signed by its first and last ten and its length between.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= 20 {
        return text.to_owned();
    }
    let first: String = text.chars().take(10).collect();
    let last: String = text.chars().skip(count - 10).collect();
    format!("{first}{count}{last}")
}

#[derive(Deserialize)]
struct Said {
    #[serde(rename = "errorCode")]
    code: String,
    #[serde(default)]
    translation: Vec<String>,
    /// Both languages, as `en2zh-CHS`.
    #[serde(default)]
    l: String,
}

impl Said {
    fn output(self) -> ToolOutput {
        let text = self.translation.join("\n");
        let (from, to) = self.l.split_once('2').unwrap_or_default();
        ToolOutput::structured(text.clone(), json!({"translation": text, "from": from, "to": to}))
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_are_signed_in_short() {
        assert_eq!(shortened("12345678901234567890"), "12345678901234567890");
        assert_eq!(
            shortened("一二三四五六七八九十XX一二三四五六七八九十"),
            "一二三四五六七八九十22一二三四五六七八九十"
        );
    }
}
