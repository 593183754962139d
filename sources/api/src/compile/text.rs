//! Small readings of values and texts that both front ends share.

use serde_json::Value;

/// The longest description of an operation, in characters.
pub(crate) const MAX_OPERATION_TEXT: usize = 1_500;
/// The longest description of an argument or a part of one, in characters.
pub(crate) const MAX_FIELD_TEXT: usize = 400;
/// The longest title, in characters.
pub(crate) const MAX_TITLE: usize = 120;

/// What a value is, with an article.
pub(crate) const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A scalar as text, without quotes; anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A flag, also where it is written as a text.
pub(crate) fn flag(value: Option<&Value>) -> bool {
    as_flag(value).unwrap_or(false)
}

/// A flag, also where it is written as a text; `None` where it is none.
pub(crate) fn as_flag(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The text of a member; empty where there is none.
pub(crate) fn text_of<'a>(map: &'a serde_json::Map<String, Value>, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A text of at most `max` characters: cut after a sentence where one ends late enough, else after a word.
pub(crate) fn trimmed(text: &str, max: usize) -> String {
    let text = text.trim();
    let Some((cut, _)) = text.char_indices().nth(max) else {
        return text.to_owned();
    };
    let head = &text[..cut];
    let sentence =
        head.rfind(['.', '。', '\n']).map(|at| at + head[at..].chars().next().map_or(1, char::len_utf8));
    match sentence {
        Some(end) if end * 2 >= cut => head[..end].trim_end().to_owned(),
        _ => {
            let word = head.rfind(char::is_whitespace).filter(|end| end * 2 >= cut);
            format!("{}…", head[..word.unwrap_or(cut)].trim_end())
        }
    }
}

/// A description for a model: tags and superfluous white space gone, then trimmed.
pub(crate) fn description(text: &str, max: usize) -> String {
    // What is far beyond the limit cannot come into it.
    let bound = text.char_indices().nth(max * 4).map_or(text.len(), |(at, _)| at);
    let without_tags = strip_tags(&text[..bound]);
    let mut out = String::with_capacity(without_tags.len().min(max * 2));
    let mut blank_lines = 0;
    for line in without_tags.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_none() {
            blank_lines += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank_lines > 0 { "\n\n" } else { "\n" });
        }
        blank_lines = 0;
        for (i, word) in words.enumerate() {
            if i > 0 {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    trimmed(&out, max)
}

/// The HTML elements that documents put into descriptions, one after the other.
const ELEMENTS: &str = "a b blockquote br code dd div dl dt em h1 h2 h3 h4 h5 hr i img li ol p pre small span strong sub \
    sup table tbody td th thead tr ul";

/// Without HTML tags. `<` that starts none (`a < b`, `<id>` of no known element) stays.
fn strip_tags(text: &str) -> String {
    if !text.contains('<') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let name_start = if rest.starts_with("</") { 2 } else { 1 };
        let name: String = rest[name_start..]
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        match rest.find('>') {
            Some(end) if ELEMENTS.split_whitespace().any(|element| element == name) => {
                if matches!(name.as_str(), "p" | "br" | "li" | "div" | "tr") {
                    out.push('\n');
                }
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_with_a_sentence_or_a_word() {
        assert_eq!(trimmed("One two. Three four five.", 15), "One two.");
        assert_eq!(trimmed("one two three four", 10), "one two…");
        assert_eq!(trimmed("一二三四五。六七八", 7), "一二三四五。");
        assert_eq!(trimmed("short", 10), "short");
    }

    #[test]
    fn descriptions_lose_markup_and_blank_space() {
        let html = "<p>Lists  <b>pets</b>.</p>\n\n\n<br/>Use a < b and <id>. ";
        assert_eq!(description(html, 200), "Lists pets.\n\nUse a < b and <id>.");
        assert_eq!(description("broken <a href=", 200), "broken <a href=");
    }

    #[test]
    fn flags_are_read_from_texts_too() {
        assert!(flag(Some(&Value::from("yes"))));
        assert!(!flag(Some(&Value::from(1))));
        assert_eq!(as_flag(Some(&Value::from("maybe"))), None);
    }
}
