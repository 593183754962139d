//! `qrcode/generate`: a text as a QR code (ISO/IEC 18004), with the quiet zone of four modules around it.

use std::fmt::Write as _;

use qrcode::{EcLevel, QrCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::GenerateParams;
use crate::contract::{
    BuildError, CallContext, CallTool, Content, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};
use crate::pictures::{Album, png_of_grey};

/// The quiet zone, in modules.
const QUIET: usize = 4;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerateArgs {
    /// What the code holds: usually a web address; at most 2000 bytes. Short texts give codes that are easier to read.
    #[schemars(length(min = 1, max = 2000))]
    pub text: String,
    /// The kind of picture. Left out: `png`.
    #[serde(default)]
    pub format: Format,
    /// About how wide the picture shall be, in pixels. Left out: 400.
    #[schemars(range(min = 100, max = 2000))]
    #[serde(default = "default_size")]
    pub size: u16,
    /// How much of the code may be damaged and still be read: `low` 7 %, `medium` 15 %, `high` 30 %. Left out: `medium`.
    #[serde(default)]
    pub correction: Correction,
}

fn default_size() -> u16 {
    400
}

/// A kind of picture.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Format {
    #[default]
    Png,
    Svg,
}

/// How much damage is borne.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Correction {
    Low,
    #[default]
    Medium,
    High,
}

/// Builds the tool.
pub fn generate(
    _params: GenerateParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = GenerateArgs>, BuildError> {
    Ok(Generate { album: Album::new(deps) })
}

struct Generate {
    album: Album,
}

impl CallTool for Generate {
    type Args = GenerateArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let (bytes, media_type) = compute(move || draw(&args)).await??;
        let kept = self.album.keep(bytes.into(), media_type, cx).await;
        Ok(ToolOutput {
            content: vec![Content::text("The QR code was drawn."), kept.content],
            structured: Some(json!({"images": [kept.data]})),
            is_error: false,
        })
    }
}

fn draw(args: &GenerateArgs) -> Result<(Vec<u8>, &'static str), ToolError> {
    let level = match args.correction {
        Correction::Low => EcLevel::L,
        Correction::Medium => EcLevel::M,
        Correction::High => EcLevel::H,
    };
    let code = QrCode::with_error_correction_level(args.text.as_bytes(), level).map_err(|_| {
        invalid_argument("text", "is too long for one code: shorten it, or lower `correction`")
    })?;
    let modules = Modules {
        dark: code.to_colors().iter().map(|color| *color == qrcode::Color::Dark).collect(),
        width: code.width(),
    };
    match args.format {
        Format::Svg => Ok((modules.svg(args.size).into_bytes(), "image/svg+xml")),
        Format::Png => {
            let (pixels, side) = modules.pixels(args.size);
            Ok((png_of_grey(&pixels, side, side).map_err(ToolError::internal)?, "image/png"))
        }
    }
}

struct Modules {
    dark: Vec<bool>,
    width: usize,
}

impl Modules {
    fn with_quiet(&self) -> usize {
        self.width + 2 * QUIET
    }

    /// A path of one square per dark module.
    fn svg(&self, size: u16) -> String {
        let all = self.with_quiet();
        let mut path = String::new();
        for (at, _) in self.dark.iter().enumerate().filter(|(_, dark)| **dark) {
            let (x, y) = (at % self.width + QUIET, at / self.width + QUIET);
            let _ = write!(path, "M{x} {y}h1v1h-1z");
        }
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {all} {all}" shape-rendering="crispEdges"><rect width="{all}" height="{all}" fill="#fff"/><path fill="#000" d="{path}"/></svg>"##
        )
    }

    /// Grey pixels, and how many to a side: a whole number of pixels to a module.
    fn pixels(&self, size: u16) -> (Vec<u8>, u32) {
        let scale = (usize::from(size) / self.with_quiet()).max(1);
        let side = self.with_quiet() * scale;
        let mut pixels = vec![255; side * side];
        for (at, _) in self.dark.iter().enumerate().filter(|(_, dark)| **dark) {
            let (x, y) = ((at % self.width + QUIET) * scale, (at / self.width + QUIET) * scale);
            for row in y..y + scale {
                pixels[row * side + x..row * side + x + scale].fill(0);
            }
        }
        (pixels, u32::try_from(side).unwrap_or(u32::MAX))
    }
}
