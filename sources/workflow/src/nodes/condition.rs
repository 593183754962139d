//! `condition`: which branch applies.

use super::NodeError;
use crate::graph::{
    describe,
    kinds::{Branch, Condition, ELSE_BRANCH, Logic, Operator, Test},
};
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// The name of the first branch whose tests hold, else `else`.
pub(crate) fn choose<'a>(node: &'a Condition, inputs: &Map<String, Value>) -> Result<&'a str, NodeError> {
    for branch in &node.branches {
        if applies(branch, inputs)? {
            return Ok(&branch.name);
        }
    }
    Ok(ELSE_BRANCH)
}

fn applies(branch: &Branch, inputs: &Map<String, Value>) -> Result<bool, NodeError> {
    let enough = branch.logic == Logic::Or;
    for test in &branch.tests {
        if holds(test, inputs)? == enough {
            return Ok(enough);
        }
    }
    Ok(!enough)
}

fn holds(test: &Test, inputs: &Map<String, Value>) -> Result<bool, NodeError> {
    let input = |name: &str| inputs.get(name).unwrap_or(&Value::Null);
    let left = input(&test.input);
    let right = test.other.as_deref().map_or(&test.value, input);
    let misfit = || {
        let message = format!(
            "`{}` is {}, which cannot be compared in this way with {}",
            test.input,
            describe(left),
            describe(right)
        );
        NodeError::new("condition_type", message)
    };
    let ordered = |fits: fn(Ordering) -> bool| compare(left, right).map(fits).ok_or_else(misfit);
    let texts = || left.as_str().zip(right.as_str()).ok_or_else(misfit);
    match test.operator {
        Operator::Eq => Ok(equal(left, right)),
        Operator::Ne => Ok(!equal(left, right)),
        Operator::Gt => ordered(Ordering::is_gt),
        Operator::Ge => ordered(Ordering::is_ge),
        Operator::Lt => ordered(Ordering::is_lt),
        Operator::Le => ordered(Ordering::is_le),
        Operator::Contains => contains(left, right).ok_or_else(misfit),
        Operator::NotContains => contains(left, right).map(|held| !held).ok_or_else(misfit),
        Operator::StartsWith => texts().map(|(left, right)| left.starts_with(right)),
        Operator::EndsWith => texts().map(|(left, right)| left.ends_with(right)),
        Operator::In => match right {
            Value::Array(_) => contains(right, left).ok_or_else(misfit),
            _ => Err(misfit()),
        },
        Operator::IsEmpty => Ok(is_empty(left)),
        Operator::IsNotEmpty => Ok(!is_empty(left)),
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => compare(left, right) == Some(Ordering::Equal),
        _ => left == right,
    }
}

fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        _ => None,
    }
}

fn contains(whole: &Value, part: &Value) -> Option<bool> {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => Some(whole.contains(part.as_str())),
        (Value::Array(items), part) => Some(items.iter().any(|item| equal(item, part))),
        (Value::Object(map), Value::String(key)) => Some(map.contains_key(key)),
        _ => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_operator_compares_what_it_can_and_refuses_the_rest() {
        let cases = [
            (json!(2), "eq", json!(2.0), Some(true)),
            (json!("2"), "eq", json!(2), Some(false)),
            (json!("2"), "ne", json!(2), Some(true)),
            (json!(3), "gt", json!(2), Some(true)),
            (json!(2), "ge", json!(2), Some(true)),
            (json!(1.5), "lt", json!(2), Some(true)),
            (json!("a"), "le", json!("b"), Some(true)),
            (json!("a"), "gt", json!(1), None),
            (json!(9_007_199_254_740_993_i64), "gt", json!(9_007_199_254_740_992_i64), Some(true)),
            (json!("hello"), "contains", json!("ell"), Some(true)),
            (json!([1, "x"]), "contains", json!(1.0), Some(true)),
            (json!({"k": 1}), "contains", json!("k"), Some(true)),
            (json!({"k": 1}), "not_contains", json!("j"), Some(true)),
            (json!(1), "contains", json!(1), None),
            (json!("hello"), "starts_with", json!("he"), Some(true)),
            (json!("hello"), "ends_with", json!("he"), Some(false)),
            (json!(1), "starts_with", json!("1"), None),
            (json!("x"), "in", json!(["x", "y"]), Some(true)),
            (json!("x"), "in", json!("xy"), None),
            (json!(""), "is_empty", json!(null), Some(true)),
            (json!(0), "is_empty", json!(null), Some(false)),
            (json!([1]), "is_not_empty", json!(null), Some(true)),
        ];
        for (left, operator, right, expected) in cases {
            let test: Test =
                serde_json::from_value(json!({"input": "l", "operator": operator, "value": right})).unwrap();
            let inputs = json!({"l": left});
            let found = holds(&test, inputs.as_object().unwrap()).ok();
            assert_eq!(found, expected, "{left} {operator} {right}");
        }
    }

    #[test]
    fn branches_are_tried_in_order_and_else_is_last() {
        let node: Condition = serde_json::from_value(json!({"branches": [
            {"name": "both", "tests": [{"input": "a", "operator": "gt", "value": 1},
                                       {"input": "b", "operator": "gt", "other": "a"}]},
            {"name": "either", "logic": "or", "tests": [{"input": "a", "operator": "eq", "value": 0},
                                                        {"input": "b", "operator": "eq", "value": 0}]}
        ]}))
        .unwrap();
        for (a, b, branch) in [(2, 3, "both"), (2, 0, "either"), (0, 5, "either"), (1, 1, "else")] {
            let inputs = json!({"a": a, "b": b});
            assert_eq!(choose(&node, inputs.as_object().unwrap()).unwrap(), branch, "{a} {b}");
        }
    }
}
