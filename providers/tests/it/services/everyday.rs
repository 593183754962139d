//! Weather and other everyday services.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Expect, KEY, Service, call_once};
use crate::stand_in::Reply;

pub(super) fn services() -> Vec<Service> {
    vec![gaode(), open_meteo(), frankfurter(), youdao()]
}

fn gaode_refusal(infocode: &str, info: &str) -> Reply {
    Reply::json(200, &json!({"status": "0", "info": info, "infocode": infocode}))
}

fn gaode() -> Service {
    let districts = json!({"status": "1", "info": "OK", "infocode": "10000", "count": "1", "districts": [
        {"citycode": "0571", "adcode": "330100", "name": "杭州市", "center": "120.2,30.2", "level": "city", "districts": []},
    ]});
    let day = |date: &str, high: &str| {
        json!({
            "date": date, "week": "2", "dayweather": "晴", "nightweather": "多云", "daytemp": high, "nighttemp": "-3",
            "daywind": "北", "nightwind": "西北", "daypower": "1-3", "nightpower": "4",
            "daytemp_float": "12.0", "nighttemp_float": "-3.0",
        })
    };
    let weather = json!({"status": "1", "count": "1", "info": "OK", "infocode": "10000", "forecasts": [{
        "city": "杭州市", "adcode": "330100", "province": "浙江", "reporttime": "2026-12-01 20:00:00",
        "casts": [day("2026-12-01", "12"), day("2026-12-02", "9")],
    }]});
    Service {
        tool: "gaode/gaode_weather",
        params: json!({"url": "{base}/v3"}),
        credentials: json!({"gaode": {"api_key": KEY}}),
        args: json!({"city": "杭州"}),
        replies: vec![Reply::json(200, &districts), Reply::json(200, &weather)],
        requests: vec![
            json!({"method": "GET", "path": "/v3/config/district", "query": {"key": KEY, "keywords": "杭州", "subdistrict": "0"}}),
            json!({"method": "GET", "path": "/v3/weather/weatherInfo", "query": {"key": KEY, "city": "330100", "extensions": "all"}}),
        ],
        expect: Expect::Result(
            "2026-12-02: 晴 9 °C, wind 北 1-3; at night 多云 -3 °C, wind 西北 4",
            vec![
                ("/adcode", json!("330100")),
                ("/days/0/day/temperature_c", json!(12.0)),
                (
                    "/days/1/night",
                    json!({"weather": "多云", "temperature_c": -3.0, "wind_direction": "西北", "wind_power": "4"}),
                ),
            ],
        ),
        others: vec![
            (
                "bad key",
                gaode_refusal("10001", "INVALID_USER_KEY"),
                Expect::Error("missing_credential", "INVALID_USER_KEY"),
            ),
            (
                "quota",
                gaode_refusal("10003", "DAILY_QUERY_OVER_LIMIT"),
                Expect::Error("upstream", "DAILY_QUERY_OVER_LIMIT"),
            ),
            (
                "often",
                gaode_refusal("10021", "CUQPS_HAS_EXCEEDED_THE_LIMIT"),
                Expect::Error("rate_limited", ""),
            ),
            ("bad", gaode_refusal("20000", "INVALID_PARAMS"), Expect::Error("upstream", "INVALID_PARAMS")),
            (
                "empty",
                Reply::json(200, &json!({"status": "1", "infocode": "10000", "districts": []})),
                Expect::Failed("no place in China called `杭州`"),
            ),
        ],
    }
}

#[tokio::test]
async fn gaode_tells_the_weather_now_with_the_tools_own_key() {
    let district =
        json!({"status": "1", "infocode": "10000", "districts": [{"adcode": "110108", "name": "海淀区"}]});
    let live = json!({"status": "1", "infocode": "10000", "lives": [{
        "province": "北京", "city": "海淀区", "adcode": "110108", "weather": "霾", "temperature": "4", "winddirection": "东南",
        "windpower": "≤3", "humidity": "61", "reporttime": "2026-12-01 22:30:00",
    }]});
    let params = json!({"url": "{base}", "api_key": "own-key", "extensions": "base"});
    let stored = json!({"gaode": {"api_key": KEY}});
    let replies = vec![Reply::json(200, &district), Reply::json(200, &live)];
    let (result, seen) =
        call_once("gaode/gaode_weather", params, &stored, json!({"city": "海淀"}), replies).await;
    let expect =
        Expect::Result("霾, 4 °C, wind 东南 ≤3, humidity 61 %", vec![("/now/humidity", json!(61.0))]);
    super::check("now", &result, &expect);
    assert_eq!(
        (&seen[0]["query"]["key"], &seen[1]["query"]["extensions"]),
        (&json!("own-key"), &json!("base"))
    );

    let nothing = json!({"status": "1", "infocode": "10000", "lives": []});
    let replies = vec![Reply::json(200, &district), Reply::json(200, &nothing)];
    let params = json!({"url": "{base}"});
    let (result, _) =
        call_once("gaode/gaode_weather", params, &stored, json!({"city": "海淀"}), replies).await;
    super::check("none", &result, &Expect::Failed("no weather for `海淀区`"));
}

