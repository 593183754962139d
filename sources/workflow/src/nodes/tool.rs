//! `tool`: a call through the one road of all calls.

use super::{NodeError, outputs};
use crate::deps::LateAssembler;
use domain::{
    AccountContext, CallContext, Content, Entry, ProblemCode, ToolOutput, ToolRef, Toolset, Unresolved,
    ports::Assembly,
};
use serde_json::{Map, Value, json};

/// The tools of a run, assembled together.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    set: Option<Toolset>,
    /// For each reference its name in the set, or why it has none.
    names: Vec<Result<String, Unresolved>>,
}

impl Tools {
    /// Assembles the references, all different, in one go.
    pub(crate) async fn assemble(
        assembler: &LateAssembler,
        refs: &[ToolRef],
        cx: &CallContext,
    ) -> Result<Self, NodeError> {
        if refs.is_empty() {
            return Ok(Self::default());
        }
        let Some(assembler) = assembler.get() else {
            return Err(NodeError::new("internal", "no assembler is bound; tools cannot be called"));
        };
        let account = AccountContext::new(cx.account.clone());
        let set = assembler.assemble(Assembly::of(refs.to_vec()), &account).await;
        let names = names_of(&set, refs);
        Ok(Self { set: Some(set), names })
    }

    /// Calls the tool of a reference, by its place in the list.
    pub(crate) async fn call(
        &self,
        slot: usize,
        args: Map<String, Value>,
        cx: &CallContext,
    ) -> Result<Map<String, Value>, NodeError> {
        let (Some(set), Some(name)) = (&self.set, self.names.get(slot)) else {
            return Err(NodeError::new("internal", "the tool was not assembled"));
        };
        let name = name.as_ref().map_err(|unresolved| NodeError {
            code: unresolved.code.as_str().into(),
            message: unresolved.message.clone(),
            may_pass: false,
        })?;
        let cx = CallContext { entry: Entry::Workflow, depth: cx.depth.saturating_add(1), ..cx.clone() };
        let output = set.invoke(name, Value::Object(args), &cx).await?;
        values_of(output)
    }
}

/// The name in the set, or the problem, of each reference. The set keeps the references' order.
pub(crate) fn names_of(set: &Toolset, refs: &[ToolRef]) -> Vec<Result<String, Unresolved>> {
    let mut entries = set.entries().iter().peekable();
    let name = |(index, reference): (usize, &ToolRef)| match entries
        .next_if(|entry| entry.reference == *reference)
    {
        Some(entry) => Ok(entry.name.clone()),
        None => Err(set.problems().iter().find(|p| p.index == index).map_or_else(
            || Unresolved::new(ProblemCode::ToolNotFound, format!("`{reference}` was not assembled")),
            |problem| Unresolved::new(problem.code, problem.message.clone()),
        )),
    };
    refs.iter().enumerate().map(name).collect()
}

/// What a node gives of a tool's result: its `text`, what is `structured`, and its `files`.
fn values_of(output: ToolOutput) -> Result<Map<String, Value>, NodeError> {
    let text = output.text();
    if output.is_error {
        return Err(NodeError::passing(
            "tool_error",
            if text.is_empty() { "the tool failed".into() } else { text },
        ));
    }
    let files: Vec<Value> = output.content.iter().filter_map(file_of).collect();
    let structured = output.structured.unwrap_or(Value::Null);
    Ok(outputs([("text", text.into()), ("structured", structured), ("files", files.into())]))
}

fn file_of(content: &Content) -> Option<Value> {
    let embedded = |data: &str, mime_type: &str, name: &str| json!({"uri": format!("data:{mime_type};base64,{data}"), "name": name, "mime_type": mime_type});
    match content {
        Content::Image { data, mime_type, .. } => Some(embedded(data, mime_type, "image")),
        Content::Audio { data, mime_type, .. } => Some(embedded(data, mime_type, "audio")),
        Content::ResourceLink { uri, name, extra } => {
            let mime_type = extra.get("mimeType").cloned().unwrap_or_default();
            Some(json!({"uri": uri, "name": name, "mime_type": mime_type}))
        }
        Content::Resource { resource, .. } => {
            let field = |name: &str| resource.get(name).and_then(Value::as_str);
            let mime_type = field("mimeType").unwrap_or("application/octet-stream");
            let name = field("uri").unwrap_or("resource");
            field("blob").map(|blob| embedded(blob, mime_type, name))
        }
        Content::Text { .. } | Content::Unknown(_) => None,
    }
}

/// What is wrong with a call that gives these arguments, as far as the tool's schema speaks of names: the
/// argument and a sentence.
pub(crate) fn argument_faults(schema: &Value, given: &[&str]) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for name in given.iter().filter(|name| closed && !known.contains(name)) {
        let message = format!("the tool does not take `{name}`; it takes: {}", known.join(", "));
        faults.push(((*name).to_owned(), message));
    }
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str).filter(|name| !given.contains(name)) {
        faults.push((name.to_owned(), format!("the tool needs `{name}`")));
    }
    faults
}
