//! A registry after all checks: what is emitted. Plain data.

use crate::source::At;

/// Everything a registry folder says.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    pub(crate) categories: Vec<Category>,
    pub(crate) providers: Vec<Provider>,
}

/// One kind of provider, as shown in a shop window.
#[derive(Debug)]
pub(crate) struct Category {
    pub(crate) name: At<String>,
    pub(crate) label: Localized,
    /// Relative to the registry.
    pub(crate) icon: String,
}

/// A text for people, in the languages of the registry.
#[derive(Debug, Clone)]
pub(crate) struct Localized {
    pub(crate) en_us: String,
    pub(crate) zh_hans: String,
}

/// One provider with its tools, in the order of its positions.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) name: At<String>,
    pub(crate) label: Localized,
    pub(crate) description: Localized,
    pub(crate) icon: Icon,
    pub(crate) background: String,
    pub(crate) category: String,
    pub(crate) available: bool,
    pub(crate) credentials: Vec<Param>,
    /// Whether the folder has code that its tools share.
    pub(crate) shared: bool,
    pub(crate) tools: Vec<Tool>,
}

/// An icon file.
#[derive(Debug)]
pub(crate) struct Icon {
    /// Relative to the registry.
    pub(crate) path: String,
    pub(crate) media_type: &'static str,
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) label: Localized,
    pub(crate) description: Localized,
    pub(crate) annotations: Annotations,
    pub(crate) params: Vec<Param>,
}

/// What a call may do to the world.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "the four hints of the Model Context Protocol")]
pub(crate) struct Annotations {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

/// A parameter that an app's author sets.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: At<String>,
    pub(crate) label: Localized,
    pub(crate) help: Option<Localized>,
    pub(crate) required: bool,
    pub(crate) kind: ParamKind,
}

/// The type of a parameter with what belongs to it.
#[derive(Debug)]
pub(crate) enum ParamKind {
    String { default: Option<String> },
    Number { default: Option<f64>, min: Option<f64>, max: Option<f64> },
    Integer { default: Option<i64>, min: Option<i64>, max: Option<i64> },
    Boolean { default: Option<bool> },
    Select { default: Option<String>, options: Vec<Choice> },
    Password,
}

impl ParamKind {
    pub(crate) fn has_default(&self) -> bool {
        match self {
            Self::String { default } | Self::Select { default, .. } => default.is_some(),
            Self::Number { default, .. } => default.is_some(),
            Self::Integer { default, .. } => default.is_some(),
            Self::Boolean { default } => default.is_some(),
            Self::Password => false,
        }
    }
}

/// One option of a select parameter.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) variant: String,
    pub(crate) label: Localized,
}
