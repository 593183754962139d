//! `calculator/evaluate`: arithmetic with units, exact where it can be.

use std::time::{Duration, Instant};

use fend_core::{Context, Interrupt};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::EvaluateParams;
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};

/// The longest expression, in bytes.
const LONGEST: usize = 1000;
/// The deepest nesting of brackets and chain of signs: the library descends once for each.
const DEEPEST: usize = 48;
/// How long a calculation may take.
const TIME: Duration = Duration::from_secs(2);
/// The longest result, in bytes.
const LONGEST_RESULT: usize = 20_000;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvaluateArgs {
    /// The expression, for example `(3 + 4) * 2^10`, `100 kg to lb`, `1/3 to 20 dp`.
    #[schemars(length(min = 1, max = 1000))]
    pub expression: String,
}

/// Builds the tool.
pub fn evaluate(
    _params: EvaluateParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = EvaluateArgs>, BuildError> {
    Ok(Evaluate)
}

struct Evaluate;

impl CallTool for Evaluate {
    type Args = EvaluateArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        check(&args.expression).map_err(|message| invalid_argument("expression", message))?;
        let result = compute(move || calculate(&args.expression, TIME)).await?;
        Ok(match result {
            Ok(value) => {
                let approximate = value.starts_with("approx. ");
                let data =
                    json!({"result": value.trim_start_matches("approx. "), "approximate": approximate});
                ToolOutput::structured(value, data)
            }
            Err(message) => ToolOutput::failed(message),
        })
    }
}

/// What the library would not survive is refused before it sees it.
fn check(expression: &str) -> Result<(), String> {
    if expression.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if expression.len() > LONGEST {
        return Err(format!("is longer than {LONGEST} bytes: calculate it in parts"));
    }
    let mut depth = 0_usize;
    let mut chain = 0_usize;
    for c in expression.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        chain = if c.is_alphanumeric() { 0 } else { chain + usize::from(!c.is_whitespace()) };
        if depth.max(chain) > DEEPEST {
            return Err(format!("nests deeper than {DEEPEST} levels: calculate it in parts"));
        }
    }
    Ok(())
}

fn calculate(expression: &str, time: Duration) -> Result<String, String> {
    let until = Until(Instant::now() + time);
    // A context of its own: nothing is remembered from call to call. It has no randomness and no exchange rates.
    let result = fend_core::evaluate_with_interrupt(expression, &mut Context::new(), &until);
    match result {
        Ok(result) if result.get_main_result().len() > LONGEST_RESULT => {
            Err(format!("The result has more than {LONGEST_RESULT} characters: ask for fewer digits."))
        }
        Ok(result) => Ok(result.get_main_result().to_owned()),
        Err(_) if until.should_interrupt() => {
            Err(format!("The calculation took longer than {} s: make it smaller.", time.as_secs()))
        }
        Err(error) => Err(format!("This cannot be calculated: {error}")),
    }
}

struct Until(Instant);

impl Interrupt for Until {
    fn should_interrupt(&self) -> bool {
        Instant::now() >= self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_exact_where_they_can_be() {
        let table = [
            ("0.1 + 0.2", "0.3"),
            ("2^100", "1267650600228229401496703205376"),
            ("1/3 + 1/6", "0.5"),
            ("1/3 to fraction", "1/3"),
            ("60 mph to km/h", "96.56064 km / h"),
            ("15% of 80", "12"),
            ("0xff to decimal", "255"),
            ("100 °C to °F", "212 °F"),
        ];
        for (expression, expected) in table {
            assert_eq!(calculate(expression, TIME).as_deref(), Ok(expected), "{expression}");
        }
        assert!(calculate("sqrt(2)", TIME).unwrap().starts_with("approx. 1.414"));
    }

    #[test]
    fn endless_calculations_end() {
        for expression in ["10^10^10", "999999!", "2^2^40", "3^(2^30) mod 7"] {
            let result = calculate(expression, Duration::from_millis(50));
            let message = result.expect_err(expression);
            assert!(message.contains("longer than") || message.contains("cannot"), "{expression}: {message}");
        }
    }

    #[tokio::test]
    async fn expressions_of_the_worst_shape_do_not_exhaust_the_stack() {
        let nest = |open: &str, close: &str, times: usize| open.repeat(times) + "1" + &close.repeat(times);
        let mut accepted = 0;
        for (open, close) in [
            ("(", ")"),
            ("-", ""),
            ("+", ""),
            ("!", ""),
            ("sqrt(", ")"),
            ("x:", ""),
            ("1+", ""),
            ("1^", ""),
            ("2 ", ""),
            ("1 to ", ""),
            ("a=", ""),
            ("sin ", ""),
            ("1;", ""),
            ("\\x.", ""),
            ("x=>", ""),
        ] {
            for times in [DEEPEST - 8, LONGEST / (open.len() + close.len()) - 2] {
                let expression = nest(open, close, times);
                if check(&expression).is_ok() {
                    accepted += 1;
                    let work = move || calculate(&expression, Duration::from_millis(200));
                    compute(work).await.unwrap().ok();
                }
            }
        }
        assert!(accepted > 10, "the worst of what is accepted was tried");
    }
}
