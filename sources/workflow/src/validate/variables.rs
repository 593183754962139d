//! Variables by themselves: names, types, literals, schemas.

use crate::{
    graph::{Node, VarType, VarValue, Variable, describe},
    problem::{GraphCode, GraphProblem},
};
use domain::Schema;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The most variables of one list.
const MAX_VARIABLES: usize = 200;

/// Checks the variables a node takes and declares.
pub(super) fn check(node: &Node, problems: &mut Vec<GraphProblem>) {
    let (field, inputs) = node.kind.inputs();
    check_list(node, field, inputs, true, problems);
    let (field, declared) = node.kind.declared();
    check_list(node, field, declared, false, problems);
}

fn check_list(
    node: &Node,
    list: &str,
    variables: &[Variable],
    takes: bool,
    problems: &mut Vec<GraphProblem>,
) {
    if variables.len() > MAX_VARIABLES {
        let message = format!("{} variables are too many: at most {MAX_VARIABLES}", variables.len());
        problems.push(GraphProblem::of(GraphCode::GraphTooLarge, message).node(&node.id).field(list));
        return;
    }
    let mut seen = HashSet::new();
    for variable in variables {
        let field = format!("{list}.{}", variable.name);
        let mut problem = |code, field: &str, message: String| {
            problems.push(GraphProblem::of(code, message).node(&node.id).field(field));
        };
        if !is_variable_name(&variable.name) {
            let message = "a name begins with a letter or `_` and has up to 64 letters, digits, `_` or `-`";
            problem(GraphCode::VariableName, &field, message.into());
        }
        if !seen.insert(&variable.name) {
            let message = format!("there is more than one `{}`", variable.name);
            problem(GraphCode::VariableDuplicate, &field, message);
        }
        if let Some(message) = schema_fault(variable) {
            problem(GraphCode::VariableSchema, &field, message);
        }
        if let Some((code, message)) = value_fault(variable, takes) {
            problem(code, &format!("{field}.value"), message);
        }
    }
}

fn value_fault(variable: &Variable, takes: bool) -> Option<(GraphCode, String)> {
    match &variable.value {
        VarValue::Literal { content: Value::Null } if variable.required && takes => {
            Some((GraphCode::ValueMissing, format!("`{}` is required and has no value", variable.name)))
        }
        VarValue::Literal { content } => {
            let fault = literal_fault(variable.kind, content)?;
            Some((
                GraphCode::LiteralType,
                format!("`{}` is of type {}, its literal is {fault}", variable.name, variable.kind),
            ))
        }
        VarValue::Generated if variable.required && takes => Some((
            GraphCode::ValueMissing,
            format!("`{}` is required: give it a literal, or refer to an output", variable.name),
        )),
        VarValue::Ref { .. } if !takes => Some((
            GraphCode::RefNotAncestor,
            format!("`{}` cannot refer to an output: the node or its caller makes it", variable.name),
        )),
        _ => None,
    }
}

/// What a literal is instead of being of the type.
pub(super) fn literal_fault(kind: VarType, literal: &Value) -> Option<&'static str> {
    match (kind, literal) {
        (_, Value::Null) | (VarType::String, Value::String(_)) => None,
        (VarType::String, other) => Some(describe(other)),
        _ => kind.coerce(literal.clone()).err(),
    }
}

fn schema_fault(variable: &Variable) -> Option<String> {
    let misfit = variable.allowed.iter().find_map(|value| literal_fault(variable.kind, value));
    if let Some(fault) = misfit {
        return Some(format!("`enum` has {fault} where the type is {}", variable.kind));
    }
    let inside = variable.schema.as_ref()?;
    if !matches!(variable.kind, VarType::Object | VarType::Array) {
        return Some("`schema` describes the inside of an object or an array; remove it".into());
    }
    let wanted = if variable.kind == VarType::Array { "array" } else { "object" };
    if inside.get("type").is_some_and(|kind| *kind != json!(wanted)) {
        return Some(format!("the schema's `type` must be `{wanted}`, or be left out"));
    }
    Schema::new(Value::Object(inside.clone())).check().err().map(|error| error.to_string())
}

fn is_variable_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
