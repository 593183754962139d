//! Lines out of a process, with a limit: what is longer is skipped, but not without saying so.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// How much of the two ends of a line that is too long is kept, to find out what it answers.
const ENDS: usize = 512;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// One that fits.
    Whole(Vec<u8>),
    /// The beginning and the end of one that does not.
    TooLong(Vec<u8>, Vec<u8>),
}

/// Reads the next line, up to `limit` bytes; none at the end. A last line without its end is dropped.
pub(super) async fn next_line<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    limit: usize,
) -> std::io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut tail: Option<Vec<u8>> = None;
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let end = buffer.iter().position(|b| *b == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        match &mut tail {
            None if line.len() + part.len() > limit => {
                let mut over = std::mem::take(&mut line);
                over.extend_from_slice(&part[..part.len().min(ENDS)]);
                let start = over.len().min(ENDS);
                line = over[..start].to_vec();
                let mut end_kept = Vec::new();
                keep_end(&mut end_kept, part);
                tail = Some(end_kept);
            }
            None => line.extend_from_slice(part),
            Some(tail) => keep_end(tail, part),
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(match tail {
                Some(tail) => Line::TooLong(line, tail),
                None => Line::Whole(line),
            }));
        }
    }
}

fn keep_end(tail: &mut Vec<u8>, part: &[u8]) {
    tail.extend_from_slice(&part[part.len().saturating_sub(ENDS)..]);
    let excess = tail.len().saturating_sub(ENDS);
    tail.drain(..excess);
}

/// Which of our requests a line that is too long answers, as far as its ends tell.
pub(super) fn id_in_ends(start: &[u8], end: &[u8]) -> Option<i64> {
    let number = |text: &str| -> Option<i64> {
        let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let start = String::from_utf8_lossy(start);
    let before_result = start.split("\"result\"").next().unwrap_or_default();
    if let Some((_, rest)) = before_result.split_once("\"id\":") {
        return number(rest);
    }
    let end = String::from_utf8_lossy(end);
    let (_, rest) = end.rsplit_once("\"id\":")?;
    let closes =
        rest.trim_end().ends_with('}') && !rest.trim_end().trim_end_matches('}').contains(['}', '{', '[']);
    if closes { number(rest) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    #[tokio::test]
    async fn a_long_line_is_skipped_and_its_neighbours_are_read() {
        let long = format!("{{\"id\":5,{}}}", "x".repeat(5000));
        let text = format!("one\n{long}\ntwo\r\nhalf");
        let mut reader = BufReader::with_capacity(64, text.as_bytes());
        assert_eq!(next_line(&mut reader, 100).await.unwrap(), Some(Line::Whole(b"one".to_vec())));
        let Some(Line::TooLong(start, end)) = next_line(&mut reader, 100).await.unwrap() else {
            panic!("not too long")
        };
        assert!(long.as_bytes().starts_with(&start) && long.as_bytes().ends_with(&end) && end.len() <= ENDS);
        assert_eq!(id_in_ends(&start, &end), Some(5));
        assert_eq!(next_line(&mut reader, 100).await.unwrap(), Some(Line::Whole(b"two\r".to_vec())));
        assert_eq!(next_line(&mut reader, 100).await.unwrap(), None);
    }

    #[test]
    fn the_id_is_found_at_either_end() {
        assert_eq!(id_in_ends(br#"{"jsonrpc":"2.0","id": 12,"result":{"#, b"xx"), Some(12));
        assert_eq!(id_in_ends(br#"{"result":{"id":99"#, br#"xx"},"jsonrpc":"2.0","id":7}"#), Some(7));
        assert_eq!(id_in_ends(br#"{"result":{"id":99"#, br#"xx","id":7}],"jsonrpc":"2.0"}"#), None);
    }
}
