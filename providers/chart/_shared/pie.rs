//! A pie of the first series, with a list of its parts beside it.

use std::f64::consts::TAU;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, Color as _, DrawingArea, DrawingAreaErrorKind, DrawingBackend, Polygon, RGBColor, Rectangle, Text,
    TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{COLOURS, Chart, FAMILY, shown};

type Failure<DB> = DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>;

/// The most parts that are named; what follows is summed up.
const MOST_PARTS: usize = 16;

pub(super) fn draw<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Chart<'_>,
    scale: u32,
) -> Result<(), Failure<DB>> {
    let parts = parts(chart);
    let total: f64 = parts.iter().map(|(_, size)| size).sum();
    let (width, height) = area.dim_in_pixel();
    let radius = (f64::from(height) * 0.44).min(f64::from(width) * 0.28);
    let centre = (f64::from(width) * 0.3, f64::from(height) * 0.5);
    let letters = TextStyle::from((FAMILY, 14 * scale)).color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    let line = f64::from(height) * 0.92 / as_float(parts.len()).max(8.0);
    let top = centre.1 - line * (as_float(parts.len()) - 1.0) / 2.0;
    let mut from = 0.0;
    for (at, (name, size)) in parts.iter().enumerate() {
        let colour = colour(at);
        let to = from + size / total;
        let slice = slice(centre, radius, from, to);
        area.draw(&Polygon::new(slice, colour.filled()))?;
        from = to;
        let y = top + line * as_float(at);
        let x = f64::from(width) * 0.62;
        let side = 6.0 * f64::from(scale);
        area.draw(&Rectangle::new(
            [pixel(x - 3.0 * side, y - side), pixel(x - side, y + side)],
            colour.filled(),
        ))?;
        let unit = if chart.unit.is_empty() { String::new() } else { format!(" {}", chart.unit) };
        let text =
            format!("{name}: {}{unit} ({} %)", shown(*size), shown((size / total * 1000.0).round() / 10.0));
        area.draw(&Text::new(text, pixel(x, y), letters.clone()))?;
    }
    Ok(())
}

/// Names and sizes of the parts that there are.
fn parts(chart: &Chart<'_>) -> Vec<(String, f64)> {
    let values = chart.series.first().map(|(_, values)| *values).unwrap_or_default();
    let sizes = values.iter().map(|size| size.unwrap_or_default());
    let mut parts: Vec<_> = chart.labels.iter().cloned().zip(sizes).filter(|(_, size)| *size > 0.0).collect();
    if parts.len() > MOST_PARTS {
        let rest = parts.split_off(MOST_PARTS - 1);
        parts.push(("…".to_owned(), rest.iter().map(|(_, size)| size).sum()));
    }
    parts
}

/// The outline of a slice between two parts of the whole turn, from the top to the right.
fn slice(centre: (f64, f64), radius: f64, from: f64, to: f64) -> Vec<(i32, i32)> {
    const STEPS: u32 = 180;
    let steps = ((to - from) * f64::from(STEPS)).ceil().max(1.0);
    let mut outline = vec![pixel(centre.0, centre.1)];
    let mut step = 0.0;
    while step <= steps {
        let angle = (from + (to - from) * step / steps) * TAU;
        outline.push(pixel(centre.0 + radius * angle.sin(), centre.1 - radius * angle.cos()));
        step += 1.0;
    }
    outline
}

/// The colours, and lighter ones when they are used up.
fn colour(at: usize) -> RGBColor {
    let RGBColor(red, green, blue) = COLOURS[at % COLOURS.len()];
    let lighter = |part: u8| if at < COLOURS.len() { part } else { part / 2 + 120 };
    RGBColor(lighter(red), lighter(green), lighter(blue))
}

#[expect(clippy::cast_possible_truncation, reason = "within a picture of a few thousand pixels")]
fn pixel(x: f64, y: f64) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

#[expect(clippy::cast_precision_loss, reason = "a few parts")]
fn as_float(count: usize) -> f64 {
    count as f64
}
