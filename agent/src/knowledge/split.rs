//! A text to passages: whole paragraphs where they fit, else sentences, else a cut.

/// About how long a passage is, in characters.
const PASSAGE: usize = 600;

/// The passages of a text, in order; none for one without words.
pub fn passages(text: &str) -> Vec<String> {
    let mut packed = Packed::default();
    for paragraph in text.split("\n\n") {
        if length(paragraph) <= PASSAGE {
            packed.add(paragraph, "\n\n");
            continue;
        }
        for sentence in sentences(paragraph) {
            for piece in cut(sentence) {
                packed.add(piece, "");
            }
        }
    }
    packed.close();
    packed.passages
}

#[derive(Default)]
struct Packed {
    passages: Vec<String>,
    open: String,
}

impl Packed {
    fn add(&mut self, piece: &str, between: &str) {
        if length(&self.open) + between.len() + length(piece) > PASSAGE {
            self.close();
        }
        if !self.open.is_empty() {
            self.open.push_str(between);
        }
        self.open.push_str(piece);
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        let passage = open.trim();
        if passage.chars().any(char::is_alphanumeric) {
            self.passages.push(passage.to_owned());
        }
    }
}

/// Sentences with what ends them: full stops of Chinese and of Latin scripts, and line ends.
fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = paragraph.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '。' | '！' | '？' | '；' | '\n' => true,
            '.' | '!' | '?' | ';' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            found.push(&paragraph[start..end]);
            start = end;
        }
    }
    found.push(&paragraph[start..]);
    found
}

/// Pieces that are short enough, whatever the text.
fn cut(mut sentence: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while let Some((end, _)) = sentence.char_indices().nth(PASSAGE) {
        pieces.push(&sentence[..end]);
        sentence = &sentence[end..];
    }
    pieces.push(sentence);
    pieces
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paragraphs_stay_whole_and_long_ones_end_at_sentences() {
        assert_eq!(passages("one\n\ntwo\n\n\n\n---\n\n"), ["one\n\ntwo\n\n\n\n---"]);
        let long = "春天来了，花开了。".repeat(100);
        let split = passages(&long);
        assert!(split.len() > 1 && split.iter().all(|p| p.ends_with('。') && length(p) <= PASSAGE));
        assert_eq!(split.concat(), long);
        assert!(passages(" \n\n --- ").is_empty());
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_passage_is_too_long(text in "[a-z春夏。. \n]{0,3000}") {
            let split = passages(&text);
            prop_assert!(split.iter().all(|p| length(p) <= PASSAGE));
            let words = |t: &str| t.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            prop_assert_eq!(words(&split.concat()), words(&text));
        }
    }
}
