//! What is typed, or read from files: JSON, documents, secrets.

use super::failure::Failure;
use serde_json::Value;
use std::io::Read as _;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 100 * 1024 * 1024;

/// A JSON object given as text, as `@FILE`, or as `-` for standard input.
pub(crate) fn object(option: &str, given: &str) -> Result<Value, Failure> {
    let text = match given.strip_prefix('@') {
        Some(path) => file(path)?,
        None if given == "-" => file("-")?,
        None => given.to_owned(),
    };
    let wrong = |what: String| {
        Failure::new(format!("{option} is not a JSON object: {what}")).hint(format!(
            "{option} '{{\"name\": \"value\"}}', {option} @FILE, or {option} - for standard input"
        ))
    };
    match serde_json::from_str(&text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(wrong("it is JSON of another kind".into())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// A file's text; standard input for `-`.
pub(crate) fn file(path: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|e| Failure::new(format!("`{path}` cannot be read: {e}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::new(format!("`{path}` is larger than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Failure::new(format!("`{path}` is not UTF-8 text")))
}

/// `NAME{separator}VALUE`; the value of `NAME` alone comes from the environment, that of `NAME{separator}-` from
/// standard input, so that a secret need not be typed where others see it.
pub(crate) fn pair(given: &str, separator: char) -> Result<(String, String), Failure> {
    match given.split_once(separator) {
        Some((name, "-")) => Ok((name.trim().to_owned(), file("-")?.trim_end().to_owned())),
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim_start().to_owned())),
        None => {
            let value = std::env::var(given).map_err(|_| {
                Failure::new(format!("`{given}` has no value, and no variable of this name is set"))
                    .hint(format!("{given}{separator}VALUE, or set {given} in the environment"))
            })?;
            Ok((given.to_owned(), value))
        }
    }
}
