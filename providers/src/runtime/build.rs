//! From a registry entry and what its factory returns to a `domain::Tool`.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use domain::{
    Annotations, CallContext, Origin, Schema, Tool, ToolError, ToolKind, ToolOutput, ToolSpec, Violation,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value};

use super::{Checked, Param, ParamProblem, Text, check};
use crate::contract::{CallTool, ToolDeps};

/// Why a factory did not build its tool.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The reference's `params` are not what the tool declares.
    #[error("{}", joined(.0))]
    InvalidParams(Vec<ParamProblem>),
    /// A fault of ours.
    #[error("the tool could not be built: {0}")]
    Internal(String),
}

impl BuildError {
    /// One parameter is wrong in a way that the registry's file cannot express.
    pub fn invalid_param(param: &str, message: impl Into<String>) -> Self {
        Self::InvalidParams(vec![ParamProblem { param: param.to_owned(), message: message.into() }])
    }
}

fn joined(problems: &[ParamProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Builds a tool from checked parameters: the factory behind a table entry.
pub type BuildFn = fn(Checked, &ToolDeps) -> Result<Arc<dyn Tool>, BuildError>;

/// One tool of the registry.
#[derive(Debug)]
pub struct ToolEntry {
    /// Its provider's id.
    pub provider: &'static str,
    /// Its id.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// What it does: in English for a model, in both languages for people.
    pub description: Text,
    /// What a call may do.
    pub annotations: Annotations,
    /// What an app's author sets.
    pub params: &'static [Param],
    /// What it is as a tool, made at first use.
    pub spec: LazySpec,
    /// Its factory.
    pub build: BuildFn,
}

impl ToolEntry {
    /// What it is as a tool. Made once: the schema and its validator are shared by all instances.
    pub fn spec(&'static self) -> &'static ToolSpec {
        self.spec.spec.get_or_init(|| ToolSpec {
            name: self.name.to_owned(),
            title: self.label.en_us.to_owned(),
            description: self.description.en_us.to_owned(),
            args_schema: Schema::new((self.spec.args_schema)()),
            output_schema: None,
            annotations: self.annotations,
            origin: Origin {
                kind: ToolKind::BuiltinTool,
                provider_name: self.provider.to_owned(),
                revision: 0,
            },
        })
    }

    /// Builds the tool with the values of a reference's `params`.
    ///
    /// # Errors
    /// When the values are not what the tool declares, or its factory refuses them.
    pub fn build(
        &'static self,
        values: &Map<String, Value>,
        deps: &ToolDeps,
    ) -> Result<Arc<dyn Tool>, BuildError> {
        let checked = check(self.params, values).map_err(BuildError::InvalidParams)?;
        (self.build)(checked, deps)
    }
}

/// What a tool is, made at first use from the type of its arguments.
#[derive(Debug)]
pub struct LazySpec {
    args_schema: fn() -> Value,
    spec: OnceLock<ToolSpec>,
}

impl LazySpec {
    /// For a tool with these arguments.
    pub const fn of<A: JsonSchema>() -> Self {
        Self { args_schema: args_schema::<A>, spec: OnceLock::new() }
    }
}

fn args_schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let settings = settings.with_transform(RecursiveTransform(drop_rust_formats));
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Value::Object(keywords) = &mut schema {
        // The names and comments of our own structs tell a model nothing.
        keywords.shift_remove("title");
        keywords.shift_remove("description");
        keywords.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// `uint16` and the like are names of our types, not formats that JSON Schema or a model provider knows.
fn drop_rust_formats(schema: &mut schemars::Schema) {
    let is_rust = |format: &str| {
        let digits = format.trim_start_matches("uint").trim_start_matches("int");
        matches!(format, "float" | "double")
            || (digits != format && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    if schema.get("format").and_then(Value::as_str).is_some_and(is_rust)
        && let Some(keywords) = schema.as_object_mut()
    {
        // Keeps the order of the rest.
        keywords.shift_remove("format");
    }
}

/// A tool with typed arguments as a tool with JSON arguments.
pub fn erase<T: CallTool>(entry: &'static ToolEntry, tool: T) -> Arc<dyn Tool> {
    Arc::new(Built { spec: entry.spec(), tool })
}

struct Built<T> {
    spec: &'static ToolSpec,
    tool: T,
}

#[async_trait]
impl<T: CallTool> Tool for Built<T> {
    fn spec(&self) -> &ToolSpec {
        self.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        if !args.is_object() {
            // Else an array would fill a struct field by field.
            let violation =
                Violation { path: String::new(), message: "the arguments must be an object".to_owned() };
            return Err(ToolError::InvalidArgs { violations: vec![violation] });
        }
        let args = serde_path_to_error::deserialize(args).map_err(|error| mismatch(&error))?;
        self.tool.call(args, cx).await
    }
}

/// Arguments that the schema let pass and the type does not take.
fn mismatch(error: &serde_path_to_error::Error<serde_json::Error>) -> ToolError {
    use serde_path_to_error::Segment;
    let pointer = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    let path = error.path().iter().map(pointer).collect();
    ToolError::InvalidArgs { violations: vec![Violation { path, message: error.inner().to_string() }] }
}
