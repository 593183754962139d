//! What the registry's YAML files say, as constants.

use serde::Serialize;

use super::ToolEntry;

/// A text for people, in the languages of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Text {
    /// English.
    #[serde(rename = "en_US")]
    pub en_us: &'static str,
    /// Chinese, in simplified characters.
    #[serde(rename = "zh_Hans")]
    pub zh_hans: &'static str,
}

/// One kind of provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Category {
    /// The name that providers refer to.
    pub category: &'static str,
    /// The name that people read.
    pub name: Text,
    /// An SVG drawing, as text.
    pub icon: &'static str,
}

/// A picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Icon {
    /// Its bytes.
    pub bytes: &'static [u8],
    /// Its media type.
    pub media_type: &'static str,
}

/// Every provider by name, in the order of `providers.yaml`.
pub type Registry = phf::OrderedMap<&'static str, Provider>;

/// A provider and its tools.
#[derive(Debug)]
pub struct Provider {
    /// The id in references.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// What it offers.
    pub description: Text,
    /// Its picture.
    pub icon: Icon,
    /// The colour behind the picture, as `#RRGGBB`.
    pub background: &'static str,
    /// The name of its category.
    pub category: &'static str,
    /// False hides it, and refuses references to it.
    pub available: bool,
    /// What an account stores to use it.
    pub credentials: &'static [Param],
    /// Its tools by name, in the order of `positions.yaml`.
    pub tools: phf::OrderedMap<&'static str, &'static ToolEntry>,
}

/// Something that is set once, by an app's author or an operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    /// The key in `params`.
    pub name: &'static str,
    /// The name that people read.
    pub label: Text,
    /// More about it.
    pub help: Option<Text>,
    /// Whether it must be set.
    pub required: bool,
    /// What it can be.
    pub kind: ParamKind,
}

/// What a parameter can be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamKind {
    /// A text.
    String {
        /// The value when none is set.
        default: Option<&'static str>,
    },
    /// A number.
    Number {
        /// The value when none is set.
        default: Option<f64>,
        /// The least allowed.
        min: Option<f64>,
        /// The greatest allowed.
        max: Option<f64>,
    },
    /// A whole number.
    Integer {
        /// The value when none is set.
        default: Option<i64>,
        /// The least allowed.
        min: Option<i64>,
        /// The greatest allowed.
        max: Option<i64>,
    },
    /// Yes or no.
    Boolean {
        /// The value when none is set.
        default: Option<bool>,
    },
    /// One of several texts.
    Select {
        /// The value when none is set.
        default: Option<&'static str>,
        /// The texts.
        options: &'static [Choice],
    },
    /// A secret text: sealed when stored, masked when read.
    Password,
}

/// An option of a select parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Choice {
    /// What is stored.
    pub value: &'static str,
    /// What people read.
    pub label: Text,
}
