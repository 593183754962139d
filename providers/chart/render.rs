//! `chart/render`: numbers as a picture. How labels get their letters: `docs/decisions/0011-charts.md`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{RenderParams, shared};
use crate::contract::{
    BuildError, CallContext, CallTool, Content, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};
use crate::pictures::{Album, png_of_rgb};

/// The longest label or name, in characters.
const LONGEST_LABEL: usize = 80;
/// The largest number that is drawn, up or down.
const LARGEST_NUMBER: f64 = 1e15;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenderArgs {
    /// The kind of chart. A pie shows the first series only.
    pub kind: Kind,
    /// What stands above the chart.
    #[schemars(length(max = 100))]
    pub title: Option<String>,
    /// What the numbers are of, in order: months, cities, names.
    #[schemars(length(min = 1, max = 200))]
    pub labels: Vec<String>,
    /// The numbers.
    #[schemars(length(min = 1, max = 8))]
    pub series: Vec<Series>,
    /// What the numbers are in, such as `万元` or `km`; stands beside the axis.
    #[schemars(length(max = 30))]
    pub unit: Option<String>,
    /// The kind of picture. Left out: `png`.
    #[serde(default)]
    pub format: Format,
    /// In pixels. Left out: 800.
    #[schemars(range(min = 300, max = 1600))]
    #[serde(default = "default_width")]
    pub width: u16,
    /// In pixels. Left out: 500.
    #[schemars(range(min = 200, max = 1200))]
    #[serde(default = "default_height")]
    pub height: u16,
}

fn default_width() -> u16 {
    800
}

fn default_height() -> u16 {
    500
}

/// Numbers that belong together.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Series {
    /// What they are called.
    #[schemars(length(max = 80))]
    pub name: String,
    /// One number for each label, or null where there is none.
    #[schemars(length(min = 1, max = 200))]
    pub values: Vec<Option<f64>>,
}

/// A kind of chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Kind {
    Line,
    Bar,
    Pie,
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

/// Builds the tool.
pub fn render(
    _params: RenderParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = RenderArgs>, BuildError> {
    Ok(Render { album: Album::new(deps) })
}

struct Render {
    album: Album,
}

impl CallTool for Render {
    type Args = RenderArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        check(&args)?;
        let drawn = compute(move || draw(&args)).await?.map_err(ToolError::internal)?;
        let kept = self.album.keep(drawn.bytes.into(), drawn.media_type, cx).await;
        let text = if drawn.missing.is_empty() {
            "The chart was drawn.".to_owned()
        } else {
            let missing: String = drawn.missing.iter().collect();
            format!("The chart was drawn, but the font has no `{missing}`: ask for `svg` to show these.")
        };
        Ok(ToolOutput {
            content: vec![Content::text(text), kept.content],
            structured: Some(json!({"images": [kept.data]})),
            is_error: false,
        })
    }
}

fn check(args: &RenderArgs) -> Result<(), ToolError> {
    let too_long = |text: &String| text.chars().count() > LONGEST_LABEL;
    if args.labels.is_empty() || args.labels.iter().any(too_long) {
        return Err(invalid_argument(
            "labels",
            format!("must be there, with at most {LONGEST_LABEL} characters each"),
        ));
    }
    if args.series.is_empty() {
        return Err(invalid_argument("series", "is empty: give at least one"));
    }
    for (at, series) in args.series.iter().enumerate() {
        let wrong = |message: String| Err(invalid_argument(&format!("series/{at}/values"), message));
        if series.values.len() != args.labels.len() {
            return wrong(format!(
                "holds {} numbers for {} labels: give one for each",
                series.values.len(),
                args.labels.len()
            ));
        }
        let numbers = || series.values.iter().flatten();
        if numbers().any(|number| number.abs() > LARGEST_NUMBER) {
            return wrong(format!("holds a number beyond {LARGEST_NUMBER}: use a larger unit"));
        }
        if args.kind == Kind::Pie
            && (numbers().any(|number| *number < 0.0) || !numbers().any(|number| *number > 0.0))
        {
            return wrong("cannot be a pie: its parts must not be negative, and not all be zero".to_owned());
        }
    }
    Ok(())
}

struct Drawn {
    bytes: Vec<u8>,
    media_type: &'static str,
    missing: Vec<char>,
}

fn draw(args: &RenderArgs) -> Result<Drawn, String> {
    let chart = shared::Chart {
        is_line: args.kind == Kind::Line,
        title: args.title.as_deref().unwrap_or_default(),
        unit: args.unit.as_deref().unwrap_or_default(),
        labels: &args.labels,
        series: args.series.iter().map(|series| (series.name.as_str(), series.values.as_slice())).collect(),
    };
    let size = (u32::from(args.width), u32::from(args.height));
    let is_pie = args.kind == Kind::Pie;
    match args.format {
        Format::Svg => {
            let svg = shared::svg(&chart, is_pie, size)?;
            Ok(Drawn { bytes: svg.into_bytes(), media_type: "image/svg+xml", missing: Vec::new() })
        }
        Format::Png => {
            let pixels = shared::pixels(&chart, is_pie, size)?;
            let bytes = png_of_rgb(&pixels, size.0, size.1).map_err(|error| error.to_string())?;
            Ok(Drawn { bytes, media_type: "image/png", missing: shared::missing(&chart) })
        }
    }
}