fn open_meteo() -> Service {
    let places = json!({"results": [
        {"id": 1, "name": "杭州", "latitude": 30.29, "longitude": 120.16, "country": "中国", "admin1": "浙江"},
    ], "generationtime_ms": 0.5});
    let weather = json!({
        "latitude": 30.25, "longitude": 120.125, "timezone": "Asia/Shanghai",
        "current": {
            "time": "2026-12-01T22:45", "temperature_2m": 51.1, "relative_humidity_2m": 61, "apparent_temperature": 49.0,
            "precipitation": 0.0, "weather_code": 3, "wind_speed_10m": 5.5,
        },
        "daily": {
            "time": ["2026-12-01", "2026-12-02"], "weather_code": [61, 95], "temperature_2m_max": [60.1, 58.0],
            "temperature_2m_min": [45.5, 44.0], "precipitation_sum": [0.1, null],
            "precipitation_probability_max": [80, null], "wind_speed_10m_max": [9.9, 12.0],
        },
    });
    Service {
        tool: "open_meteo/forecast",
        params: json!({"url": "{base}/v1", "geocoding_url": "{base}/geo", "units": "imperial"}),
        credentials: json!({}),
        args: json!({"place": "杭州", "days": 2}),
        replies: vec![Reply::json(200, &places), Reply::json(200, &weather)],
        requests: vec![
            json!({"method": "GET", "path": "/geo/search", "query": {"name": "杭州", "count": "1", "language": "zh", "format": "json"}}),
            json!({"method": "GET", "path": "/v1/forecast", "query": {
                "latitude": "30.29", "longitude": "120.16",
                "current": "temperature_2m,relative_humidity_2m,apparent_temperature,precipitation,weather_code,wind_speed_10m",
                "daily": "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max",
                "timezone": "auto", "forecast_days": "2",
                "temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch",
            }}),
        ],
        expect: Expect::Result(
            "2026-12-02: thunderstorm, 44.0 to 58.0 °F, \"?\" inch of rain or snow (\"?\" %), wind up to 12.0 mph",
            vec![
                ("/place", json!("杭州, 浙江, 中国")),
                ("/now/weather", json!("overcast")),
                ("/days/0/precipitation_probability", json!(80.0)),
                ("/days/1/precipitation", Value::Null),
                ("/units/temperature", json!("°F")),
            ],
        ),
        others: vec![
            (
                "empty",
                Reply::json(200, &json!({"generationtime_ms": 0.4})),
                Expect::Failed("no place called `杭州`"),
            ),
            (
                "bad",
                Reply::json(400, &json!({"error": true, "reason": "Cannot initialize"})),
                Expect::Error("upstream", "Cannot initialize"),
            ),
        ],
    }
}

#[tokio::test]
async fn a_place_is_named_or_given_by_both_coordinates() {
    let here = json!({"url": "{base}", "geocoding_url": "{base}"});
    for args in
        [json!({}), json!({"latitude": 1.0}), json!({"place": " "}), json!({"place": "x", "longitude": 2.0})]
    {
        let (result, seen) = call_once("open_meteo/forecast", here.clone(), &Value::Null, args, vec![]).await;
        super::check("no place", &result, &Expect::Error("invalid_args", "/place"));
        assert!(seen.is_empty());
    }
    let (_, seen) = call_once(
        "open_meteo/forecast",
        here,
        &Value::Null,
        json!({"latitude": -1.5, "longitude": 2.0}),
        vec![],
    )
    .await;
    assert_eq!((&seen[0]["path"], &seen[0]["query"]["latitude"]), (&json!("/forecast"), &json!("-1.5")));
}

