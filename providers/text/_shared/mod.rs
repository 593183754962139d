//! What the tools of regular expressions share: a bounded pattern.

use regex::{Regex, RegexBuilder};

/// The largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1024 * 1024;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_matches_newline: bool,
}

/// The pattern, or what is wrong with it, to be read after its name.
pub(super) fn compile(pattern: &str, flags: Flags) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.multi_line)
        .dot_matches_new_line(flags.dot_matches_newline)
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(PATTERN_SIZE)
        .nest_limit(50)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                "is too large once compiled: use smaller repetitions".to_owned()
            }
            other => format!("is not a regular expression: {other}"),
        })
}
