//! `calculator/statistics`: what a list of numbers says.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::StatisticsParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatisticsArgs {
    /// The numbers.
    #[schemars(length(min = 1, max = 20_000))]
    pub numbers: Vec<f64>,
    /// As many other numbers, one for each, to see how the two go together.
    #[schemars(length(max = 20_000))]
    pub other: Option<Vec<f64>>,
}

/// Builds the tool.
pub fn statistics(
    _params: StatisticsParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = StatisticsArgs>, BuildError> {
    Ok(Statistics)
}

struct Statistics;

impl CallTool for Statistics {
    type Args = StatisticsArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let numbers = &args.numbers;
        if numbers.is_empty() {
            return Err(invalid_argument("numbers", "is empty"));
        }
        let mut told = described(numbers);
        if let Some(other) = args.other.as_deref().filter(|other| !other.is_empty()) {
            if other.len() != numbers.len() {
                let message = format!(
                    "holds {} numbers, and `numbers` {}: there must be as many",
                    other.len(),
                    numbers.len()
                );
                return Err(invalid_argument("other", message));
            }
            told.insert("together".to_owned(), together(numbers, other));
        }
        let line = |(name, value): (&String, &Value)| format!("{name}: {value}");
        let text = told.iter().map(line).collect::<Vec<_>>().join("\n");
        Ok(ToolOutput::structured(text, Value::Object(told)))
    }
}

fn described(numbers: &[f64]) -> Map<String, Value> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mean, squares) = spread(numbers);
    let count = as_float(numbers.len());
    let sample = (numbers.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
    let at = |part: f64| quantile(&sorted, part);
    let fields = [
        ("count", json!(numbers.len())),
        ("sum", json!(numbers.iter().sum::<f64>())),
        ("mean", json!(mean)),
        ("median", json!(at(0.5))),
        ("min", json!(sorted.first())),
        ("max", json!(sorted.last())),
        ("lower_quartile", json!(at(0.25))),
        ("upper_quartile", json!(at(0.75))),
        ("sample_deviation", json!(sample)),
        ("population_deviation", json!((squares / count).sqrt())),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Correlation, and the straight line that fits best. Without any spread there is neither.
fn together(x: &[f64], y: &[f64]) -> Value {
    let ((mean_x, squares_x), (mean_y, squares_y)) = (spread(x), spread(y));
    let products: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = (squares_x > 0.0).then(|| products / squares_x);
    let correlation = (squares_x > 0.0 && squares_y > 0.0).then(|| products / (squares_x * squares_y).sqrt());
    json!({"correlation": correlation, "slope": slope, "intercept": slope.map(|slope| mean_y - slope * mean_x)})
}

/// The mean, and the sum of the squared distances from it, in one pass that does not lose small differences.
fn spread(numbers: &[f64]) -> (f64, f64) {
    let (mut mean, mut squares) = (0.0, 0.0);
    for (seen, number) in numbers.iter().enumerate() {
        let distance = number - mean;
        mean += distance / as_float(seen + 1);
        squares += distance * (number - mean);
    }
    (mean, squares)
}

/// Between two neighbours by their distance, as spreadsheets do (`QUARTILE.INC`).
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * as_float(sorted.len() - 1);
    let below = place.floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the length")]
    let index = below as usize;
    let low = sorted[index];
    let high = sorted[(index + 1).min(sorted.len() - 1)];
    low + (high - low) * (place - below)
}

#[expect(clippy::cast_precision_loss, reason = "counts of what fits in an argument are exact")]
fn as_float(count: usize) -> f64 {
    count as f64
}
