//! How long the texts of a provider may be.

use super::{ProviderInput, ServiceError};
use crate::normal::Api;
use url::Url;

const MAX_NAME: usize = 64;
const MAX_URL: usize = 2048;
const MAX_DESCRIPTION: usize = 2000;

/// Refuses texts that are too long, or no texts.
pub(super) fn check_texts(input: &ProviderInput) -> Result<(), ServiceError> {
    if let Some(name) = &input.name {
        let length = name.trim().chars().count();
        if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
            return Err(ServiceError::invalid("/name", "must have 1 to 64 characters"));
        }
    }
    if let Some(icon) = input.icon.as_deref().filter(|icon| !icon.is_empty())
        && (icon.len() > MAX_URL || Url::parse(icon).is_err())
    {
        return Err(ServiceError::invalid("/icon", "must be an address of at most 2048 bytes"));
    }
    let limits = [
        ("/description", &input.description, MAX_DESCRIPTION),
        ("/server", &input.server, MAX_URL),
        ("/url", &input.url, MAX_URL),
    ];
    for (path, text, limit) in limits {
        if text.as_ref().is_some_and(|text| text.len() > limit) {
            return Err(ServiceError::invalid(path, format!("is longer than {limit} bytes")));
        }
    }
    Ok(())
}

/// Heads are read with every assembly: long texts are not kept in them.
pub(super) fn slim(api: Api) -> Api {
    Api { description: shortened(&api.description), ..api }
}

/// As much of a text as a description may have.
pub(super) fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_DESCRIPTION)].to_owned()
}

/// The text without white space around it; none where nothing is left.
pub(super) fn nonempty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
