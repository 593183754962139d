//! `haft tools`.

use super::{
    args::{NewTool, Tools, ToolsCommand},
    client::{Api, segment},
    failure::Failure,
    names,
    screen::{Report, brief, field, table},
};
use domain::ToolKind;
use serde_json::{Value, json};

pub(crate) async fn run(api: &Api, args: Tools) -> Result<Report, Failure> {
    match args.command {
        Some(ToolsCommand::Show { target }) => show(api, &target).await,
        Some(ToolsCommand::New(new)) => self::new(&new),
        None => list(api, args.kind, args.query.as_deref()).await,
    }
}

async fn list(api: &Api, kind: Option<ToolKind>, query: Option<&str>) -> Result<Report, Failure> {
    let mut path = format!("/tools?q={}", segment(query.unwrap_or_default()));
    if let Some(kind) = kind {
        path.push_str("&kind=");
        path.push_str(kind.as_str());
    }
    let items = api.list(&path).await?;
    let row = |item: &Value| {
        let reference = item.get("ref").unwrap_or(&Value::Null);
        let provider = match reference.get("type").and_then(Value::as_str) {
            Some("builtin_tool") => field(reference, "provider_id"),
            _ => field(item, "provider_name"),
        };
        let name = format!("{}/{provider}/{}", field(reference, "type"), field(reference, "tool_id"));
        let state = if item.get("enabled") == Some(&Value::Bool(false)) { " (off)" } else { "" };
        [format!("{name}{state}"), brief(&field(item, "description"))]
    };
    let text = table(["TOOL", "DESCRIPTION"], items.iter().map(row).collect(), "no tools");
    Ok(Report::new(text, json!({"items": items, "next_cursor": null})))
}

async fn show(api: &Api, target: &str) -> Result<Report, Failure> {
    let reference = names::reference(api, target).await?;
    let assembled = api.post("/tools/assemble", &json!({"refs": [reference]})).await?;
    if let Some(problem) = assembled.pointer("/problems/0") {
        return Err(Failure::new(field(problem, "message")).hint("`haft tools` lists what there is"));
    }
    let tool = assembled.pointer("/tools/0").cloned().unwrap_or_default();
    let schema = tool.get("args_schema").cloned().unwrap_or_default();
    let text = format!(
        "{}: {}\n{}\n\nargs: {schema:#}",
        field(&tool, "name"),
        field(&tool, "title"),
        field(&tool, "description")
    );
    Ok(Report::new(text, tool))
}

/// `haft tools new`: works on the source, and needs no installation.
pub(crate) fn new(args: &NewTool) -> Result<Report, Failure> {
    let files = codegen::scaffold::new_tool(&args.registry, &args.name).map_err(|e| {
        Failure::new(e.to_string()).hint("run it at the top of the source, or give --registry DIR")
    })?;
    let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let text = format!("wrote\n  {}\nnext: fill them in, then `cargo build`", files.join("\n  "));
    Ok(Report::new(text, json!({"files": files})))
}
