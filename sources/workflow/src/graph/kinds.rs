//! The fields of each node type.

use super::{Graph, Variable};
use domain::ToolRef;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The branch that a condition takes when none of its own applies.
pub const ELSE_BRANCH: &str = "else";
/// The branch a node takes when it fails and its policy says so.
pub const ERROR_BRANCH: &str = "error";

/// What the workflow is called with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The workflow's arguments.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}

/// What the workflow gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The workflow's results.
    #[serde(default)]
    pub outputs: Vec<Variable>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Which tool.
    pub tool: ToolRef,
    /// Its arguments, by name.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}

/// Which language model, and how it is set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// The model's id in the account.
    pub id: String,
    /// Parameters passed on to the provider.
    #[serde(default)]
    pub parameters: Map<String, Value>,
}

/// A turn of a language model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    /// Which model.
    #[serde(alias = "model_config")]
    pub model: ModelChoice,
    /// What is asked: a template over the inputs.
    pub prompt: String,
    /// Instructions: a template over the inputs.
    #[serde(default)]
    pub system_prompt: String,
    /// What the templates use.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}

/// A text made from a Jinja template.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateTransform {
    /// The template.
    pub template: String,
    /// What it uses.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}

/// The methods of an HTTP request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// GET.
    #[default]
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
    /// HEAD.
    Head,
    /// OPTIONS.
    Options,
}

/// How the inputs of type `body` are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyForm {
    /// As one JSON object.
    #[default]
    Json,
    /// As an urlencoded form.
    Form,
    /// The one input's text as it is.
    Raw,
}

/// An HTTP request through the egress guard. Each input's `meta.type` says where it goes: `params`,
/// `headers`, `body`, or `path` for a `{name}` in the address.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpRequest {
    /// The address.
    pub url: String,
    /// The method.
    #[serde(default)]
    pub method: Method,
    /// How a body is sent.
    #[serde(default)]
    pub body_type: BodyForm,
    /// What is sent.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}

/// The languages of code nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// JavaScript (ES2020 and later).
    #[default]
    Javascript,
}

/// A function in a sandbox: `function main(inputs) { return {…} }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// In which language.
    #[serde(default)]
    pub language: Language,
    /// The source.
    pub code: String,
    /// What `main` is called with.
    #[serde(default)]
    pub inputs: Vec<Variable>,
    /// What it returns.
    #[serde(default)]
    pub outputs: Vec<Variable>,
}

/// How the tests of a branch are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Logic {
    /// All must hold.
    #[default]
    And,
    /// One must hold.
    Or,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// Equal; numbers by value.
    Eq,
    /// Not equal.
    Ne,
    /// Greater: numbers, or texts by code point.
    Gt,
    /// Greater or equal.
    Ge,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// The text, list or object holds it.
    Contains,
    /// It does not.
    NotContains,
    /// The text begins with it.
    StartsWith,
    /// The text ends with it.
    EndsWith,
    /// It stands in the list on the right.
    In,
    /// Nothing, or an empty text, list or object.
    IsEmpty,
    /// Not that.
    IsNotEmpty,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The input on the left.
    pub input: String,
    /// How it is compared.
    pub operator: Operator,
    /// The value on the right.
    #[serde(default)]
    pub value: Value,
    /// Or the input on the right.
    #[serde(default)]
    pub other: Option<String>,
}

/// A branch of a condition: taken when its tests hold and no earlier branch's did.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Its name; edges carry it as their `condition`.
    pub name: String,
    /// How its tests are joined.
    #[serde(default)]
    pub logic: Logic,
    /// Its tests.
    pub tests: Vec<Test>,
}

/// A fork: the first branch that applies, else the branch `else`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// What the tests use.
    #[serde(default)]
    pub inputs: Vec<Variable>,
    /// The branches, in the order they are tried.
    pub branches: Vec<Branch>,
}

/// Something a person may want.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// Its name; edges carry it as their `condition`.
    pub name: String,
    /// When it applies.
    #[serde(default)]
    pub description: String,
}

/// A fork by a language model's judgement of a text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentClassifier {
    /// Which model.
    #[serde(alias = "model_config")]
    pub model: ModelChoice,
    /// What may be wanted.
    pub intents: Vec<Intent>,
    /// Exactly one: `query`, the text.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}

/// What happens when the run of one item fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnItemError {
    /// The iteration fails.
    #[default]
    Fail,
    /// The item is left out of `results` and named in `errors`.
    Skip,
}

/// A graph that runs once for each item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// `items`, the list, and whatever else the body takes by the same names.
    pub inputs: Vec<Variable>,
    /// How many items run side by side.
    pub parallelism: usize,
    /// What happens when an item fails.
    pub on_item_error: OnItemError,
    /// What runs: its start takes `item`, `index` and the other inputs.
    pub body: Graph,
}

/// An iteration as it is written; its body is parsed by itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IterationFields {
    #[serde(default)]
    pub(super) inputs: Vec<Variable>,
    #[serde(default = "one")]
    pub(super) parallelism: usize,
    #[serde(default)]
    pub(super) on_item_error: OnItemError,
    pub(super) body: Value,
}

const fn one() -> usize {
    1
}

/// How several values become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gather {
    /// The first that is there.
    #[default]
    First,
    /// All that are there, as a list.
    List,
    /// All that are there, by the names of the inputs.
    Object,
}

/// One value from several branches, of which not all may have run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableAggregation {
    /// The values.
    #[serde(default)]
    pub inputs: Vec<Variable>,
    /// How they become one.
    #[serde(default)]
    pub mode: Gather,
}

/// How many passages are taken.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalConfig {
    /// At most this many.
    #[serde(default = "four", alias = "k")]
    pub limit: usize,
    /// None that scores less.
    #[serde(default)]
    pub min_score: Option<f64>,
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self { limit: four(), min_score: None }
    }
}

const fn four() -> usize {
    4
}

/// A search in datasets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetRetrieval {
    /// In which, at most five.
    pub dataset_ids: Vec<String>,
    /// How much is taken.
    #[serde(default)]
    pub retrieval_config: RetrievalConfig,
    /// Exactly one: `query`, the text.
    #[serde(default)]
    pub inputs: Vec<Variable>,
}
