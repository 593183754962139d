//! `text/replace`: matches of a pattern replaced.

use std::time::{Duration, Instant};

use regex::{Captures, NoExpand, Replacer as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::ReplaceParams;
use super::shared::{Flags, compile};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};

/// How long replacing may take.
const TIME: Duration = Duration::from_secs(2);
/// The largest result, in bytes.
const LARGEST: usize = 1024 * 1024;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceArgs {
    /// The text.
    #[schemars(length(max = 500_000))]
    pub text: String,
    /// The regular expression to look for; with `plain`, the very text to look for.
    #[schemars(length(min = 1, max = 1000))]
    pub pattern: String,
    /// What to put there. `$1` and `${name}` stand for groups, `$$` for a dollar sign; with `plain`, nothing does.
    #[schemars(length(max = 10_000))]
    pub replacement: String,
    /// Take pattern and replacement as they are, not as a regular expression.
    #[serde(default)]
    pub plain: bool,
    /// Let upper and lower case match each other.
    #[serde(default)]
    pub ignore_case: bool,
    /// Let `^` and `$` match at the beginning and end of each line.
    #[serde(default)]
    pub multi_line: bool,
}

/// Builds the tool.
pub fn replace(
    _params: ReplaceParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = ReplaceArgs>, BuildError> {
    Ok(Replace)
}

struct Replace;

impl CallTool for Replace {
    type Args = ReplaceArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        compute(move || run(&args)).await?
    }
}

fn run(args: &ReplaceArgs) -> Result<ToolOutput, ToolError> {
    let flags =
        Flags { ignore_case: args.ignore_case, multi_line: args.multi_line, dot_matches_newline: false };
    let pattern = if args.plain { regex::escape(&args.pattern) } else { args.pattern.clone() };
    let regex = compile(&pattern, flags).map_err(|message| invalid_argument("pattern", message))?;
    let until = Instant::now() + TIME;
    let (mut result, mut done, mut count) = (String::new(), 0, 0_usize);
    for captures in regex.captures_iter(&args.text) {
        let whole = captures.get_match();
        result.push_str(&args.text[done..whole.start()]);
        put(&captures, args, &mut result);
        (done, count) = (whole.end(), count + 1);
        if result.len() > LARGEST {
            return Err(ToolError::TooLarge { what: "the result".to_owned(), limit: LARGEST as u64 });
        }
        if Instant::now() > until {
            return Ok(ToolOutput::failed(
                "Replacing takes too long. Use a simpler pattern, or less text at a time.",
            ));
        }
    }
    result.push_str(&args.text[done..]);
    Ok(ToolOutput::structured(result.clone(), json!({"text": result, "count": count})))
}

fn put(captures: &Captures<'_>, args: &ReplaceArgs, result: &mut String) {
    if args.plain {
        NoExpand(&args.replacement).replace_append(captures, result);
    } else {
        args.replacement.as_str().replace_append(captures, result);
    }
}
