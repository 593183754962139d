//! `frankfurter/convert`: money at the reference rates of the European Central Bank.
//!
//! `GET /latest` or `GET /{date}` with `base` and `symbols` (frankfurter.dev). 404 means an unknown currency or a day
//! without rates; on days without trade the rates of the last working day are given.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};
use url::Url;

use super::ConvertParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};
use crate::upstream::{Vendor, base_url, below};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertArgs {
    /// How much money. Left out: 1.
    #[schemars(range(min = 0.0, max = 1e15))]
    #[serde(default = "one")]
    pub amount: f64,
    /// The currency of the amount, by its code of three letters: `CNY`, `USD`, `EUR`, `JPY`.
    #[schemars(length(equal = 3))]
    pub from: String,
    /// The currencies wanted, by their codes.
    #[schemars(length(min = 1, max = 30), inner(length(equal = 3)))]
    pub to: Vec<String>,
    /// The day whose rates to use, as `2026-12-01`. Left out: the newest rates.
    pub date: Option<String>,
}

fn one() -> f64 {
    1.0
}

/// Builds the tool.
pub fn convert(
    params: ConvertParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = ConvertArgs>, BuildError> {
    Ok(Convert { vendor: Vendor::new("frankfurter", "Frankfurter", deps), base: base_url(&params.url)? })
}

struct Convert {
    vendor: Vendor,
    base: Url,
}

impl CallTool for Convert {
    type Args = ConvertArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let from = code("from", &args.from)?;
        let to = args.to.iter().map(|to| code("to", to)).collect::<Result<Vec<_>, _>>()?;
        if to.contains(&from) {
            return Err(invalid_argument("to", format!("holds `{from}`, which is what is converted from")));
        }
        let day = match &args.date {
            Some(text) => {
                let date: Date = text
                    .trim()
                    .parse()
                    .map_err(|_| invalid_argument("date", "is no day: write it as `2026-12-01`"))?;
                date.to_string()
            }
            None => "latest".to_owned(),
        };
        let symbols = to.join(",");
        let request = self.vendor.http.get(below(&self.base, &[&day]));
        let request = request.query(&[("base", from.as_str()), ("symbols", &symbols)]);
        let answer = self.vendor.send(request, &[], cx).await?;
        if matches!(answer.status.as_u16(), 404 | 422) {
            let text = format!(
                "There are no rates of {from} to {symbols} for this day. Rates begin in 1999 and know about 30 currencies."
            );
            return Ok(ToolOutput::failed(text));
        }
        let rates: Rates = answer.ok()?.json()?;
        Ok(rates.output(args.amount, &from, &to))
    }
}

fn code(argument: &str, text: &str) -> Result<String, ToolError> {
    let code = text.trim().to_ascii_uppercase();
    let is_code = code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase());
    is_code
        .then_some(code)
        .ok_or_else(|| invalid_argument(argument, "is no currency code of three letters such as `USD`"))
}

#[derive(Deserialize)]
struct Rates {
    date: String,
    rates: std::collections::BTreeMap<String, f64>,
}

impl Rates {
    fn output(self, amount: f64, from: &str, to: &[String]) -> ToolOutput {
        let mut lines = Vec::new();
        let mut results = Map::new();
        for code in to {
            match self.rates.get(code) {
                Some(rate) => {
                    let value = rounded(amount * rate);
                    lines.push(format!("{amount} {from} = {value} {code}"));
                    results.insert(code.clone(), json!({"amount": value, "rate": rate}));
                }
                None => lines.push(format!("There is no rate for {code}.")),
            }
        }
        lines.push(format!("Reference rates of {}.", self.date));
        let data = json!({"date": self.date, "from": from, "amount": amount, "to": results});
        ToolOutput::structured(lines.join("\n"), data)
    }
}

/// Money to four decimals: rates have no more.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
