//! `gaode/gaode_weather`: weather in China, by Gaode's web service.
//!
//! Two requests: `config/district` finds the code of the place, `weather/weatherInfo` its weather (lbs.amap.com,
//! "行政区域查询", "天气查询", "错误码说明"). Failures come with status 200, `status: "0"` and an `infocode`.

use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{GaodeWeatherExtensions, GaodeWeatherParams};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};
use crate::upstream::{Answer, Vendor, base_url, below};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GaodeWeatherArgs {
    /// The Chinese city, district or province, best in Chinese: `杭州`, `海淀区`, `广东省`.
    #[schemars(length(min = 1, max = 60))]
    pub city: String,
}

/// Builds the tool.
pub fn gaode_weather(
    params: GaodeWeatherParams,
    deps: &ToolDeps,
) -> Result<impl CallTool<Args = GaodeWeatherArgs>, BuildError> {
    Ok(GaodeWeather {
        vendor: Vendor::new("gaode", "Gaode", deps),
        base: base_url(&params.url)?,
        api_key: params.api_key,
        extensions: params.extensions,
    })
}

struct GaodeWeather {
    vendor: Vendor,
    base: Url,
    api_key: Option<SecretString>,
    extensions: GaodeWeatherExtensions,
}

impl CallTool for GaodeWeather {
    type Args = GaodeWeatherArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let key = self.vendor.key(self.api_key.as_ref(), cx).await?;
        let place = [("keywords", args.city.as_str()), ("subdistrict", "0")];
        let answer = self.ask(["config", "district"], &place, &key, cx).await?;
        let districts: Districts = answer.json()?;
        let Some(district) = districts.districts.into_iter().next() else {
            return Ok(ToolOutput::failed(format!(
                "Gaode knows no place in China called `{}`. Write the Chinese name of a city, district or province.",
                args.city
            )));
        };
        let of = [("city", district.adcode.as_str()), ("extensions", self.extensions.as_str())];
        let answer = self.ask(["weather", "weatherInfo"], &of, &key, cx).await?;
        let weather: Weather = answer.json()?;
        let told = match self.extensions {
            GaodeWeatherExtensions::Base => weather.lives.into_iter().next().map(Live::output),
            GaodeWeatherExtensions::All => weather.forecasts.into_iter().next().map(Forecast::output),
        };
        Ok(told.unwrap_or_else(|| {
            ToolOutput::failed(format!(
                "Gaode has no weather for `{}`. Try the city it belongs to.",
                district.name
            ))
        }))
    }
}

impl GaodeWeather {
    async fn ask(
        &self,
        path: [&str; 2],
        query: &[(&str, &str)],
        key: &SecretString,
        cx: &CallContext,
    ) -> Result<Answer, ToolError> {
        let request = self.vendor.http.get(below(&self.base, &path));
        let request = request.query(&[("key", key.expose_secret())]).query(query);
        let answer = self.vendor.send(request, &[key], cx).await?.ok()?;
        let verdict: Verdict = answer.json()?;
        match (verdict.status.as_str(), verdict.infocode.as_str()) {
            ("1", _) => Ok(answer),
            (
                _,
                "10001" | "10002" | "10005" | "10006" | "10007" | "10008" | "10009" | "10012" | "10013"
                | "10026",
            ) => Err(answer.key_refused()),
            (_, "10003" | "10010" | "10044" | "10045" | "40000" | "40002") => Err(answer.over_quota()),
            (_, "10004" | "10014" | "10015" | "10019" | "10020" | "10021" | "10029") => {
                Err(answer.too_many())
            }
            _ => Err(answer.failed()),
        }
    }
}

#[derive(Deserialize)]
struct Verdict {
    status: String,
    #[serde(default)]
    infocode: String,
}

#[derive(Deserialize)]
struct Districts {
    #[serde(default)]
    districts: Vec<District>,
}

#[derive(Deserialize)]
struct District {
    adcode: String,
    name: String,
}

#[derive(Deserialize)]
struct Weather {
    #[serde(default)]
    lives: Vec<Live>,
    #[serde(default)]
    forecasts: Vec<Forecast>,
}

#[derive(Deserialize)]
struct Live {
    province: String,
    city: String,
    adcode: String,
    weather: String,
    temperature: String,
    winddirection: String,
    windpower: String,
    humidity: String,
    reporttime: String,
}

impl Live {
    fn output(self) -> ToolOutput {
        let text = format!(
            "{} {}: {}, {} °C, wind {} {}, humidity {} % (reported {})",
            self.province,
            self.city,
            self.weather,
            self.temperature,
            self.winddirection,
            self.windpower,
            self.humidity,
            self.reporttime
        );
        let data = json!({
            "province": self.province, "city": self.city, "adcode": self.adcode, "reported_at": self.reporttime,
            "now": {
                "weather": self.weather, "temperature_c": number(&self.temperature), "humidity": number(&self.humidity),
                "wind_direction": self.winddirection, "wind_power": self.windpower,
            },
        });
        ToolOutput::structured(text, data)
    }
}

#[derive(Deserialize)]
struct Forecast {
    province: String,
    city: String,
    adcode: String,
    reporttime: String,
    #[serde(default)]
    casts: Vec<Cast>,
}

#[derive(Deserialize)]
struct Cast {
    date: String,
    dayweather: String,
    nightweather: String,
    daytemp: String,
    nighttemp: String,
    daywind: String,
    nightwind: String,
    daypower: String,
    nightpower: String,
}

impl Forecast {
    fn output(self) -> ToolOutput {
        let head = format!("{} {} (forecast of {})", self.province, self.city, self.reporttime);
        let lines = self.casts.iter().map(|day| {
            format!(
                "{}: {} {} °C, wind {} {}; at night {} {} °C, wind {} {}",
                day.date,
                day.dayweather,
                day.daytemp,
                day.daywind,
                day.daypower,
                day.nightweather,
                day.nighttemp,
                day.nightwind,
                day.nightpower
            )
        });
        let text = std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n");
        let days: Vec<_> = self.casts.iter().map(Cast::data).collect();
        let data = json!({
            "province": self.province, "city": self.city, "adcode": self.adcode, "reported_at": self.reporttime,
            "days": days,
        });
        ToolOutput::structured(text, data)
    }
}

impl Cast {
    fn data(&self) -> Value {
        let half = |weather: &str, temperature: &str, wind: &str, power: &str| {
            json!({
                "weather": weather, "temperature_c": number(temperature), "wind_direction": wind, "wind_power": power,
            })
        };
        json!({
            "date": self.date,
            "day": half(&self.dayweather, &self.daytemp, &self.daywind, &self.daypower),
            "night": half(&self.nightweather, &self.nighttemp, &self.nightwind, &self.nightpower),
        })
    }
}

/// Gaode writes numbers as texts.
fn number(text: &str) -> Value {
    text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number))
}
