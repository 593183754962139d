//! Drawing itself: a chart on an SVG or a bitmap, by the same code. Knows nothing of arguments or answers.

mod axes;
mod pie;

use std::sync::OnceLock;

use ab_glyph::{Font as _, FontRef};
use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingBackend, FontStyle, IntoDrawingArea as _, RGBColor, SVGBackend, WHITE,
};
use plotters::style::register_font;

/// Letters of Latin, Greek, Cyrillic and Chinese (GB 2312). Where it comes from: `docs/decisions/0011-charts.md`.
static FONT: &[u8] = include_bytes!("../_asset/labels.otf");

/// The family that SVG readers take from their own fonts, and bitmaps from [`FONT`].
const FAMILY: &str = "sans-serif";

/// Told apart also by people who see colours differently, and in print.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x33, 0x6f, 0xb5),
    RGBColor(0xe0, 0x7b, 0x28),
    RGBColor(0x2f, 0x93, 0x5d),
    RGBColor(0xc2, 0x3b, 0x4b),
    RGBColor(0x7d, 0x5a, 0xb0),
    RGBColor(0x8a, 0x6d, 0x3b),
    RGBColor(0x1f, 0x9c, 0xa8),
    RGBColor(0x6b, 0x72, 0x80),
];

/// Bitmaps are drawn this much larger and then made smaller, which smooths their edges.
const OVERSIZE: u32 = 2;

/// What is drawn.
pub(super) struct Chart<'a> {
    pub(super) is_line: bool,
    pub(super) title: &'a str,
    pub(super) unit: &'a str,
    pub(super) labels: &'a [String],
    pub(super) series: Vec<(&'a str, &'a [Option<f64>])>,
}

/// The chart as SVG.
pub(super) fn svg(chart: &Chart<'_>, is_pie: bool, size: (u32, u32)) -> Result<String, String> {
    let mut svg = String::new();
    draw(SVGBackend::with_string(&mut svg, size).into_drawing_area(), chart, is_pie, 1)?;
    Ok(svg)
}

/// The chart as pixels of three bytes: red, green, blue.
pub(super) fn pixels(
    chart: &Chart<'_>,
    is_pie: bool,
    (width, height): (u32, u32),
) -> Result<Vec<u8>, String> {
    let large = (width * OVERSIZE, height * OVERSIZE);
    let mut buffer = vec![255; large.0 as usize * large.1 as usize * 3];
    draw(BitMapBackend::with_buffer(&mut buffer, large).into_drawing_area(), chart, is_pie, OVERSIZE)?;
    Ok(smaller(&buffer, width as usize, height as usize))
}

/// The characters that the font does not have.
pub(super) fn missing(chart: &Chart<'_>) -> Vec<char> {
    let Ok(font) = FontRef::try_from_slice(FONT) else { return Vec::new() };
    let names = chart.series.iter().map(|(name, _)| *name);
    let texts = chart.labels.iter().map(String::as_str).chain(names).chain([chart.title, chart.unit]);
    let mut missing: Vec<_> = texts.flat_map(str::chars).filter(|c| font.glyph_id(*c).0 == 0).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

fn draw<DB: DrawingBackend>(
    root: DrawingArea<DB, Shift>,
    chart: &Chart<'_>,
    is_pie: bool,
    scale: u32,
) -> Result<(), String> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    if !REGISTERED.get_or_init(|| register_font(FAMILY, FontStyle::Normal, FONT).is_ok()) {
        return Err("the font of charts cannot be read".to_owned());
    }
    root.fill(&WHITE).map_err(|error| error.to_string())?;
    let area = match chart.title.trim() {
        "" => root.clone(),
        title => root.titled(title, (FAMILY, 22 * scale)).map_err(|error| error.to_string())?,
    };
    let drawn = if is_pie { pie::draw(&area, chart, scale) } else { axes::draw(&area, chart, scale) };
    drawn.map_err(|error| error.to_string())?;
    root.present().map_err(|error| error.to_string())
}

/// A number as it stands beside a chart: without more digits than matter.
fn shown(number: f64) -> String {
    let size = number.abs();
    let text = match size {
        size if size >= 1e12 => return format!("{}e12", shown(number / 1e12)),
        size if size >= 1e4 || size.fract() == 0.0 => format!("{number:.0}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Each pixel the mean of four.
fn smaller(large: &[u8], width: usize, height: usize) -> Vec<u8> {
    let scale = OVERSIZE as usize;
    let row = width * scale * 3;
    let mut small = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..3 {
                let at = |dy: usize, dx: usize| {
                    u32::from(large[(y * scale + dy) * row + (x * scale + dx) * 3 + channel])
                };
                let mean = (at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1) + 2) / 4;
                small.push(u8::try_from(mean).unwrap_or(u8::MAX));
            }
        }
    }
    small
}
