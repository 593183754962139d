//! The stable codes of reports, and how much each weighs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why an operation is not a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// It is not written as an operation (or its path not as a path item).
    Malformed,
    /// It needs a reference to another file or address, which is never followed.
    ExternalRef,
    /// It needs a reference to something that is not in the document.
    DanglingRef,
    /// It needs a reference that leads back to itself and nowhere else.
    CircularRef,
    /// A required parameter is not described well enough to send it.
    Parameter,
    /// The path cannot be split into an address.
    Path,
    /// Its schema is larger or deeper than a tool's may be.
    SchemaTooLarge,
    /// The document's own budget of nodes, bytes or operations was used up before it.
    DocumentTooLarge,
    /// The narrow protocol knows only get and post.
    Method,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// A part of a schema was cut off, because the whole would be too large or too deep.
    SchemaCut,
    /// A parameter could not be taken.
    ParameterDropped,
    /// A body could not be taken.
    BodyDropped,
    /// An optional part refers to something that is not in the document, or in another one.
    UnresolvedPart,
    /// A header, cookie or key that a model may not fill must come from the provider's headers or credentials.
    Withheld,
    /// The document names no usable server.
    NoServer,
    /// The document names several servers.
    SeveralServers,
    /// A security requirement names a scheme that is not there, or one that is not supported.
    Security,
    /// An operationId is missing, empty or used twice: the name was made up.
    MadeUpName,
    /// A placeholder of the path is not declared as a parameter, or a path parameter has no placeholder.
    Placeholder,
    /// Something was written in a way the specification does not allow, and was read as it must be meant.
    Repaired,
    /// A keyword of a schema was not usable and is ignored.
    KeywordIgnored,
    /// A pattern is not a regular expression that we can check.
    PatternDropped,
    /// The body is a text of another format (XML, …) that the model has to write itself.
    TextBody,
    /// Some providers refuse the name of a member.
    ProviderName,
    /// Some providers refuse recursion.
    ProviderRecursion,
    /// Some providers refuse so deep a schema.
    ProviderDepth,
    /// Shared parts of a schema go without descriptions, because the whole would be too large.
    DescriptionsDropped,
    /// The schema takes many tokens.
    ManyTokens,
    /// What the response looks like is not kept.
    ResponseSchema,
    /// A term of the selection fits no operation.
    SelectsNothing,
    /// There were more.
    More,
}

/// How much a warning weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something has to be given or decided by the user.
    Action,
    /// A part that a caller could have used is gone.
    Loss,
}

impl WarningCode {
    /// How much it weighs.
    pub const fn severity(self) -> Severity {
        match self {
            Self::SchemaCut | Self::ParameterDropped | Self::BodyDropped | Self::UnresolvedPart => {
                Severity::Loss
            }
            Self::Withheld
            | Self::NoServer
            | Self::SeveralServers
            | Self::Security
            | Self::SelectsNothing => Severity::Action,
            _ => Severity::Note,
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
