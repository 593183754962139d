//! Words that may not be shown, found in any case, also where a word is spread over pieces of a stream.

/// What stands in the place of a word.
const STARS: &str = "**";

/// Whether a text has one of the words, in any case. Empty words are none.
pub fn contains_keyword(keywords: &[String], text: &str) -> bool {
    let mut redactor = Redactor::new(keywords);
    let _ = redactor.take(text);
    let _ = redactor.rest();
    redactor.found
}

/// Replaces words in a stream of pieces. What may be the beginning of a word is held back until more has come.
///
/// The pieces that come out, joined, do not depend on how the text was cut.
#[derive(Clone, Debug)]
pub struct Redactor {
    /// The words, folded, longest first.
    words: Vec<Vec<char>>,
    /// What is held back.
    held: Vec<char>,
    found: bool,
}

impl Redactor {
    /// A redactor of words.
    pub fn new(keywords: &[String]) -> Self {
        let mut words: Vec<Vec<char>> =
            keywords.iter().map(|word| word.trim().chars().map(fold).collect()).collect();
        words.retain(|word| !word.is_empty());
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Self { words, held: Vec::new(), found: false }
    }

    /// Takes a piece and gives what may be shown now.
    pub fn take(&mut self, piece: &str) -> String {
        self.held.extend(piece.chars());
        self.release(false)
    }

    /// Gives what was held back: nothing follows.
    pub fn rest(&mut self) -> String {
        self.release(true)
    }

    /// From each place the longest word wins, and the leftmost place first.
    fn release(&mut self, ended: bool) -> String {
        let folded: Vec<char> = self.held.iter().copied().map(fold).collect();
        let mut out = String::new();
        let mut at = 0;
        while at < folded.len() {
            let here = &folded[at..];
            if !ended && self.words.iter().any(|word| word.len() > here.len() && word.starts_with(here)) {
                break;
            }
            if let Some(word) = self.words.iter().find(|word| here.starts_with(word)) {
                out.push_str(STARS);
                at += word.len();
                self.found = true;
            } else {
                out.push(self.held[at]);
                at += 1;
            }
        }
        self.held.drain(..at);
        out
    }
}

/// A character without its case, where that is one character.
fn fold(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redacted(keywords: &[&str], pieces: &[&str]) -> String {
        let keywords: Vec<String> = keywords.iter().map(|word| (*word).to_owned()).collect();
        let mut redactor = Redactor::new(&keywords);
        let mut out: String = pieces.iter().map(|piece| redactor.take(piece)).collect();
        out.push_str(&redactor.rest());
        out
    }

    #[test]
    fn words_are_found_across_pieces_in_any_case_the_longest_first() {
        let cases: [(&[&str], &[&str], &str); 7] = [
            (&["secret"], &["a sec", "RET b"], "a ** b"),
            (&["机密"], &["这是机", "密文件"], "这是**文件"),
            (&["ab", "abc"], &["xab", "c"], "x**"),
            (&["ab", "abd"], &["xab", "c"], "x**c"),
            (&["ab", "bc"], &["a", "b", "c"], "**c"),
            (&["secret"], &["sec", "ond sec"], "second sec"),
            (&["", " "], &["a b"], "a b"),
        ];
        for (keywords, pieces, wanted) in cases {
            assert_eq!(redacted(keywords, pieces), wanted, "{keywords:?} {pieces:?}");
        }
    }

    #[test]
    fn what_begins_no_word_is_shown_at_once() {
        let mut redactor = Redactor::new(&["secret".to_owned()]);
        assert_eq!(redactor.take("hello se"), "hello ");
        assert_eq!(redactor.take("a"), "sea");
    }

    proptest! {
        #[test]
        fn how_a_text_is_cut_does_not_matter(
            keywords in prop::collection::vec("[abAB密]{1,4}", 1..5),
            pieces in prop::collection::vec("[abcABC密 ]{0,5}", 0..8),
        ) {
            let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(redacted(&keywords, &pieces), redacted(&keywords, &[&pieces.concat()]));
        }
    }
}
