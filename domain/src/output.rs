//! `ToolOutput`: what a call gives back, rich enough that an MCP result passes through unchanged.
//!
//! The wire form of [`Content`] is that of the Model Context Protocol's content blocks (revision 2025-11-25),
//! including fields and types that are not known here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The result of a call that reached the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the tool says, block by block.
    pub content: Vec<Content>,
    /// The same as data, where the tool gives data.
    #[serde(default)]
    pub structured: Option<Value>,
    /// The tool itself reports that it failed.
    #[serde(default)]
    pub is_error: bool,
}

/// One block of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Fields beyond these, kept as they came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The bytes, in base64.
        data: String,
        /// Their media type.
        mime_type: String,
        /// Fields beyond these, kept as they came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// Sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The bytes, in base64.
        data: String,
        /// Their media type.
        mime_type: String,
        /// Fields beyond these, kept as they came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A document in the result itself: `uri`, `mimeType`, and `text` or `blob`.
    Resource {
        /// The document.
        resource: Map<String, Value>,
        /// Fields beyond these, kept as they came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A link to a document: `uri`, `name`, and more.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// Its name.
        #[serde(default)]
        name: String,
        /// Fields beyond these, kept as they came.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A block of a type that is not known here, kept as it came.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Map::new() }
    }

    /// A picture given as base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: data.into(), mime_type: mime_type.into(), extra: Map::new() }
    }

    /// A link.
    pub fn link(uri: impl Into<String>, name: impl Into<String>, mime_type: &str) -> Self {
        let extra = Map::from_iter([("mimeType".to_owned(), json!(mime_type))]);
        Self::ResourceLink { uri: uri.into(), name: name.into(), extra }
    }

    /// Bytes in the result itself, as base64.
    pub fn blob(uri: impl Into<String>, mime_type: &str, base64: &str) -> Self {
        let fields = [("uri", json!(uri.into())), ("mimeType", json!(mime_type)), ("blob", json!(base64))];
        let resource = fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        Self::Resource { resource, extra: Map::new() }
    }

    /// What a reader of text is told of this block: its text, or what it is and where.
    fn flat(&self) -> String {
        match self {
            Self::Text { text, .. } => text.clone(),
            Self::Image { mime_type, data, .. } => {
                format!("[image {mime_type}, {} bytes]", decoded_len(data))
            }
            Self::Audio { mime_type, data, .. } => {
                format!("[audio {mime_type}, {} bytes]", decoded_len(data))
            }
            Self::Resource { resource, .. } => match resource.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => format!(
                    "[resource {}]",
                    resource.get("uri").and_then(Value::as_str).unwrap_or("without uri")
                ),
            },
            Self::ResourceLink { uri, name, .. } if name.is_empty() => format!("[link {uri}]"),
            Self::ResourceLink { uri, name, .. } => format!("[link {name}: {uri}]"),
            Self::Unknown(block) => Value::Object(block.clone()).to_string(),
        }
    }
}

fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

impl ToolOutput {
    /// A result that is one text.
    pub fn text_of(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// A result as text for a reader and as data for a program.
    pub fn structured(text: impl Into<String>, structured: Value) -> Self {
        Self { content: vec![Content::text(text)], structured: Some(structured), is_error: false }
    }

    /// A failure that the tool reports in words a model can act on.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], structured: None, is_error: true }
    }

    /// Flattens the result for a reader that wants one text: blocks joined by newlines; where there are
    /// none, the structured value as JSON.
    pub fn text(&self) -> String {
        match (&self.content[..], &self.structured) {
            ([], Some(Value::String(text))) => text.clone(),
            ([], Some(value)) => value.to_string(),
            (blocks, _) => blocks.iter().map(Content::flat).collect::<Vec<_>>().join("\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_survives_a_round_trip() {
        let blocks = json!([
            {"type":"text","text":"hi","annotations":{"audience":["user"]}},
            {"type":"image","data":"AAAA","mimeType":"image/png","_meta":{"a":1}},
            {"type":"audio","data":"AAAA","mimeType":"audio/wav"},
            {"type":"resource","resource":{"uri":"a:b","text":"t","x":1}},
            {"type":"resource_link","uri":"a:b","name":"n","size":3},
            {"type":"hologram","rays":[1,2]},
            {"type":"text","words":"no text field"}
        ]);
        let parsed: Vec<Content> = serde_json::from_value(blocks.clone()).unwrap();
        assert!(matches!(parsed[5], Content::Unknown(_)) && matches!(parsed[6], Content::Unknown(_)));
        assert_eq!(serde_json::to_value(parsed).unwrap(), blocks);
    }

    #[test]
    fn text_flattens_blocks_and_falls_back_to_the_structured_value() {
        let mut output = ToolOutput::structured("one", json!({"a": 1}));
        output.content.push(Content::image("AAAA", "image/png"));
        assert_eq!(output.text(), "one\n[image image/png, 3 bytes]");
        output.content.clear();
        assert_eq!(output.text(), r#"{"a":1}"#);
    }
}
