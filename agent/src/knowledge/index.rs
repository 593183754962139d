//! Passages ranked by BM25.
//!
//! Words are found by Unicode's rules, in lower case and compatibility form; those of ASCII letters are cut to their
//! English stems. Scripts without spaces are taken as single
//! characters and as pairs of neighbours, which ranks Chinese well without a dictionary.

use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};
use domain::ports::Passage;
use rust_stemmers::{Algorithm, Stemmer};
use serde_json::{Map, json};
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// What turns a BM25 score, which has no upper end, into one between 0 and 1: at this score it is a half.
const HALF: f64 = 4.0;
/// The longest query that is looked at, in characters.
const MAX_QUERY: usize = 2000;

/// A passage that is indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its document's id.
    pub document_id: String,
    /// Its document's title.
    pub title: String,
    /// Its place in the document, from 0.
    pub position: u64,
    /// Its text.
    pub text: String,
}

/// An index over the passages of one dataset.
pub struct Index {
    entries: Vec<Entry>,
    embedder: Embedder<u64, Words>,
    scorer: Scorer<u32, u64>,
}

impl Index {
    /// Indexes passages. The title counts as part of each.
    pub fn build(entries: Vec<Entry>) -> Self {
        let texts: Vec<String> =
            entries.iter().map(|entry| format!("{}\n{}", entry.title, entry.text)).collect();
        let lengths: usize = texts.iter().map(|text| Words.tokenize(text).len()).sum();
        #[expect(clippy::cast_precision_loss, reason = "an average needs no more than a few digits")]
        let average = if texts.is_empty() { 1.0 } else { lengths as f32 / texts.len() as f32 };
        let embedder = EmbedderBuilder::<u64, Words>::with_avgdl(average).build();
        let mut scorer = Scorer::new();
        for (place, text) in (0_u32..).zip(&texts) {
            scorer.upsert(&place, embedder.embed(text));
        }
        Self { entries, embedder, scorer }
    }

    /// The best passages for a query, best first; scores are between 0 and 1.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Passage> {
        let query: String = query.chars().take(MAX_QUERY).collect();
        let mut matches = self.scorer.matches(&self.embedder.embed(&query));
        // Equal scores keep the order of the documents, so that an answer is always the same.
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        let passage = |found: bm25::ScoredDocument<u32>| {
            let entry = self.entries.get(usize::try_from(found.id).ok()?)?;
            let score = f64::from(found.score);
            Some(Passage {
                text: entry.text.clone(),
                title: entry.title.clone(),
                score: score / (score + HALF),
                metadata: Map::from_iter([
                    ("document_id".to_owned(), json!(entry.document_id)),
                    ("position".to_owned(), json!(entry.position)),
                ]),
            })
        };
        matches.into_iter().take(limit).filter_map(passage).collect()
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        // The text itself, and about the fivefold of it for postings.
        self.entries.iter().map(|entry| entry.text.len() * 6 + entry.title.len() + 64).sum()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("passages", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Splits texts into words.
#[derive(Clone, Copy, Debug, Default)]
struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let text: String = text.nfkc().flat_map(char::to_lowercase).collect();
        let stemmer = Stemmer::create(Algorithm::English);
        let mut tokens = Vec::new();
        let mut before: Option<(usize, &str)> = None;
        for (at, word) in text.unicode_word_indices() {
            if !is_unspaced(word) {
                let is_latin = word.bytes().all(|byte| byte.is_ascii_alphabetic());
                tokens.push(if is_latin { stemmer.stem(word).into_owned() } else { word.to_owned() });
                before = None;
                continue;
            }
            if let Some((end, last)) = before
                && end == at
            {
                tokens.push(format!("{last}{word}"));
            }
            tokens.push(word.to_owned());
            before = Some((at + word.len(), word));
        }
        tokens
    }
}

/// Whether a word is a character of a script without spaces.
fn is_unspaced(word: &str) -> bool {
    let mut chars = word.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else {
        return false;
    };
    matches!(c, '\u{2E80}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Index {
        let entry = |(position, text): (u64, &&str)| Entry {
            document_id: "d".into(),
            title: String::new(),
            position,
            text: (*text).to_owned(),
        };
        Index::build((0..).zip(texts).map(entry).collect())
    }

    #[test]
    fn words_of_both_scripts_are_told_apart() {
        assert_eq!(
            Words.tokenize("Ｒｕｓｔ 天气，好 v1.2 opens"),
            ["rust", "天", "天气", "气", "好", "v1.2", "open"]
        );
    }

    #[test]
    fn the_passage_that_speaks_of_it_comes_first() {
        let texts = [
            "The ticket office opens at nine.",
            "Refunds are paid within seven days of the return.",
            "退款将在七天内原路返回到您的账户。",
            "门票在开馆前半小时开始出售。",
        ];
        let index = index(&texts);
        for (query, wanted) in [
            ("when are refunds paid", 1),
            ("退款多久到账", 2),
            ("什么时候卖门票", 3),
            ("TICKETS", 0),
            ("when does the office open", 0),
        ] {
            let found = index.search(query, 2);
            assert_eq!(found[0].text, texts[wanted], "{query}");
            assert!(found.iter().all(|p| p.score > 0.0 && p.score < 1.0));
        }
        assert!(index.search("zebra", 3).is_empty());
        assert!(index.search("", 3).is_empty());
        assert!(Index::build(Vec::new()).search("x", 3).is_empty());
    }
}
