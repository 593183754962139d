//! `POST /tools/assemble`: references in, what a model is told of their tools out.

use crate::AssemblyState;
use axum::{Json, extract::State};
use domain::{
    AccountContext, Annotations, Problem, ProblemCode, Schema, ToolRef, Toolset,
    dialect::{Dialect, Loss, project},
    ports::Assembly,
    toolset::ToolEntry,
};
use http_kit::{ApiError, JsonBody, Principal, Refusals};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most references of one assembly.
pub(crate) const MAX_REFS: usize = 1000;

/// What to assemble.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssembleBody {
    /// The references, in the order of the answer.
    #[schema(max_items = 1000)]
    refs: Vec<ToolRef>,
    /// The model provider whose idea of JSON Schema `args_schema` is put into; as it is where it is left out.
    dialect: Option<Dialect>,
}

/// A toolset as it is told.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Assembled {
    /// The tools, in the order of their references.
    tools: Vec<AssembledTool>,
    /// What could not be taken, by position in `refs`. The other tools are not affected.
    problems: Vec<Problem>,
}

/// A tool as a model is told of it.
#[derive(Debug, Serialize, ToSchema)]
struct AssembledTool {
    /// The name to call it by: unique in this set, and legal for every model provider.
    name: String,
    /// The reference it came from, secrets masked.
    #[serde(rename = "ref")]
    reference: ToolRef,
    /// A short name for people.
    title: String,
    /// What it does.
    description: String,
    /// What a caller fills in, as JSON Schema.
    #[schema(value_type = Object)]
    args_schema: Schema,
    /// What the schema in this dialect does not say; arguments are validated against the whole all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    losses: Vec<Loss>,
    /// What `structured` of the result looks like, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Schema>,
    /// How it behaves, by our own judgement.
    annotations: Annotations,
}

/// Assembles references. A reference that cannot be taken is named in `problems` and fails no other.
#[utoipa::path(post, path = "/tools/assemble", tag = "assembly", request_body = AssembleBody,
    responses((status = 200, description = "The toolset", body = Assembled), Refusals))]
pub(crate) async fn assemble(
    principal: Principal,
    State(state): State<AssemblyState>,
    JsonBody(body): JsonBody<AssembleBody>,
) -> Result<Json<Assembled>, ApiError> {
    check_count(&body.refs)?;
    let cx = AccountContext::new(principal.account);
    let refs = body.refs.clone();
    let toolset = state.assembler.assemble(Assembly::of(body.refs), &cx).await;
    Ok(Json(told(&toolset, &refs, body.dialect)))
}

/// Refuses more references than one assembly takes.
pub(crate) fn check_count(refs: &[ToolRef]) -> Result<(), ApiError> {
    if refs.len() > MAX_REFS {
        let message = format!("{} references are too many: at most {MAX_REFS}", refs.len());
        return Err(ApiError::invalid_body("/refs", message));
    }
    Ok(())
}

fn told(toolset: &Toolset, refs: &[ToolRef], dialect: Option<Dialect>) -> Assembled {
    let mut problems = toolset.problems().to_vec();
    let mut tools = Vec::with_capacity(toolset.entries().len());
    for entry in toolset.entries() {
        match tool(entry, dialect) {
            Ok(tool) => tools.push(tool),
            Err(message) => problems.push(Problem {
                index: refs.iter().position(|r| *r == entry.reference).unwrap_or_default(),
                reference: entry.reference.clone(),
                code: ProblemCode::NotExpressible,
                message,
            }),
        }
    }
    problems.sort_by_key(|problem| problem.index);
    for problem in &mut problems {
        problem.reference = providers::source::mask(&problem.reference);
    }
    Assembled { tools, problems }
}

fn tool(entry: &ToolEntry, dialect: Option<Dialect>) -> Result<AssembledTool, String> {
    let spec = entry.spec();
    let (args_schema, losses) = match dialect {
        None => (spec.args_schema.clone(), Vec::new()),
        Some(dialect) => {
            let projection = project(spec.args_schema.value(), dialect).map_err(|e| e.to_string())?;
            (Schema::new(projection.schema), projection.losses)
        }
    };
    Ok(AssembledTool {
        name: entry.name.clone(),
        reference: providers::source::mask(&entry.reference),
        title: spec.title.clone(),
        description: spec.description.clone(),
        args_schema,
        losses,
        output_schema: spec.output_schema.clone(),
        annotations: spec.annotations,
    })
}
