//! Lines and bars, over axes with labels that do not run into one another.

use plotters::chart::{ChartBuilder, ChartContext, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    BLACK, Cartesian2d, Circle, Color as _, DrawingArea, DrawingAreaErrorKind, DrawingBackend, LineSeries,
    RGBColor, Rectangle, Text, TextStyle, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{COLOURS, Chart, FAMILY, shown};

type Failure<DB> = DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>;
type Plot<'a, DB> = ChartContext<'a, DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// How much of its place a group of bars takes.
const BARS: f64 = 0.8;
/// The grey of axes and grid.
const GRID: RGBColor = RGBColor(0xd9, 0xdd, 0xe3);

pub(super) fn draw<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Chart<'_>,
    scale: u32,
) -> Result<(), Failure<DB>> {
    let (low, high) = range(chart);
    let count = as_float(chart.labels.len());
    let letters = TextStyle::from((FAMILY, 14 * scale)).color(&BLACK);
    let widest = [low, high].map(|number| shown(number).len()).into_iter().max().unwrap_or(1);
    let left = u32::try_from(widest).unwrap_or(8) * 8 * scale + 20 * scale;
    let mut plot = ChartBuilder::on(area)
        .margin(16 * scale)
        .x_label_area_size(30 * scale)
        .y_label_area_size(left + if chart.unit.is_empty() { 0 } else { 20 * scale })
        .build_cartesian_2d(-0.5..count - 0.5, low..high)?;
    plot.configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(6)
        .y_label_formatter(&|number| shown(*number))
        .y_desc(chart.unit)
        .label_style(letters.clone())
        .axis_style(GRID)
        .bold_line_style(GRID)
        .light_line_style(WHITE)
        .draw()?;
    for at in 0..chart.series.len() {
        if chart.is_line { line(&mut plot, chart, at, scale)? } else { bars(&mut plot, chart, at, scale)? }
    }
    labels(area, &plot, chart, &letters, low, scale)?;
    if chart.series.len() > 1 {
        plot.configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.85))
            .border_style(GRID)
            .label_font(letters)
            .draw()?;
    }
    Ok(())
}

fn line<DB: DrawingBackend>(
    plot: &mut Plot<'_, DB>,
    chart: &Chart<'_>,
    at: usize,
    scale: u32,
) -> Result<(), Failure<DB>> {
    let (name, values) = chart.series[at];
    let colour = COLOURS[at % COLOURS.len()];
    let points: Vec<_> = values.iter().enumerate().map(|(x, y)| y.map(|y| (as_float(x), y))).collect();
    // Where a number is missing, the line is broken.
    for run in points.split(Option::is_none) {
        plot.draw_series(LineSeries::new(run.iter().flatten().copied(), colour.stroke_width(2 * scale)))?;
    }
    let dots = points.iter().flatten().filter(|_| values.len() <= 60);
    plot.draw_series(dots.map(|point| Circle::new(*point, 3 * scale, colour.filled())))?
        .label(name)
        .legend(key(colour, scale));
    Ok(())
}

fn bars<DB: DrawingBackend>(
    plot: &mut Plot<'_, DB>,
    chart: &Chart<'_>,
    at: usize,
    scale: u32,
) -> Result<(), Failure<DB>> {
    let (name, values) = chart.series[at];
    let colour = COLOURS[at % COLOURS.len()];
    let width = BARS / as_float(chart.series.len());
    let bar = |(x, y): (usize, f64)| {
        let left = as_float(x) - BARS / 2.0 + width * as_float(at);
        Rectangle::new([(left, 0.0), (left + width * 0.94, y)], colour.filled())
    };
    let numbers = values.iter().enumerate().filter_map(|(x, y)| y.map(|y| (x, y)));
    plot.draw_series(numbers.map(bar))?.label(name).legend(key(colour, scale));
    Ok(())
}

/// The sample of a colour in the list of series.
fn key(colour: RGBColor, scale: u32) -> impl Fn((i32, i32)) -> Rectangle<(i32, i32)> {
    let size = i32::try_from(scale).unwrap_or(1);
    move |(x, y)| Rectangle::new([(x, y - 4 * size), (x + 12 * size, y + 4 * size)], colour.filled())
}

/// The labels below the axis, as many as fit.
fn labels<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    plot: &Plot<'_, DB>,
    chart: &Chart<'_>,
    letters: &TextStyle<'_>,
    low: f64,
    scale: u32,
) -> Result<(), Failure<DB>> {
    let style = letters.clone().pos(Pos::new(HPos::Center, VPos::Top));
    let (base_x, base_y) = area.get_base_pixel();
    let place = |x: usize| plot.backend_coord(&(as_float(x), low));
    let step = f64::from(place(1).0 - place(0).0).max(1.0);
    let mut widest = 1;
    for label in chart.labels {
        widest = widest.max(area.estimate_text_size(label, letters)?.0);
    }
    let needed = (f64::from(widest + 10 * scale) / step).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let every = (needed as usize).max(1);
    let gap = i32::try_from(8 * scale).unwrap_or(8);
    for (x, label) in chart.labels.iter().enumerate().step_by(every) {
        let (left, top) = place(x);
        area.draw(&Text::new(label.clone(), (left - base_x, top - base_y + gap), style.clone()))?;
    }
    Ok(())
}

/// From the least to the greatest number, with some air; bars begin at zero.
fn range(chart: &Chart<'_>) -> (f64, f64) {
    let numbers = || chart.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let mut low = numbers().fold(f64::INFINITY, f64::min);
    let mut high = numbers().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return (0.0, 1.0);
    }
    if !chart.is_line {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    // What is all the same, or nearly, would leave nothing to divide.
    let least = (low.abs().max(high.abs()) * 1e-6).max(1e-9);
    if high - low < least {
        let air = if high == 0.0 { 1.0 } else { high.abs() * 0.1 };
        (low, high) = (low - air, high + air);
        return if chart.is_line { (low, high) } else { (low.min(0.0), high.max(0.0)) };
    }
    let air = (high - low) * 0.06;
    let is_floor = !chart.is_line && low >= 0.0;
    let is_ceiling = !chart.is_line && high <= 0.0;
    (if is_floor { 0.0 } else { low - air }, if is_ceiling { 0.0 } else { high + air })
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
fn as_float(count: usize) -> f64 {
    count as f64
}
