//! `time/convert_time`: a date and time in another zone.

use std::sync::Arc;

use domain::ports::Clock;
use jiff::ZonedDateTime;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{ConvertTimeParams, shared};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertTimeArgs {
    /// The time: `2026-12-01 22:44`, `22:44` (today), or with an offset `2026-12-01T22:44:00+08:00`.
    #[schemars(length(min = 1, max = 100))]
    pub time: String,
    /// The IANA time zone that `time` is in, for example `Asia/Shanghai`. Not needed when `time` has an offset.
    #[schemars(length(max = 64))]
    #[serde(default)]
    pub from: Option<String>,
    /// The IANA time zone to convert to, for example `Europe/Berlin`.
    #[schemars(length(min = 1, max = 64))]
    pub to: String,
}

/// Builds the tool.
pub fn convert_time(
    _params: ConvertTimeParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = ConvertTimeArgs>, BuildError> {
    Ok(ConvertTime { clock: Arc::clone(&deps.clock) })
}

struct ConvertTime {
    clock: Arc<dyn Clock>,
}

impl CallTool for ConvertTime {
    type Args = ConvertTimeArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let zone = |argument: &str, name: &str| shared::zone(name).map_err(|m| invalid_argument(argument, m));
        let from = args.from.as_deref().filter(|name| !name.trim().is_empty());
        let from = from.map(|name| zone("from", name)).transpose()?;
        let to = zone("to", &args.to)?;
        let Read { moment, note } = self.read(args.time.trim(), from)?;
        let there = moment.with_time_zone(to);
        let show = |moment: &ZonedDateTime| shared::text(moment, None).map_err(ToolError::internal);
        let mut text = format!("{} = {}", show(&moment)?, show(&there)?);
        if let Some(note) = note {
            text = format!("{text}\nNote: {note}");
        }
        let data = json!({"from": shared::data(&moment), "to": shared::data(&there), "note": note});
        Ok(ToolOutput::structured(text, data))
    }
}

/// A moment, and what is remarkable about how it was read.
struct Read {
    moment: ZonedDateTime,
    note: Option<&'static str>,
}

impl ConvertTime {
    fn read(&self, text: &str, from: Option<TimeZone>) -> Result<Read, ToolError> {
        let wrong = |message: String| invalid_argument("time", message);
        let pieces = Pieces::parse(text).ok();
        if let Some(offset) = pieces.as_ref().and_then(Pieces::to_numeric_offset) {
            let time = pieces.and_then(|pieces| Some(pieces.date().to_datetime(pieces.time()?)));
            let time = time.ok_or_else(|| wrong("has an offset but no time of day".to_owned()))?;
            let moment = offset.to_timestamp(time).map_err(|error| wrong(error.to_string()))?;
            let zone = from.unwrap_or_else(|| TimeZone::fixed(offset));
            return Ok(Read { moment: moment.to_zoned_datetime(zone), note: None });
        }
        let annotated = pieces.as_ref().and_then(|pieces| pieces.to_time_zone().ok().flatten());
        let Some(zone) = from.or(annotated) else {
            let message = "is needed, since `time` has no offset: give an IANA name such as `Asia/Shanghai`";
            return Err(invalid_argument("from", message));
        };
        let today = || self.clock.now().to_zoned_datetime(zone.clone()).date();
        let local = match &pieces {
            Some(pieces) => pieces.date().to_datetime(pieces.time().unwrap_or_else(Time::midnight)),
            None => today().to_datetime(text.parse::<Time>().map_err(|_| {
                wrong(format!("`{text}` is not a date and time: write it as `2026-12-01 22:44` or `22:44`"))
            })?),
        };
        let ambiguous = zone.into_ambiguous_zoned_datetime(local);
        let note = match ambiguous.offset() {
            jiff::tz::AmbiguousOffset::Unambiguous { .. } => None,
            jiff::tz::AmbiguousOffset::Gap { .. } => {
                Some("this local time does not exist: clocks jumped over it; the later time was used")
            }
            jiff::tz::AmbiguousOffset::Fold { .. } => {
                Some("this local time happens twice, as clocks are set back; the first one was used")
            }
        };
        let moment = ambiguous.compatible().map_err(|error| wrong(error.to_string()))?;
        Ok(Read { moment, note })
    }
}
