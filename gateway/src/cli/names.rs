//! Readable names -> ids.

use super::{
    client::{Api, segment},
    failure::Failure,
};
use domain::{ToolKind, ToolRef};
use serde_json::Value;

/// The reference of `KIND/PROVIDER/TOOL`, where the provider may be given by its name.
pub(crate) async fn reference(api: &Api, target: &str) -> Result<ToolRef, Failure> {
    let mut parts = target.splitn(3, '/');
    let (Some(kind), Some(provider), Some(tool)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Failure::new(format!("`{target}` is not of the form KIND/PROVIDER/TOOL"))
            .hint("such as builtin_tool/time/current_time; `haft tools` lists what there is"));
    };
    let kind: ToolKind =
        kind.parse().map_err(|e: domain::reference::UnknownKind| Failure::new(e.to_string()))?;
    let provider = match kind {
        ToolKind::ApiTool => id(api, "/api-tools", provider).await?,
        ToolKind::McpTool => id(api, "/mcp-servers", provider).await?,
        ToolKind::BuiltinTool | ToolKind::WorkflowTool => provider.to_owned(),
    };
    Ok(ToolRef::new(kind, provider, tool))
}

/// The id of what has this name or id in a list; what is not there is left for the server to refuse.
pub(crate) async fn id(api: &Api, list: &str, name: &str) -> Result<String, Failure> {
    let items = api.list(list).await?;
    let has = |key: &'static str| move |item: &&Value| item.get(key).and_then(Value::as_str) == Some(name);
    let found = items.iter().find(has("id")).or_else(|| items.iter().find(has("name")));
    let id = found.and_then(|item| item.get("id")).and_then(Value::as_str);
    Ok(id.unwrap_or(name).to_owned())
}

/// The path of one item of a list, by name or id.
pub(crate) async fn path(api: &Api, list: &str, name: &str) -> Result<String, Failure> {
    Ok(format!("{list}/{}", segment(&id(api, list, name).await?)))
}
