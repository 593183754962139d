//! `text/extract`: every match of a regular expression, with its groups.

use std::time::{Duration, Instant};

use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ExtractParams;
use super::shared::{Flags, compile};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};

/// How long a search may take: each match is found in linear time, all of them in quadratic.
const TIME: Duration = Duration::from_secs(2);
/// The most text that matches may hold together, in bytes.
const LARGEST: usize = 256 * 1024;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtractArgs {
    /// The text to search.
    #[schemars(length(max = 500_000))]
    pub text: String,
    /// The regular expression, for example `(?P<user>[\w.]+)@(?P<host>[\w.]+)`.
    #[schemars(length(min = 1, max = 1000))]
    pub pattern: String,
    /// Let upper and lower case match each other.
    #[serde(default)]
    pub ignore_case: bool,
    /// Let `^` and `$` match at the beginning and end of each line.
    #[serde(default)]
    pub multi_line: bool,
    /// Let `.` match line breaks too.
    #[serde(default)]
    pub dot_matches_newline: bool,
    /// The most matches to give.
    #[schemars(range(min = 1, max = 500))]
    #[serde(default = "default_limit")]
    pub limit: u16,
}

fn default_limit() -> u16 {
    50
}

/// Builds the tool.
pub fn extract(
    _params: ExtractParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = ExtractArgs>, BuildError> {
    Ok(Extract)
}

struct Extract;

impl CallTool for Extract {
    type Args = ExtractArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        compute(move || run(&args)).await?
    }
}

fn run(args: &ExtractArgs) -> Result<ToolOutput, ToolError> {
    let flags = Flags {
        ignore_case: args.ignore_case,
        multi_line: args.multi_line,
        dot_matches_newline: args.dot_matches_newline,
    };
    let regex = compile(&args.pattern, flags).map_err(|message| invalid_argument("pattern", message))?;
    let until = Instant::now() + TIME;
    let mut found = Found::default();
    for captures in regex.captures_iter(&args.text) {
        if found.matches.len() == usize::from(args.limit) || found.size > LARGEST || Instant::now() > until {
            found.truncated = true;
            break;
        }
        found.add(&regex, &captures, &args.text);
    }
    Ok(found.output())
}

#[derive(Default)]
struct Found {
    matches: Vec<Value>,
    lines: Vec<String>,
    size: usize,
    truncated: bool,
    /// How far the text has been counted, in bytes and in characters.
    counted: (usize, usize),
}

impl Found {
    fn add(&mut self, regex: &Regex, captures: &Captures<'_>, text: &str) {
        let whole = captures.get_match();
        let (bytes, characters) = self.counted;
        let start = characters + text[bytes..whole.start()].chars().count();
        self.counted = (whole.start(), start);
        self.size += captures.iter().flatten().map(|group| group.len()).sum::<usize>();
        let groups: Vec<_> = captures.iter().skip(1).map(|group| group.map(|group| group.as_str())).collect();
        let names = regex.capture_names().flatten();
        let named: Map<_, _> = names
            .map(|name| (name.to_owned(), json!(captures.name(name).map(|group| group.as_str()))))
            .collect();
        self.lines.push(if named.is_empty() {
            whole.as_str().to_owned()
        } else {
            format!("{}  {}", whole.as_str(), Value::Object(named.clone()))
        });
        self.matches.push(json!({"text": whole.as_str(), "start": start, "groups": groups, "named": named}));
    }

    fn output(self) -> ToolOutput {
        let text = match (self.lines.is_empty(), self.truncated) {
            (true, _) => "No match.".to_owned(),
            (false, false) => self.lines.join("\n"),
            (false, true) => format!("{}\n(there are more matches)", self.lines.join("\n")),
        };
        let data = json!({"matches": self.matches, "count": self.matches.len(), "truncated": self.truncated});
        ToolOutput::structured(text, data)
    }
}