fn frankfurter() -> Service {
    let rates =
        json!({"amount": 1.0, "base": "EUR", "date": "2026-11-27", "rates": {"CNY": 8.2101, "USD": 1.1567}});
    Service {
        tool: "frankfurter/convert",
        params: json!({"url": "{base}/v1"}),
        credentials: json!({}),
        args: json!({"amount": 250, "from": "eur", "to": ["CNY", "usd"], "date": "2026-11-28"}),
        replies: vec![Reply::json(200, &rates)],
        requests: vec![
            json!({"method": "GET", "path": "/v1/2026-11-28", "query": {"base": "EUR", "symbols": "CNY,USD"}}),
        ],
        expect: Expect::Result(
            "250 EUR = 2052.525 CNY\n250 EUR = 289.175 USD\nReference rates of 2026-11-27.",
            vec![("/to/CNY", json!({"amount": 2052.525, "rate": 8.2101})), ("/date", json!("2026-11-27"))],
        ),
        others: vec![
            (
                "unknown",
                Reply::json(404, &json!({"message": "not found"})),
                Expect::Failed("no rates of EUR to CNY,USD"),
            ),
            (
                "partly",
                Reply::json(200, &json!({"date": "2026-11-27", "rates": {"USD": 2.0}})),
                Expect::Result("no rate for CNY", vec![("/to/USD/amount", json!(500.0))]),
            ),
        ],
    }
}

#[tokio::test]
async fn money_needs_codes_and_days() {
    for (args, place) in [
        (json!({"from": "EUR", "to": ["EUR"]}), "/to"),
        (json!({"from": "E1R", "to": ["USD"]}), "/from"),
        (json!({"from": "EUR", "to": ["USD"], "date": "yesterday"}), "/date"),
    ] {
        let here = json!({"url": "{base}"});
        let (result, seen) = call_once("frankfurter/convert", here, &Value::Null, args, vec![]).await;
        super::check(place, &result, &Expect::Error("invalid_args", place));
        assert!(seen.is_empty());
    }
}

fn youdao() -> Service {
    let code = |code: &str| Reply::json(200, &json!({"errorCode": code, "requestId": "1"}));
    let said =
        json!({"errorCode": "0", "query": "Well", "translation": ["好"], "l": "en2zh-CHS", "isWord": false});
    Service {
        tool: "youdao/translate",
        params: json!({"url": "{base}"}),
        credentials: json!({"youdao": {"app_key": "canary-key", "app_secret": KEY}}),
        args: json!({"text": "Well begun is half done.", "to": "zh"}),
        replies: vec![Reply::json(200, &said)],
        requests: vec![json!({
            "method": "POST", "path": "/api", "query": {}, "headers": {"content-type": "application/x-www-form-urlencoded"},
        })],
        expect: Expect::Result("好", vec![("/from", json!("en")), ("/to", json!("zh-CHS"))]),
        others: vec![
            ("bad key", code("108"), Expect::Error("missing_credential", "application id is unknown")),
            ("bad secret", code("202"), Expect::Error("missing_credential", "secret is wrong")),
            ("quota", code("401"), Expect::Error("upstream", "used up")),
            ("often", code("411"), Expect::Error("rate_limited", "")),
            ("language", code("102"), Expect::Failed("does not know the language")),
            ("bad", code("303"), Expect::Error("upstream", "303")),
        ],
    }
}

#[tokio::test]
async fn youdao_is_sent_a_fitting_signature() {
    let keys = json!({"youdao": {"app_key": "k", "app_secret": "s"}});
    let args = json!({"text": "Well begun is half done.", "to": "de", "from": "en"});
    let (_, seen) = call_once("youdao/translate", json!({"url": "{base}"}), &keys, args, vec![]).await;
    let form = &seen[0]["body"];
    let signed = format!("kWell begun24half done.{}1796136269s", form["salt"].as_str().unwrap());
    let expected = json!({
        "q": "Well begun is half done.", "from": "en", "to": "de", "appKey": "k", "salt": form["salt"],
        "sign": hex::encode(Sha256::digest(signed)), "signType": "v3", "curtime": "1796136269",
    });
    assert_eq!(form, &expected);
}

const WIDE: &str = r#"{"url": "{base}/items"}"#;

async fn request(
    params: Value,
    args: Value,
    reply: Reply,
) -> (Result<domain::ToolOutput, domain::ToolError>, Vec<Value>) {
    // The address of the stand-in is known only once it runs, and stands in the arguments here.
    let stand_in = crate::stand_in::StandIn::start(vec![reply]).await;
    let filled = |value: &Value| -> Value {
        serde_json::from_str(&value.to_string().replace("{base}", &stand_in.base)).unwrap()
    };
    let deps = crate::support::deps();
    let result = crate::support::invoke(
        deps,
        "http/request",
        filled(&params),
        filled(&args),
        &crate::support::context(),
    )
    .await;
    let seen = stand_in.seen();
    (result, seen)
}

