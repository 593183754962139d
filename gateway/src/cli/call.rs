//! `haft call`.

use super::{
    args::Call,
    client::Api,
    failure::Failure,
    input, names,
    screen::{self, Report},
};
use domain::ToolOutput;
use serde::Deserialize as _;
use serde_json::{Value, json};

pub(crate) async fn run(api: &Api, args: Call) -> Result<Report, Failure> {
    let mut reference = names::reference(api, &args.target).await?;
    if let Value::Object(params) = input::object("--params", &args.params)? {
        reference.params = params;
    }
    let body = json!({
        "ref": reference,
        "args": input::object("--args", &args.args)?,
        "timeout_s": args.timeout,
    });
    let spinner = screen::working(format!("calling {}", args.target));
    let output = api.post("/tools/invoke", &body).await;
    spinner.finish_and_clear();
    result(output?)
}

/// A tool's result as a report; the command fails when the tool says that it did.
pub(crate) fn result(value: Value) -> Result<Report, Failure> {
    let output = ToolOutput::deserialize(&value)
        .map_err(|e| Failure::new(format!("the answer is not a tool's result: {e}")))?;
    Ok(Report {
        text: output.text(),
        failed: output.is_error.then(|| "the tool reports that it failed".to_owned()),
        value,
    })
}
