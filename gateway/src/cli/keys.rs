//! `haft keys`.

use super::{
    args::KeysCommand,
    client::{Api, segment},
    failure::Failure,
    screen::{Report, field, table},
};
use domain::Role;
use serde_json::{Value, json};

pub(crate) async fn run(api: &Api, command: KeysCommand) -> Result<Report, Failure> {
    match command {
        KeysCommand::List => list(api).await,
        KeysCommand::Create { name, role, expires } => {
            let body = json!({"name": name, "role": Role::from(role), "expires_at": expires});
            let key = api.post("/keys", &body).await?;
            let text = format!("{}\nkeep it now: it is not shown again", field(&key, "key"));
            Ok(Report::new(text, key))
        }
        KeysCommand::Revoke { id } => {
            api.delete(&format!("/keys/{}", segment(&id))).await?;
            Ok(Report::new(format!("revoked {id}"), json!({"revoked": id})))
        }
    }
}

async fn list(api: &Api) -> Result<Report, Failure> {
    let items = api.list("/keys").await?;
    let row = |key: &Value| ["id", "role", "name", "created_at", "expires_at"].map(|name| field(key, name));
    let text =
        table(["ID", "ROLE", "NAME", "CREATED", "EXPIRES"], items.iter().map(row).collect(), "no keys");
    Ok(Report::new(text, json!({"items": items, "next_cursor": null})))
}
