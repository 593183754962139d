//! `open_meteo/forecast`: weather of the world, without a key.
//!
//! `GET /search` of the geocoding service finds the place, `GET /forecast` its weather (open-meteo.com, "Geocoding
//! API", "Weather Forecast API"). Refusals are 400 or 429 with a `reason`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{ForecastParams, ForecastUnits};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument};
use crate::upstream::{Vendor, base_url, below};

const NOW: &str =
    "temperature_2m,relative_humidity_2m,apparent_temperature,precipitation,weather_code,wind_speed_10m";
const DAILY: &str = "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max";

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForecastArgs {
    /// The name of the place, such as `Berlin` or `杭州`, without its country. Either this or both coordinates.
    #[schemars(length(min = 1, max = 100))]
    pub place: Option<String>,
    /// Degrees north, negative for south.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub latitude: Option<f64>,
    /// Degrees east, negative for west.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub longitude: Option<f64>,
    /// How many days, today included. Left out: 3.
    #[schemars(range(min = 1, max = 16))]
    #[serde(default = "three")]
    pub days: u8,
}

fn three() -> u8 {
    3
}

/// Builds the tool.
pub fn forecast(
    params: ForecastParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = ForecastArgs>, BuildError> {
    Ok(Forecast {
        vendor: Vendor::new("open_meteo", "Open-Meteo", deps),
        base: base_url(&params.url)?,
        places: base_url(&params.geocoding_url)?,
        units: params.units,
    })
}

struct Forecast {
    vendor: Vendor,
    base: Url,
    places: Url,
    units: ForecastUnits,
}

impl CallTool for Forecast {
    type Args = ForecastArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let place = match (args.place.as_deref().map(str::trim), args.latitude, args.longitude) {
            (_, Some(latitude), Some(longitude)) => Place {
                name: format!("{latitude}, {longitude}"),
                latitude,
                longitude,
                country: None,
                admin1: None,
            },
            (Some(name), None, None) if !name.is_empty() => match self.find(name, cx).await? {
                Some(place) => place,
                None => {
                    let advice = "Try its English name, a larger place nearby, or coordinates.";
                    return Ok(ToolOutput::failed(format!("There is no place called `{name}`. {advice}")));
                }
            },
            _ => return Err(invalid_argument("place", "is needed, or `latitude` and `longitude` together")),
        };
        let weather = self.weather(&place, args.days, cx).await?;
        Ok(weather.output(&place, self.units))
    }
}

impl Forecast {
    async fn find(&self, name: &str, cx: &CallContext) -> Result<Option<Place>, ToolError> {
        let is_chinese = name.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        let language = if is_chinese { "zh" } else { "en" };
        let query = [("name", name), ("count", "1"), ("language", language), ("format", "json")];
        let request = self.vendor.http.get(below(&self.places, &["search"])).query(&query);
        let found: Places = self.vendor.send(request, &[], cx).await?.ok()?.json()?;
        Ok(found.results.into_iter().next())
    }

    async fn weather(&self, place: &Place, days: u8, cx: &CallContext) -> Result<Weather, ToolError> {
        let (latitude, longitude, days) =
            (place.latitude.to_string(), place.longitude.to_string(), days.to_string());
        let mut query = vec![
            ("latitude", latitude.as_str()),
            ("longitude", &longitude),
            ("current", NOW),
            ("daily", DAILY),
            ("timezone", "auto"),
            ("forecast_days", &days),
        ];
        if self.units == ForecastUnits::Imperial {
            query.extend([
                ("temperature_unit", "fahrenheit"),
                ("wind_speed_unit", "mph"),
                ("precipitation_unit", "inch"),
            ]);
        }
        let request = self.vendor.http.get(below(&self.base, &["forecast"])).query(&query);
        self.vendor.send(request, &[], cx).await?.ok()?.json()
    }
}

#[derive(Deserialize)]
struct Places {
    // An answer that found nothing has no such field, but tells how long it took.
    #[serde(default)]
    results: Vec<Place>,
    #[serde(rename = "generationtime_ms")]
    _took: f64,
}

#[derive(Deserialize)]
struct Place {
    name: String,
    latitude: f64,
    longitude: f64,
    country: Option<String>,
    admin1: Option<String>,
}

#[derive(Deserialize)]
struct Weather {
    timezone: String,
    current: Current,
    daily: Daily,
}

