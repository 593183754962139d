//! What each dialect accepts, as data. The sources are in decision 5.

/// How references are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    /// As `#/$defs/NAME`; recursion is kept.
    Kept,
    /// Not at all: what they point to stands in their place, and recursion is cut.
    Inlined,
}

/// How the null of a nullable schema is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nulls {
    /// `"type": ["string", "null"]` where that is possible, else an `anyOf` with null.
    TypeList,
    /// An `anyOf` with null, and only where the property may not be left out instead.
    AnyOf,
    /// `"nullable": true`.
    Keyword,
}

/// What stands for a schema that allows any JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anything {
    /// `{}`.
    Empty,
    /// One of the scalar types, as a list of types.
    Scalars,
    /// An `anyOf` of all types but null.
    Alternatives,
    /// An `anyOf` of the scalar types but null.
    ScalarAlternatives,
}

/// What a dialect accepts.
#[derive(Debug)]
pub(super) struct Rules {
    /// Nested schemas are passed on as they are, once they are correct.
    pub(super) lenient: bool,
    pub(super) references: References,
    pub(super) nulls: Nulls,
    pub(super) anything: Anything,
    /// Several scalar types may stand in one list.
    pub(super) type_lists: bool,
    /// Every object is closed and everything in it required.
    pub(super) closed: bool,
    /// An object may be closed.
    pub(super) may_close: bool,
    /// Objects that are not closed may say what else they hold.
    pub(super) additional_schemas: bool,
    /// An object must name its properties; one that cannot is asked for as JSON text.
    pub(super) free_form_as_text: bool,
    /// Enumerations hold texts only.
    pub(super) text_enums: bool,
    /// An `anyOf` stands alone in its schema.
    pub(super) bare_any_of: bool,
    /// The top level has `type`, `properties` and `required`, and nothing else.
    pub(super) bare_root: bool,
    /// Property names are of letters, digits, `_`, `.` and `-`, at most 64.
    pub(super) plain_names: bool,
    /// Keywords without schemas that may be used.
    pub(super) keywords: &'static [&'static str],
    /// Patterns may not look around or back.
    pub(super) regular_patterns: bool,
    /// Formats that may be used; all when absent.
    pub(super) formats: Option<&'static [&'static str]>,
    /// Most objects inside each other.
    pub(super) object_depth: usize,
    /// Most properties and enumerated values in all, and most bytes of names and values.
    pub(super) totals: Option<Totals>,
}

/// Limits over a whole schema.
#[derive(Debug)]
pub(super) struct Totals {
    pub(super) properties: usize,
    pub(super) enum_values: usize,
    pub(super) text_bytes: usize,
}

/// Every keyword without schemas that says something about values or to readers.
const ALL_KEYWORDS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "contentEncoding",
    "contentMediaType",
];

const LENIENT: Rules = Rules {
    lenient: true,
    references: References::Kept,
    nulls: Nulls::TypeList,
    anything: Anything::Empty,
    type_lists: true,
    closed: false,
    may_close: true,
    additional_schemas: true,
    free_form_as_text: false,
    text_enums: false,
    bare_any_of: false,
    bare_root: false,
    plain_names: false,
    keywords: ALL_KEYWORDS,
    regular_patterns: false,
    formats: None,
    object_depth: 32,
    totals: None,
};

pub(super) const OPENAI: Rules = LENIENT;

pub(super) const ANTHROPIC: Rules = Rules { plain_names: true, ..LENIENT };

pub(super) const BEDROCK: Rules =
    Rules { lenient: false, references: References::Inlined, bare_root: true, plain_names: true, ..LENIENT };

pub(super) const OPENAI_STRICT: Rules = Rules {
    lenient: false,
    anything: Anything::Scalars,
    closed: true,
    free_form_as_text: true,
    keywords: &[
        "title",
        "description",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ],
    regular_patterns: true,
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    object_depth: 10,
    totals: Some(Totals { properties: 5000, enum_values: 1000, text_bytes: 120_000 }),
    ..LENIENT
};

pub(super) const GEMINI: Rules = Rules {
    lenient: false,
    references: References::Inlined,
    nulls: Nulls::Keyword,
    anything: Anything::ScalarAlternatives,
    type_lists: false,
    may_close: false,
    additional_schemas: false,
    free_form_as_text: true,
    text_enums: true,
    bare_any_of: true,
    keywords: &[
        "title",
        "description",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ],
    regular_patterns: true,
    formats: Some(&["date-time"]),
    ..LENIENT
};

pub(super) const QWEN: Rules = Rules {
    lenient: false,
    references: References::Inlined,
    nulls: Nulls::AnyOf,
    anything: Anything::Alternatives,
    type_lists: false,
    additional_schemas: false,
    ..LENIENT
};

pub(super) const MOONSHOT: Rules = Rules { references: References::Kept, ..QWEN };
