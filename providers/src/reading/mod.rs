//! From bytes that others wrote to text: character sets, and HTML as Markdown. Opens no connection.

pub(crate) mod charset;
mod depth;
pub(crate) mod html;

/// A part of a long text, and how to read on.
pub(crate) struct Part {
    /// The text of the part.
    pub(crate) text: String,
    /// The characters of the whole.
    pub(crate) total: usize,
    /// The character at which the next part begins; none at the end.
    pub(crate) next: Option<usize>,
}

impl Part {
    /// At most `most` characters of `text`, from the character `start` on.
    pub(crate) fn of(text: &str, start: u32, most: u32) -> Self {
        let total = text.chars().count();
        let (start, most) = (start as usize, most as usize);
        let next = start.saturating_add(most);
        Self {
            text: text.chars().skip(start).take(most).collect(),
            total,
            next: (next < total).then_some(next),
        }
    }
}