#[derive(Deserialize)]
struct Current {
    time: String,
    temperature_2m: Option<f64>,
    relative_humidity_2m: Option<f64>,
    apparent_temperature: Option<f64>,
    precipitation: Option<f64>,
    weather_code: Option<u8>,
    wind_speed_10m: Option<f64>,
}

#[derive(Deserialize)]
struct Daily {
    time: Vec<String>,
    weather_code: Vec<Option<u8>>,
    temperature_2m_max: Vec<Option<f64>>,
    temperature_2m_min: Vec<Option<f64>>,
    precipitation_sum: Vec<Option<f64>>,
    precipitation_probability_max: Vec<Option<f64>>,
    wind_speed_10m_max: Vec<Option<f64>>,
}

impl Weather {
    fn output(self, place: &Place, units: ForecastUnits) -> ToolOutput {
        let (degrees, speed, depth) = match units {
            ForecastUnits::Metric => ("°C", "km/h", "mm"),
            ForecastUnits::Imperial => ("°F", "mph", "inch"),
        };
        let parts = [Some(&place.name), place.admin1.as_ref(), place.country.as_ref()];
        let name = parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
        let Current { time, temperature_2m, apparent_temperature, .. } = &self.current;
        let mut lines = vec![format!(
            "{name}, now ({time}, {}): {}, {} {degrees}, feels like {} {degrees}, wind {} {speed}, humidity {} %",
            self.timezone,
            words(self.current.weather_code),
            shown(*temperature_2m),
            shown(*apparent_temperature),
            shown(self.current.wind_speed_10m),
            shown(self.current.relative_humidity_2m)
        )];
        let daily = self.daily;
        let mut days = Vec::new();
        for (at, date) in daily.time.iter().enumerate() {
            let of = |values: &[Option<f64>]| values.get(at).copied().flatten();
            let (low, high) = (of(&daily.temperature_2m_min), of(&daily.temperature_2m_max));
            let (rain, chance) = (of(&daily.precipitation_sum), of(&daily.precipitation_probability_max));
            let wind = of(&daily.wind_speed_10m_max);
            let weather = words(daily.weather_code.get(at).copied().flatten());
            lines.push(format!(
                "{date}: {weather}, {} to {} {degrees}, {} {depth} of rain or snow ({} %), wind up to {} {speed}",
                shown(low),
                shown(high),
                shown(rain),
                shown(chance),
                shown(wind)
            ));
            days.push(json!({
                "date": date, "weather": weather, "low": low, "high": high, "precipitation": rain,
                "precipitation_probability": chance, "wind_speed": wind,
            }));
        }
        let data = json!({
            "place": name, "latitude": place.latitude, "longitude": place.longitude, "timezone": self.timezone,
            "units": {"temperature": degrees, "wind_speed": speed, "precipitation": depth},
            "now": {
                "time": time, "weather": words(self.current.weather_code), "temperature": temperature_2m,
                "feels_like": apparent_temperature, "humidity": self.current.relative_humidity_2m,
                "precipitation": self.current.precipitation, "wind_speed": self.current.wind_speed_10m,
            },
            "days": days,
        });
        ToolOutput::structured(lines.join("\n"), data)
    }
}

fn shown(value: Option<f64>) -> Value {
    value.map_or_else(|| json!("?"), |value| json!(value))
}

/// The weather codes of the World Meteorological Organization that the service uses.
fn words(code: Option<u8>) -> &'static str {
    match code {
        Some(0) => "clear sky",
        Some(1) => "mainly clear",
        Some(2) => "partly cloudy",
        Some(3) => "overcast",
        Some(45 | 48) => "fog",
        Some(51 | 53 | 55) => "drizzle",
        Some(56 | 57) => "freezing drizzle",
        Some(61) => "light rain",
        Some(63) => "rain",
        Some(65) => "heavy rain",
        Some(66 | 67) => "freezing rain",
        Some(71) => "light snow",
        Some(73 | 77) => "snow",
        Some(75) => "heavy snow",
        Some(80 | 81) => "rain showers",
        Some(82) => "violent rain showers",
        Some(85 | 86) => "snow showers",
        Some(95) => "thunderstorm",
        Some(96 | 99) => "thunderstorm with hail",
        _ => "unknown weather",
    }
}
