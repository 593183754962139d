//! `haft api`.

use super::{
    args::{ApiCommand, ImportApi},
    call,
    client::{Api, segment},
    failure::Failure,
    input, names,
    screen::{self, brief, field, table},
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use source_api::report::Report;
use std::path::Path;

const LIST: &str = "/api-tools";
/// A document larger than this goes through an upload, in bytes.
const INLINE_BYTES: usize = 4 * 1024 * 1024;

pub(crate) async fn run(api: &Api, command: ApiCommand) -> Result<screen::Report, Failure> {
    match command {
        ApiCommand::Check { file } => check(api, &file).await,
        ApiCommand::Import(args) => import(api, args).await,
        ApiCommand::List => list(api).await,
        ApiCommand::Show { name } => show(api, &name).await,
        ApiCommand::Delete { name } => {
            api.delete(&names::path(api, LIST, &name).await?).await?;
            Ok(screen::Report::new(format!("deleted {name}"), json!({"deleted": name})))
        }
        ApiCommand::Debug { name, tool, args } => {
            let path = names::path(api, LIST, &name).await?;
            let body = json!({"args": input::object("--args", &args)?});
            call::result(api.post(&format!("{path}/tools/{}/debug", segment(&tool)), &body).await?)
        }
    }
}

async fn check(api: &Api, file: &str) -> Result<screen::Report, Failure> {
    let body = json!({"openapi_schema": input::file(file)?});
    let spinner = screen::working(format!("reading {file}"));
    let answer = api.post("/api-tools/validate-openapi-schema", &body).await;
    spinner.finish_and_clear();
    let answer = answer?;
    let text = answer.get("report").map(told).unwrap_or_default();
    let mut report = screen::Report::new(text, answer);
    if report.value.get("valid") == Some(&Value::Bool(false)) {
        report.failed = Some("the document cannot be imported".to_owned());
    }
    Ok(report)
}

async fn import(api: &Api, args: ImportApi) -> Result<screen::Report, Failure> {
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.source));
    let mut body = Map::from_iter([("name".to_owned(), json!(name))]);
    let is_url = args.source.starts_with("http://") || args.source.starts_with("https://");
    let spinner = screen::working(format!("importing {}", args.source));
    if is_url {
        body.insert("url".to_owned(), json!(args.source));
    } else {
        let text = input::file(&args.source)?;
        if text.len() > INLINE_BYTES {
            body.insert("upload_id".to_owned(), json!(api.upload(text.into_bytes()).await?));
        } else {
            body.insert("openapi_schema".to_owned(), json!(text));
        }
    }
    if let Some(server) = &args.server {
        body.insert("server".to_owned(), json!(server));
    }
    if !args.select.is_empty() {
        body.insert("select".to_owned(), json!(args.select));
    }
    if !args.headers.is_empty() {
        let pairs = args.headers.iter().map(|h| input::pair(h, ':'));
        let pairs: Vec<_> = pairs.collect::<Result<_, _>>()?;
        let headers: Vec<_> = pairs.iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
        body.insert("headers".to_owned(), json!(headers));
    }
    let body = Value::Object(body);
    let id = if args.replace { names::id(api, LIST, &name).await? } else { name.clone() };
    let answer = if args.replace && id != name {
        api.put(&format!("{LIST}/{}", segment(&id)), &body).await
    } else {
        api.post(LIST, &body).await
    };
    spinner.finish_and_clear();
    let answer = answer?;
    let text = format!(
        "imported {} as {} (revision {}): {} tools\n{}",
        field(&answer, "name"),
        field(&answer, "id"),
        field(&answer, "revision"),
        field(&answer, "tools"),
        answer.get("report").map(told).unwrap_or_default()
    );
    Ok(screen::Report::new(text, answer))
}

async fn list(api: &Api) -> Result<screen::Report, Failure> {
    let items = api.list(LIST).await?;
    let row = |item: &Value| {
        let [name, id, tools, revision] = ["name", "id", "tools", "revision"].map(|n| field(item, n));
        [name, id, tools, revision, brief(&field(item, "description"))]
    };
    let header = ["NAME", "ID", "TOOLS", "REVISION", "DESCRIPTION"];
    let text = table(header, items.iter().map(row).collect(), "nothing imported: `haft api import FILE|URL`");
    Ok(screen::Report::new(text, json!({"items": items, "next_cursor": null})))
}

async fn show(api: &Api, name: &str) -> Result<screen::Report, Failure> {
    let path = names::path(api, LIST, name).await?;
    let items = api.list(&format!("{path}/tools")).await?;
    let row = |item: &Value| {
        let call = format!("{} {}", field(item, "method").to_uppercase(), field(item, "path"));
        [field(item, "name"), call, brief(&field(item, "description"))]
    };
    let text = table(["TOOL", "CALLS", "DESCRIPTION"], items.iter().map(row).collect(), "no tools");
    Ok(screen::Report::new(text, json!({"items": items, "next_cursor": null})))
}

/// A file's or address's own name, without what comes after its first dot.
fn name_of(source: &str) -> String {
    let last = Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or("api");
    let name = last.split('.').next().unwrap_or(last);
    let name: String = name.chars().take(30).collect();
    if name.is_empty() || name == "-" { "api".to_owned() } else { name }
}

/// What became of a document, operation by operation; the data itself where this version cannot read it.
fn told(report: &Value) -> String {
    match Report::deserialize(report) {
        Ok(report) => report.render(screen::width()),
        Err(_) => format!("{report:#}"),
    }
}
