//! A document's text, from wherever it is, and its compiled form.

use super::{ApiTools, DocumentText, ServiceError};
use crate::{
    compile::{Compiled, MAX_DOCUMENT_BYTES, Options, Selection, compile},
    execute::decode_text,
};
use domain::{AccountId, ports::upload_key};
use http::{HeaderValue, header};
use std::time::Duration;
use url::Url;

/// How long fetching a document may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// What is asked for.
const ACCEPT: &str = "application/json, application/yaml, text/yaml, application/vnd.oai.openapi, */*;q=0.5";

/// Where a document is.
pub(super) enum Place {
    Inline(DocumentText),
    Url(String),
    Upload(String),
}

/// A document's text and where it came from.
pub(super) struct Loaded {
    pub(super) text: String,
    pub(super) url: Option<String>,
}

impl Place {
    /// The one place that is given; none where none is.
    pub(super) fn of(
        inline: Option<DocumentText>,
        url: Option<String>,
        upload_id: Option<String>,
    ) -> Result<Option<Self>, ServiceError> {
        let places = [inline.map(Self::Inline), url.map(Self::Url), upload_id.map(Self::Upload)];
        let mut given = places.into_iter().flatten();
        let first = given.next();
        if given.next().is_some() {
            return Err(ServiceError::invalid(
                "",
                "send only one of `openapi_schema`, `url` and `upload_id`",
            ));
        }
        Ok(first)
    }

    /// The error for a request that names no place.
    pub(super) fn needed() -> ServiceError {
        ServiceError::invalid("", "send the document as `openapi_schema`, `url` or `upload_id`")
    }
}

impl ApiTools {
    pub(super) async fn load(&self, account: &AccountId, place: Place) -> Result<Loaded, ServiceError> {
        match place {
            Place::Inline(text) => Ok(Loaded { text: text.into_text(), url: None }),
            Place::Url(url) => self.fetch(&url).await,
            Place::Upload(id) => {
                let key = upload_key(account, &id)
                    .ok_or_else(|| ServiceError::invalid("/upload_id", "is not an upload's id"))?;
                let blob = self.blobs.get(&key, MAX_DOCUMENT_BYTES as u64).await?;
                Ok(Loaded { text: String::from_utf8_lossy(&blob.bytes).into_owned(), url: None })
            }
        }
    }

    async fn fetch(&self, address: &str) -> Result<Loaded, ServiceError> {
        let url = Url::parse(address.trim())
            .map_err(|error| ServiceError::invalid("/url", format!("is not an address: {error}")))?;
        let response = self
            .client
            .get(url.clone())
            .header(header::ACCEPT, HeaderValue::from_static(ACCEPT))
            .timeout(FETCH_TIMEOUT)
            .max_response_bytes(MAX_DOCUMENT_BYTES as u64)
            .send()
            .await?;
        let not_a_document =
            |reason: String| ServiceError::NotADocument { url: egress::safe_url(&url), reason };
        if !response.status().is_success() {
            return Err(not_a_document(format!("answered with status {}", response.status())));
        }
        let content_type = response
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        if content_type.to_ascii_lowercase().starts_with("text/html") {
            let reason = "is a web page: give the address of the document itself (often `…/openapi.json`)";
            return Err(not_a_document(reason.into()));
        }
        let landed = response.url().clone();
        let bytes = response.bytes().await?;
        let text = decode_text(&content_type, &bytes);
        Ok(Loaded { text, url: Some(without_secrets(landed)) })
    }

    /// Compiles off the threads that serve requests: a large document takes most of a second.
    pub(super) async fn compiled(&self, text: &str, select: Option<&str>) -> Result<Compiled, ServiceError> {
        let select: Selection = select.unwrap_or_default().parse()?;
        let text = text.to_owned();
        let compiling = tokio::task::spawn_blocking(move || compile(&text, &Options { select }));
        let compiled = compiling.await.map_err(|error| {
            ServiceError::Internal(format!("compiling the document did not end: {error}"))
        })?;
        Ok(compiled?)
    }
}

/// The address as it is kept: relative servers are seen from it, and its user and query may be secrets.
fn without_secrets(mut url: Url) -> String {
    url.set_query(None);
    url.set_fragment(None);
    // Neither can fail for an address that was requested.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
