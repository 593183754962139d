//! What a model may never fill: headers and cookies that carry a credential, `Host`, and those of the
//! connection itself.

use crate::{
    normal::Location,
    report::{Warning, WarningCode},
};

/// Headers of the connection or of the message's framing. The HTTP client sets them; nobody else does.
const OF_THE_CONNECTION: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
];

/// Headers that carry a credential by their name.
const CREDENTIALS: [&str; 14] = [
    "api-key",
    "apikey",
    "authentication",
    "authorization",
    "cookie",
    "private-token",
    "proxy-authenticate",
    "proxy-authorization",
    "set-cookie",
    "x-access-token",
    "x-api-key",
    "x-apikey",
    "x-auth-token",
    "x-amz-security-token",
];

/// Whether a header belongs to the connection.
pub(crate) fn is_of_the_connection(header: &str) -> bool {
    OF_THE_CONNECTION.contains(&header.to_ascii_lowercase().as_str())
}

/// Whether a parameter may not be filled by a model.
pub(crate) fn is_withheld(name: &str, location: Location) -> bool {
    let lower = name.to_ascii_lowercase();
    location == Location::Header
        && (CREDENTIALS.contains(&lower.as_str()) || OF_THE_CONNECTION.contains(&lower.as_str()))
}

/// What to say of it.
pub(crate) fn withheld_warning(name: &str, location: Location, pointer: &str) -> Warning {
    let what = location.as_str();
    let message = if is_of_the_connection(name) {
        format!("The {what} `{name}` belongs to the connection: no argument can set it.")
    } else {
        format!(
            "The {what} `{name}` carries a credential, so no argument can set it: give it as a credential or as a \
             header of the provider."
        )
    };
    Warning::new(WarningCode::Withheld, pointer, message)
}
