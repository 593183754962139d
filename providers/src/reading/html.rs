//! HTML -> Markdown: the article of a page where there is one, else its whole body.

use dom_smoothie::{Config, Readability};
use htmd::HtmlToMarkdown;
use url::Url;

use super::depth::depth;

/// The deepest nesting of elements that is read.
const DEEPEST: usize = 256;
/// An article shorter than this is taken for a part of the page that was mistaken for the whole.
const SHORTEST_ARTICLE: usize = 200;
/// What says nothing to a reader of text.
const SKIPPED: [&str; 9] =
    ["script", "style", "noscript", "template", "svg", "iframe", "nav", "footer", "form"];

/// Title and Markdown of a page, or why it cannot be read.
pub(crate) fn to_markdown(html: &str, url: &Url) -> Result<(Option<String>, String), String> {
    if depth(html) > DEEPEST {
        return Err(format!("The page nests its elements deeper than {DEEPEST} levels and cannot be read."));
    }
    let (title, article) = article(html, url);
    if let Some(text) = article.and_then(|article| convert(&article))
        && text.chars().count() >= SHORTEST_ARTICLE
    {
        return Ok((title, text));
    }
    let text = convert(html).ok_or("The page's HTML cannot be read.")?;
    Ok((title, text))
}

/// The title, and the HTML of what is worth reading.
fn article(html: &str, url: &Url) -> (Option<String>, Option<String>) {
    let Ok(mut page) = Readability::new(html, Some(url.as_str()), Some(Config::default())) else {
        return (None, None);
    };
    match page.parse() {
        Ok(article) => (titled(&article.title), Some(article.content.to_string())),
        Err(_) => (titled(&page.get_article_title()), None),
    }
}

fn titled(title: &str) -> Option<String> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

fn convert(html: &str) -> Option<String> {
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    let text = converter.convert(html).ok()?;
    let text = collapsed(&text);
    (!text.is_empty()).then_some(text)
}

/// Without runs of empty lines.
fn collapsed(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !(line.is_empty() && lines.last().is_none_or(|last: &&str| last.is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}
