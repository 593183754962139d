//! What is stored of a dataset and its documents, and what may be told of them.

use domain::{ports::Sealed, secret::MASK};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What is in it, for a model that may search it.
    pub description: String,
    /// The service that keeps it; none where it is kept here.
    #[serde(default)]
    pub external: Option<External>,
    /// Counts the changes of its documents.
    pub revision: u64,
    /// How many documents it has.
    pub documents: u64,
    /// How many passages they have together.
    pub passages: u64,
    /// How many bytes of text they have together.
    pub bytes: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A knowledge service elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct External {
    /// Its address, before `/retrieval`.
    pub endpoint: String,
    /// Its own id of the knowledge.
    pub knowledge_id: String,
    /// Its key, sealed.
    #[serde(default)]
    pub api_key: Option<Sealed>,
}

/// A document of a dataset that is kept here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Document {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How many bytes of text it has.
    pub bytes: u64,
    /// How many passages it was split into.
    pub passages: u64,
    /// When it was added.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
}

/// A dataset as it is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewDataset {
    /// Its name.
    pub name: String,
    /// What is in it, for a model that may search it.
    #[serde(default)]
    pub description: String,
    /// The service that keeps it; left out where documents are added here.
    #[serde(default)]
    pub external: Option<NewExternal>,
}

/// A knowledge service elsewhere, as it is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewExternal {
    /// Its address, before `/retrieval`.
    pub endpoint: String,
    /// Its own id of the knowledge.
    pub knowledge_id: String,
    /// Its key. A masked one keeps what is stored.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub api_key: Option<secrecy::SecretString>,
}

/// A dataset as it is told.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DatasetView {
    id: String,
    name: String,
    description: String,
    /// The service that keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    external: Option<ExternalView>,
    /// How many documents it has.
    documents: u64,
    /// How many passages they have together.
    passages: u64,
    /// How many bytes of text they have together.
    bytes: u64,
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    created_at: Timestamp,
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    updated_at: Timestamp,
}

/// A knowledge service as it is told.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct ExternalView {
    endpoint: String,
    knowledge_id: String,
    /// Masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<&'static str>,
}

impl From<Dataset> for DatasetView {
    fn from(dataset: Dataset) -> Self {
        let external = dataset.external.map(|service| ExternalView {
            endpoint: service.endpoint,
            knowledge_id: service.knowledge_id,
            api_key: service.api_key.map(|_| MASK),
        });
        Self {
            id: dataset.id,
            name: dataset.name,
            description: dataset.description,
            external,
            documents: dataset.documents,
            passages: dataset.passages,
            bytes: dataset.bytes,
            created_at: dataset.created_at,
            updated_at: dataset.updated_at,
        }
    }
}
