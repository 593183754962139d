//! What the time tools share: finding a time zone by name, and showing a moment.

use jiff::ZonedDateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// What is shown unless another format is asked for.
const FORMAT: &str = "%Y-%m-%d %H:%M:%S %Z";
/// The longest format, in bytes.
const LONGEST_FORMAT: usize = 200;

/// The time zone of this name, or a sentence that says what to write instead.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    let name = name.trim();
    if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    if let Ok(zone) = TimeZone::get(name) {
        return Ok(zone);
    }
    let shown: String = name.chars().take(64).collect();
    let close = similar(&shown);
    let hint = if close.is_empty() {
        "use an IANA name such as `Asia/Shanghai`, `Europe/Berlin`, `America/New_York` or `UTC`".to_owned()
    } else {
        format!("did you mean {}?", close.join(" or "))
    };
    Err(format!("`{shown}` is not a known time zone: {hint}"))
}

/// The moment as text.
pub(super) fn text(moment: &ZonedDateTime, format: Option<&str>) -> Result<String, String> {
    let format = format.unwrap_or(FORMAT);
    if format.len() > LONGEST_FORMAT {
        return Err(format!("the format is longer than {LONGEST_FORMAT} bytes"));
    }
    strtime::format(format, moment).map_err(|error| {
        format!("the format cannot be used: {error}; use strftime directives, for example `{FORMAT}`")
    })
}

/// The moment as data.
pub(super) fn data(moment: &ZonedDateTime) -> Value {
    json!({
        "datetime": rfc3339(moment),
        "timezone": moment.time_zone().iana_name().unwrap_or("UTC"),
        "utc_offset": offset(moment),
        "unix": moment.timestamp().as_second(),
    })
}

fn rfc3339(moment: &ZonedDateTime) -> String {
    // Without the zone in brackets that Temporal adds, which RFC 3339 does not know.
    moment.timestamp().display_with_offset(moment.offset()).to_string()
}

fn offset(moment: &ZonedDateTime) -> String {
    strtime::format("%:z", moment).unwrap_or_else(|_| moment.offset().to_string())
}

/// Zones whose city is the one named (`shanghai`), or whose whole name is close; at most three, quoted.
fn similar(name: &str) -> Vec<String> {
    let wanted = name.to_lowercase().replace(' ', "_");
    let wanted = wanted.rsplit('/').next().unwrap_or(&wanted);
    let names: Vec<_> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    let city = |zone: &&String| zone.to_lowercase().rsplit('/').next() == Some(wanted);
    let mut close: Vec<_> = names.iter().filter(city).map(String::as_str).collect();
    if close.is_empty() {
        close = crate::nearest::nearest(name, names.iter().map(String::as_str));
    }
    close.truncate(3);
    close.into_iter().map(|name| format!("`{name}`")).collect()
}
