//! `text/count`: how long a text is, in every usual measure.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::CountParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountArgs {
    /// The text.
    #[schemars(length(max = 500_000))]
    pub text: String,
    /// Also count how often this occurs in the text, without overlaps.
    #[schemars(length(min = 1, max = 1000))]
    pub occurrences_of: Option<String>,
}

/// Builds the tool.
pub fn count(_params: CountParams, _deps: &ToolDeps) -> Result<impl CallTool<Args = CountArgs>, BuildError> {
    Ok(Count)
}

struct Count;

impl CallTool for Count {
    type Args = CountArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let text = &args.text;
        let characters = text.chars().count();
        let visible = text.chars().filter(|c| !c.is_whitespace()).count();
        let han = text.chars().filter(|c| is_han(*c)).count();
        let words = words(text);
        let lines = text.lines().count();
        let found = args
            .occurrences_of
            .as_deref()
            .filter(|part| !part.is_empty())
            .map(|part| text.matches(part).count());
        let mut told = format!(
            "{characters} characters ({visible} without white space), {words} words, {han} Chinese characters, {lines} lines, {} bytes",
            text.len()
        );
        if let (Some(found), Some(part)) = (found, &args.occurrences_of) {
            told = format!("{told}; `{part}` occurs {found} times");
        }
        let data = json!({
            "characters": characters, "characters_without_space": visible, "words": words, "chinese_characters": han,
            "lines": lines, "bytes": text.len(), "occurrences": found,
        });
        Ok(ToolOutput::structured(told, data))
    }
}

/// Words as word processors count them: a Chinese character is one, a run of other letters or digits is one.
fn words(text: &str) -> usize {
    let mut count = 0;
    let mut inside = false;
    for c in text.chars() {
        let joins = inside && matches!(c, '\'' | '’' | '-' | '_');
        let is_letter = (c.is_alphanumeric() && !is_han(c)) || joins;
        count += usize::from(is_han(c)) + usize::from(is_letter && !inside);
        inside = is_letter;
    }
    count
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}
