//! What every search tool gives back: hits in one shape, as text for a model and as data for a program.

use serde::Serialize;
use serde_json::json;

use crate::contract::ToolOutput;

/// The longest text of one hit, in characters.
const LONGEST_TEXT: usize = 2_000;
/// The longest direct answer, in characters.
const LONGEST_ANSWER: usize = 4_000;

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// A direct answer, where the service gives one.
    pub(crate) answer: Option<String>,
    /// The hits, best first.
    pub(crate) hits: Vec<Hit>,
}

/// One hit.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    /// What the page says of the matter.
    pub(crate) text: String,
    /// When it was published, as the service writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) published: Option<String>,
}

impl Findings {
    /// The result of a search for `query`, with `most` hits at most.
    pub(crate) fn output(self, query: &str, most: usize) -> ToolOutput {
        let answer = self.answer.map(|text| cut(&text, LONGEST_ANSWER)).filter(|text| !text.is_empty());
        let hits: Vec<_> =
            self.hits.into_iter().filter(|hit| !hit.url.is_empty()).take(most).map(Hit::tidy).collect();
        let mut parts: Vec<String> = answer.iter().cloned().collect();
        parts.extend(hits.iter().enumerate().map(|(at, hit)| hit.shown(at + 1)));
        if parts.is_empty() {
            parts.push(format!("Nothing was found for `{}`. Try other or fewer words.", cut(query, 200)));
        }
        ToolOutput::structured(parts.join("\n\n"), json!({"query": query, "answer": answer, "results": hits}))
    }
}

impl Hit {
    fn tidy(self) -> Self {
        Self { title: cut(&self.title, 300), text: cut(&self.text, LONGEST_TEXT), ..self }
    }

    fn shown(&self, number: usize) -> String {
        let date = self.published.as_deref().map_or_else(String::new, |date| format!(" ({date})"));
        let text = if self.text.is_empty() { String::new() } else { format!("\n{}", self.text) };
        format!("{number}. {}{date}\n{}{text}", self.title, self.url)
    }
}

/// The beginning of a text, without runs of white space within a line.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}
