//! `haft credentials`.

use super::{
    args::CredentialsCommand,
    client::{Api, segment},
    failure::Failure,
    input,
    screen::{Report, field, table},
};
use serde_json::{Map, Value, json};

pub(crate) async fn run(api: &Api, command: CredentialsCommand) -> Result<Report, Failure> {
    match command {
        CredentialsCommand::List => list(api).await,
        CredentialsCommand::Set { provider, fields } => {
            let mut body = Map::new();
            for given in &fields {
                let (name, value) = input::pair(given, '=')?;
                body.insert(name, Value::String(value));
            }
            let path = format!("/credentials/{}", segment(&provider));
            let stored = api.put(&path, &Value::Object(body)).await?;
            Ok(Report::new(format!("stored for {provider}: {}", names_of(&stored)), stored))
        }
        CredentialsCommand::Delete { provider } => {
            api.delete(&format!("/credentials/{}", segment(&provider))).await?;
            Ok(Report::new(format!("forgotten: {provider}"), json!({"deleted": provider})))
        }
    }
}

async fn list(api: &Api) -> Result<Report, Failure> {
    let items = api.list("/credentials").await?;
    let row = |item: &Value| [field(item, "provider"), names_of(item), field(item, "updated_at")];
    let text = table(["PROVIDER", "FIELDS", "UPDATED"], items.iter().map(row).collect(), "none stored");
    Ok(Report::new(text, json!({"items": items, "next_cursor": null})))
}

fn names_of(item: &Value) -> String {
    let fields = item.get("fields").and_then(Value::as_object);
    let names: Vec<_> = fields.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    names.join(", ")
}
