//! `variable_aggregation`: one value from branches of which not all may have run.

use super::outputs;
use crate::graph::kinds::{Gather, VariableAggregation};
use serde_json::{Map, Value};

/// What there is of the inputs, made one. `inputs` holds only those that have a value.
pub(crate) fn gather(node: &VariableAggregation, inputs: &Map<String, Value>) -> Map<String, Value> {
    let mut there = node.inputs.iter().filter_map(|v| inputs.get(&v.name).map(|value| (&v.name, value)));
    let output = match node.mode {
        Gather::First => there.next().map_or(Value::Null, |(_, value)| value.clone()),
        Gather::List => there.map(|(_, value)| value.clone()).collect(),
        Gather::Object => Value::Object(there.map(|(name, value)| (name.clone(), value.clone())).collect()),
    };
    outputs([("output", output)])
}
