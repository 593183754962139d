//! `paint/picture`: uses a parameter of every type.

use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use super::{PictureParams, PictureStyle};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureArgs {
    /// What to paint.
    pub prompt: String,
}

/// Builds the tool.
pub fn picture(
    params: PictureParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = PictureArgs>, BuildError> {
    Ok(Picture { params })
}

struct Picture {
    params: PictureParams,
}

impl CallTool for Picture {
    type Args = PictureArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let PictureParams { size, style, strength, count, watermark, prefix, api_key } = &self.params;
        Ok(ToolOutput::text_of(format!(
            "{} {} {} {strength} {count} {watermark} {}-letter key",
            prefix.as_deref().unwrap_or("a"),
            args.prompt,
            style.map_or(size.as_str(), PictureStyle::as_str),
            api_key.expose_secret().len(),
        )))
    }
}
