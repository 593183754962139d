//! Server-sent events, read as they come, with a limit to the size of one.

use super::error::CallError;
use std::time::Duration;

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// What kind it is; empty means `message`.
    pub(crate) kind: String,
    /// Its data, lines joined by newlines.
    pub(crate) data: String,
}

impl Event {
    /// Whether it is of the kind that carries messages.
    pub(crate) fn is_message(&self) -> bool {
        self.kind.is_empty() || self.kind == "message"
    }
}

/// Reads events out of chunks of bytes.
pub(crate) struct Decoder {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it ends nothing.
    after_cr: bool,
    at_start: bool,
    event: Event,
    has_data: bool,
    limit: usize,
    /// The id of the last event that had one.
    pub(crate) last_id: Option<String>,
    /// How long to wait before connecting again, where the server says so.
    pub(crate) retry: Option<Duration>,
}

impl Decoder {
    /// A decoder that refuses lines and events of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            event: Event::default(),
            has_data: false,
            limit,
            last_id: None,
            retry: None,
        }
    }

    /// Takes a chunk and gives the events that it completes.
    pub(crate) fn push(&mut self, mut chunk: &[u8]) -> Result<Vec<Event>, CallError> {
        let mut events = Vec::new();
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.line.len() + part.len() + self.event.data.len() > self.limit {
                return Err(CallError::TooLarge { limit: self.limit as u64 });
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.take_line(&line));
        }
        Ok(events)
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let text = String::from_utf8_lossy(line);
        let mut text = text.as_ref();
        if std::mem::take(&mut self.at_start) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.kind),
            "id" if !value.contains('\0') => {
                self.last_id = Some(value.to_owned()).filter(|id| !id.is_empty());
            }
            "retry" => {
                if let Ok(ms) = value.parse() {
                    self.retry = Some(Duration::from_millis(ms));
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(events: &[Event]) -> Vec<&str> {
        events.iter().map(|e| e.data.as_str()).collect()
    }

    #[test]
    fn events_are_read_in_every_form_of_line_end() {
        for end in ["\n", "\r", "\r\n"] {
            let text = "\u{feff}: hi|retry: 1500|id: 7|event: message|data: a|data:b||data: c||id:8|data||"
                .replace('|', end);
            let mut decoder = Decoder::new(1000);
            let events = decoder.push(text.as_bytes()).unwrap();
            assert_eq!(data(&events), ["a\nb", "c", ""], "{end:?}");
            assert_eq!(events[0].kind, "message");
            assert_eq!(decoder.retry, Some(Duration::from_millis(1500)));
            assert_eq!(decoder.last_id.as_deref(), Some("8"));
        }
    }

    #[test]
    fn an_event_without_data_is_none_but_its_id_counts() {
        let mut decoder = Decoder::new(100);
        assert!(decoder.push(b"id: 3\n\n").unwrap().is_empty());
        assert_eq!(decoder.last_id.as_deref(), Some("3"));
    }

    #[test]
    fn a_line_or_event_without_end_is_refused() {
        assert!(Decoder::new(10).push(b"data: 01234567890").is_err());
        let mut decoder = Decoder::new(10);
        decoder.push(b"data:01234\n").unwrap();
        assert!(decoder.push(b"data:56789012\n").is_err());
    }

    proptest! {
        #[test]
        fn how_bytes_are_cut_into_chunks_does_not_matter(cuts in prop::collection::vec(1_usize..9, 1..40)) {
            let text = "id: 1\r\ndata: {\"ä\": 1}\r\n\r\n: keep\r\rdata: x\ndata: y\n\nevent: e\ndata: z\n\n".as_bytes();
            let mut decoder = Decoder::new(1000);
            let (mut events, mut rest) = (Vec::new(), text);
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                events.extend(decoder.push(now).unwrap());
                rest = later;
            }
            prop_assert_eq!(data(&events), ["{\"ä\": 1}", "x\ny", "z"]);
        }
    }
}
