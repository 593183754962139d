//! `time/current_time`: what time it is, anywhere.

use std::sync::Arc;

use domain::ports::Clock;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{CurrentTimeParams, shared};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurrentTimeArgs {
    /// The IANA name of the time zone, for example `Asia/Shanghai`. Left out: the default time zone.
    #[schemars(length(max = 64))]
    #[serde(default)]
    pub timezone: Option<String>,
    /// How to write the time, in strftime directives. Left out: `%Y-%m-%d %H:%M:%S %Z`.
    #[schemars(length(max = 200))]
    #[serde(default)]
    pub format: Option<String>,
}

/// Builds the tool.
pub fn current_time(
    params: CurrentTimeParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = CurrentTimeArgs>, BuildError> {
    let zone =
        shared::zone(&params.timezone).map_err(|message| BuildError::invalid_param("timezone", message))?;
    Ok(CurrentTime { zone, clock: Arc::clone(&deps.clock) })
}

struct CurrentTime {
    zone: TimeZone,
    clock: Arc<dyn Clock>,
}

impl CallTool for CurrentTime {
    type Args = CurrentTimeArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let zone = match args.timezone.as_deref().filter(|name| !name.trim().is_empty()) {
            Some(name) => shared::zone(name).map_err(|message| invalid_argument("timezone", message))?,
            None => self.zone.clone(),
        };
        let now = self.clock.now().to_zoned_datetime(zone);
        let format = args.format.as_deref().filter(|format| !format.is_empty());
        let text = shared::text(&now, format).map_err(|message| invalid_argument("format", message))?;
        Ok(ToolOutput::structured(text, shared::data(&now)))
    }
}