#[tokio::test]
async fn a_request_is_sent_as_asked_and_answered_whole() {
    let args = json!({
        "method": "POST", "url": "{base}/items?a=1", "query": {"b": "鱼"}, "headers": {"X-Trace": "t"}, "body": {"n": [1, 2]},
    });
    let params =
        json!({"methods": "all", "allowed_hosts": "127.0.0.1", "authorization": format!("Bearer {KEY}")});
    let reply = Reply::json(201, &json!({"id": 7, "echo": KEY}))
        .with("location", "/items/7")
        .with("set-cookie", "s=1");
    let (result, seen) = request(params, args, reply).await;
    let expect = Expect::Result(
        "Status 201\n\n{\"id\":7",
        vec![
            ("/json", json!({"id": 7, "echo": "********"})),
            (
                "/headers",
                json!({"content-type": "application/json", "content-length": seen_length(), "location": "/items/7"}),
            ),
            ("/text", Value::Null),
        ],
    );
    super::check("created", &result, &expect);
    let expected =
        json!({"method": "POST", "path": "/items", "query": {"a": "1", "b": "鱼"}, "body": {"n": [1, 2]}});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&seen[0][field], value, "{field}");
    }
    assert_eq!(
        (&seen[0]["headers"]["x-trace"], &seen[0]["headers"]["authorization"]),
        (&json!("t"), &json!(format!("Bearer {KEY}")))
    );
}

fn seen_length() -> String {
    json!({"id": 7, "echo": KEY}).to_string().len().to_string()
}

#[tokio::test]
async fn answers_that_are_no_json_are_told_too() {
    let args = || serde_json::from_str::<Value>(WIDE).unwrap();
    let (gone, _) = request(json!({}), args(), Reply::of(404, "text/plain", "no such item")).await;
    super::check("not found", &gone, &Expect::Failed("Status 404\n\nno such item"));
    let (picture, _) =
        request(json!({}), args(), Reply::of(200, "image/png", b"\x89PNG\0\xff".to_vec())).await;
    super::check(
        "binary",
        &picture,
        &Expect::Result("(6 bytes of `image/png`, which is no text)", vec![("/json", Value::Null)]),
    );
    let (broken, _) = request(json!({}), args(), Reply::of(200, "application/json", "{oops")).await;
    super::check("broken", &broken, &Expect::Result("{oops", vec![("/text", json!("{oops"))]));
    let (long, _) = request(json!({}), args(), Reply::of(200, "text/plain", "x".repeat(60_000))).await;
    super::check("long", &long, &Expect::Result("its beginning", vec![("/truncated", json!(true))]));
    let (latin, _) =
        request(json!({}), args(), Reply::of(200, "text/plain; charset=iso-8859-1", b"caf\xe9".to_vec()))
            .await;
    super::check("latin", &latin, &Expect::Result("café", vec![]));
}

#[tokio::test]
async fn a_request_keeps_to_what_the_app_allows() {
    let post = json!({"url": "{base}/", "method": "DELETE"});
    for (params, args, code, part) in [
        (json!({}), post.clone(), "invalid_args", "/method"),
        (json!({"allowed_hosts": "example.com"}), json!({"url": "{base}/"}), "blocked", ""),
        (json!({}), json!({"url": "{base}/", "headers": {"Cookie": "a=b"}}), "invalid_args", "/headers"),
        (json!({}), json!({"url": "{base}/", "body": "x"}), "invalid_args", "/body"),
        (json!({}), json!({"url": "ftp://example.com/"}), "invalid_args", "/url"),
        (json!({}), json!({"url": "http://169.254.169.254/latest/"}), "blocked", ""),
    ] {
        let (result, seen) = request(params, args, Reply::json(200, &json!({}))).await;
        super::check(code, &result, &Expect::Error(code, part));
        assert!(seen.is_empty());
    }
    let to = Reply::of(302, "text/plain", "").with("location", "http://169.254.169.254/latest/");
    let (trap, _) = request(json!({}), json!({"url": "{base}/"}), to.clone()).await;
    super::check("redirect inside", &trap, &Expect::Error("blocked", ""));
    let (kept, _) = request(json!({"allowed_hosts": "127.0.0.1"}), json!({"url": "{base}/"}), to).await;
    super::check(
        "redirect off the list",
        &kept,
        &Expect::Result("Status 302", vec![("/headers/location", json!("http://169.254.169.254/latest/"))]),
    );
}
