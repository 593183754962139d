//! `json/convert`: JSON, YAML and CSV, each into each.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ConvertParams;
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};

/// The largest result, in bytes.
const LARGEST: usize = 1024 * 1024;
/// The most columns of a table.
const MOST_COLUMNS: usize = 1000;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertArgs {
    /// The data, as a text.
    #[schemars(length(max = 500_000))]
    pub text: String,
    /// What the text is.
    pub from: Format,
    /// What it shall be.
    pub to: Format,
}

/// A format of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Format {
    Json,
    Yaml,
    Csv,
}

/// Builds the tool.
pub fn convert(
    _params: ConvertParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = ConvertArgs>, BuildError> {
    Ok(Convert)
}

struct Convert;

impl CallTool for Convert {
    type Args = ConvertArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        compute(move || run(&args)).await?
    }
}

fn run(args: &ConvertArgs) -> Result<ToolOutput, ToolError> {
    let data = read(&args.text, args.from).map_err(|message| invalid_argument("text", message))?;
    let text = match write(&data, args.to) {
        Ok(text) => text,
        Err(why) => {
            return Ok(ToolOutput::failed(format!("The data cannot be written in this format: {why}.")));
        }
    };
    if text.len() > LARGEST {
        return Err(ToolError::TooLarge { what: "the result".to_owned(), limit: LARGEST as u64 });
    }
    Ok(ToolOutput::structured(text.clone(), json!({"text": text})))
}

fn read(text: &str, format: Format) -> Result<Value, String> {
    match format {
        Format::Json => serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}")),
        Format::Yaml => serde_saphyr::from_str(text).map_err(|error| {
            let error = error.to_string();
            format!("is not YAML: {}", error.lines().next().unwrap_or_default())
        }),
        Format::Csv => rows(text).map_err(|error| format!("is not CSV: {error}")),
    }
}

fn rows(text: &str) -> Result<Value, csv::Error> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let columns = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let row: Map<_, _> =
            columns.iter().map(str::to_owned).zip(record.iter().map(|cell| json!(cell))).collect();
        rows.push(Value::Object(row));
    }
    Ok(Value::Array(rows))
}

fn write(data: &Value, format: Format) -> Result<String, String> {
    match format {
        Format::Json => serde_json::to_string_pretty(data).map_err(|error| error.to_string()),
        Format::Yaml => serde_saphyr::to_string(data).map_err(|error| error.to_string()),
        Format::Csv => table(data),
    }
}

/// A list of objects as a table. A cell that is a list or an object is written as JSON.
fn table(data: &Value) -> Result<String, String> {
    let rows = match data {
        Value::Array(rows) => rows.as_slice(),
        Value::Object(_) => std::slice::from_ref(data),
        _ => return Err("CSV holds a list of objects".to_owned()),
    };
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        let row = row.as_object().ok_or("CSV holds a list of objects, and something in this list is none")?;
        for name in row.keys() {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
        if columns.len() > MOST_COLUMNS {
            return Err(format!("it has more than {MOST_COLUMNS} columns"));
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns).map_err(|error| error.to_string())?;
    for row in rows {
        let cells = columns.iter().map(|column| cell(row.get(*column)));
        writer.write_record(cells).map_err(|error| error.to_string())?;
        if writer.get_ref().len() > LARGEST {
            break;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
