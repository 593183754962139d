//! What a server writes to its error output: into the log line by line, and its end kept for errors.
//!
//! Values of the configured environment are masked in both: servers print their keys more often than one likes.

use domain::secret::MASK;
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of the end is kept.
const KEPT: usize = 2048;
/// The longest line that is logged as one.
const LONGEST_LINE: usize = 4096;
/// Values shorter than this are too common to mask.
const SHORTEST_SECRET: usize = 6;

/// The end of a server's error output.
pub(super) struct Stderr {
    secrets: Vec<SecretString>,
    end: Mutex<String>,
}

impl Stderr {
    pub(super) fn new(secrets: Vec<SecretString>) -> Self {
        let mut secrets: Vec<_> =
            secrets.into_iter().filter(|s| s.expose_secret().len() >= SHORTEST_SECRET).collect();
        // The longest first, so that a value within another does not leave its rest.
        secrets.sort_by_key(|s| std::cmp::Reverse(s.expose_secret().len()));
        Self { secrets, end: Mutex::default() }
    }

    /// Reads the whole output.
    pub(super) async fn read(&self, mut output: impl AsyncRead + Unpin, server: &str) {
        let mut buffer = vec![0; 4096];
        let mut line = Vec::new();
        while let Ok(n @ 1..) = output.read(&mut buffer).await {
            for byte in &buffer[..n] {
                if *byte == b'\n' || line.len() >= LONGEST_LINE {
                    self.take(&std::mem::take(&mut line), server);
                }
                if *byte != b'\n' {
                    line.push(*byte);
                }
            }
        }
        self.take(&line, server);
    }

    /// The end of what was written, on one line; empty when there was nothing.
    pub(super) fn end(&self) -> String {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.trim().replace('\n', " | ")
    }

    fn take(&self, line: &[u8], server: &str) {
        let mut text = String::from_utf8_lossy(line).trim_end().to_owned();
        if text.is_empty() {
            return;
        }
        for secret in &self.secrets {
            text = text.replace(secret.expose_secret(), MASK);
        }
        text.retain(|c| !c.is_control() || c == '\t');
        tracing::debug!(target: "mcp.stderr", server, "{text}");
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.push_str(&text);
        end.push('\n');
        if end.len() > KEPT {
            let mut cut = end.len() - KEPT;
            while !end.is_char_boundary(cut) {
                cut += 1;
            }
            end.drain(..cut);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_is_kept_without_secrets() {
        let stderr = Stderr::new(vec!["hunter22".into(), "hunter22-long".into(), "a".into()]);
        let text = format!("{}\nkey=hunter22-long and hunter22\nlast \u{1b}[31mline", "noise\n".repeat(2000));
        stderr.read(text.as_bytes(), "s").await;
        let end = stderr.end();
        assert!(end.len() < 4 * KEPT && end.ends_with("key=******** and ******** | last [31mline"), "{end}");
    }
}
