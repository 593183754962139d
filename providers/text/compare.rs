//! `text/compare`: two texts line by line, as a unified diff.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::{ChangeTag, TextDiff};

use super::CompareParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute};

/// After this the library stops looking for the smallest difference, and gives a larger one.
const TIME: Duration = Duration::from_secs(2);
/// The longest diff that is given, in characters.
const LONGEST: usize = 100_000;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareArgs {
    /// The text before.
    #[schemars(length(max = 200_000))]
    pub before: String,
    /// The text after.
    #[schemars(length(max = 200_000))]
    pub after: String,
    /// How many unchanged lines to show around each change. Left out: 3.
    #[schemars(range(max = 100))]
    #[serde(default = "three")]
    pub context: u8,
}

fn three() -> u8 {
    3
}

/// Builds the tool.
pub fn compare(
    _params: CompareParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = CompareArgs>, BuildError> {
    Ok(Compare)
}

struct Compare;

impl CallTool for Compare {
    type Args = CompareArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        compute(move || run(&args)).await
    }
}

fn run(args: &CompareArgs) -> ToolOutput {
    let diff = TextDiff::configure().timeout(TIME).diff_lines(args.before.as_str(), args.after.as_str());
    let count = |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let whole =
        diff.unified_diff().context_radius(usize::from(args.context)).header("before", "after").to_string();
    let truncated = whole.char_indices().nth(LONGEST).is_some();
    let shown: String = whole.chars().take(LONGEST).collect();
    let text = match (added + removed, truncated) {
        (0, _) => "The texts are the same.".to_owned(),
        (_, false) => shown.clone(),
        (_, true) => format!("{shown}\n(the diff goes on)"),
    };
    let data = json!({"added": added, "removed": removed, "diff": shown, "truncated": truncated});
    ToolOutput::structured(text, data)
}
