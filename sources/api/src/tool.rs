//! An operation as a tool: opens its credentials, sends its request, reads the answer.

use crate::{
    credentials::{self, Choice, OpenedCredentials, Opener, StoredIn, TokenRequest, Tokens, choose},
    execute::{
        request::{Additions, Prepared, prepare},
        response,
        send::{Bounds, send},
    },
    normal::{ApiKeyIn, Location, Operation, SecurityScheme},
    record::{ProviderRecord, ToolOverride},
};
use async_trait::async_trait;
use domain::{
    AccountId, CallContext, Origin, Tool, ToolError, ToolKind, ToolOutput, ToolSpec,
    ports::{Cipher, Clock},
    secret::MASK,
};
use http::{HeaderName, HeaderValue, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::sync::Arc;

/// The shortest secret that is looked for in what a service says: shorter ones stand in any text.
const MIN_REDACTED: usize = 5;

/// What every call needs of the process.
pub(crate) struct Wire {
    pub(crate) client: egress::Client,
    pub(crate) cipher: Arc<dyn Cipher>,
    pub(crate) tokens: Tokens,
}

impl Wire {
    pub(crate) fn new(client: egress::Client, cipher: Arc<dyn Cipher>, clock: Arc<dyn Clock>) -> Self {
        Self { tokens: Tokens::new(client.clone(), clock), client, cipher }
    }
}

/// A provider as its calls need it.
pub(crate) struct Provider {
    pub(crate) id: String,
    pub(crate) account: AccountId,
    pub(crate) revision: u64,
    pub(crate) record: ProviderRecord,
}

/// An operation, ready to be called.
pub(crate) struct ApiTool {
    spec: ToolSpec,
    operation: Arc<Operation>,
    provider: Arc<Provider>,
    wire: Arc<Wire>,
    changes: ToolOverride,
}

impl ApiTool {
    pub(crate) fn new(operation: Arc<Operation>, provider: Arc<Provider>, wire: Arc<Wire>) -> Self {
        let changes = provider.record.override_of(&operation.name).cloned().unwrap_or_default();
        let kept = |changed: &Option<String>, own: &str| changed.clone().unwrap_or_else(|| own.to_owned());
        let spec = ToolSpec {
            name: kept(&changes.rename, &operation.name),
            title: kept(&changes.title, &operation.title),
            description: kept(&changes.description, &operation.description),
            args_schema: operation.args_schema.clone(),
            output_schema: operation.output_schema.clone(),
            annotations: operation.annotations,
            origin: Origin {
                kind: ToolKind::ApiTool,
                provider_name: provider.record.name.clone(),
                revision: provider.revision,
            },
        };
        Self { spec, operation, provider, wire, changes }
    }
}

#[async_trait]
impl Tool for ApiTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let timeout = self.changes.timeout().min(cx.remaining());
        let call = Call { tool: self, bounds: Bounds::new(timeout, self.changes.max_bytes()), args, cx };
        call.run().await
    }
}

struct Call<'a> {
    tool: &'a ApiTool,
    bounds: Bounds,
    args: Value,
    cx: &'a CallContext,
}

impl Call<'_> {
    async fn run(&self) -> Result<ToolOutput, ToolError> {
        let record = &self.tool.provider.record;
        let stored = StoredIn {
            api: &record.api,
            credentials: &record.credentials,
            headers: &record.headers,
            asks: record.asks_for_credentials,
        };
        let choice = choose(&self.tool.operation, stored);
        let opened = self.open(&choice, &[]).await?;
        let (prepared, response) = self.send(&opened).await?;
        if response.status() == StatusCode::UNAUTHORIZED && !opened.tokens.is_empty() {
            // The token was refused before anything was done: a new one, and the request once more.
            drop(response);
            let opened = self.open(&choice, &opened.tokens).await?;
            let (prepared, response) = self.send(&opened).await?;
            return self.read(&prepared, response, &choice, &opened.additions).await;
        }
        self.read(&prepared, response, &choice, &opened.additions).await
    }

    async fn open(
        &self,
        choice: &Choice<'_>,
        refused: &[(TokenRequest, SecretString)],
    ) -> Result<OpenedCredentials, ToolError> {
        let provider = &self.tool.provider;
        let base = self.base()?;
        let opener = Opener {
            account: &provider.account,
            provider: &provider.id,
            cipher: self.tool.wire.cipher.as_ref(),
            tokens: &self.tool.wire.tokens,
            base: &base,
            timeout: self.bounds.left(),
        };
        let mut opened = credentials::open(opener, &provider.record.headers, choice, refused).await?;
        opened.additions.guarded = guarded(&provider.record);
        Ok(opened)
    }

    fn base(&self) -> Result<url::Url, ToolError> {
        let base = self.tool.provider.record.base_of(&self.tool.operation);
        base.map_err(|reason| ToolError::Unreachable { reason })
    }

    async fn send(&self, opened: &OpenedCredentials) -> Result<(Prepared, egress::Response), ToolError> {
        static NO_ARGS: std::sync::LazyLock<serde_json::Map<String, Value>> =
            std::sync::LazyLock::new(serde_json::Map::new);
        let args = self.args.as_object().unwrap_or(&NO_ARGS);
        let mut prepared = prepare(&self.tool.operation, &self.base()?, args, &opened.additions).await?;
        if let Some(trace) = &self.cx.traceparent
            && let Ok(value) = HeaderValue::from_str(trace)
        {
            let name = HeaderName::from_static("traceparent");
            prepared.headers.entry(name).or_insert(value);
        }
        let response = send(&self.tool.wire.client, &prepared, self.bounds).await?;
        Ok((prepared, response))
    }

    async fn read(
        &self,
        prepared: &Prepared,
        response: egress::Response,
        choice: &Choice<'_>,
        additions: &Additions,
    ) -> Result<ToolOutput, ToolError> {
        let outcome = response::read(&prepared.method, response, self.bounds).await;
        outcome.map_err(|error| match (error, &choice.missing) {
            (
                ToolError::Upstream {
                    status: status @ (401 | 403),
                    ..
                },
                Some(missing),
            ) => ToolError::MissingCredential {
                what: format!(
                    "`{}` needs {missing}, which is not stored; the service answered with status {status}. \
                         Store it as a credential or header of the provider",
                    self.tool.operation.name
                ),
            },
            (ToolError::Upstream { status, body }, _) => ToolError::Upstream {
                status,
                body: redacted(body, additions),
            },
            (other, _) => other,
        })
    }
}

/// Names under which the API expects credentials: no argument may fill them.
fn guarded(record: &ProviderRecord) -> Vec<(Location, String)> {
    let declared = record.api.security_schemes.values().filter_map(|scheme| match scheme {
        SecurityScheme::ApiKey { name, location } => Some((*location, name.clone())),
        _ => None,
    });
    let stored = record.credentials.values().filter_map(|credential| match credential {
        credentials::StoredCredential::ApiKey { location, name, .. } => Some((*location, name.clone())),
        _ => None,
    });
    let place = |(location, name): (ApiKeyIn, String)| (credentials::location_of(location), name);
    declared.chain(stored).map(place).collect()
}

/// What a service says, without the secrets it was sent: some repeat them in their refusals.
fn redacted(mut text: String, additions: &Additions) -> String {
    let headers = additions.headers.iter().chain(&additions.credential_headers);
    let values = headers.map(|(_, value)| value);
    let pairs = additions.query.iter().chain(&additions.cookies);
    for secret in values.chain(pairs.map(|(_, value)| value)) {
        let secret = secret.expose_secret();
        let bare = secret.split_once(' ').map_or(secret, |(_, rest)| rest);
        for part in [secret, bare] {
            if part.len() >= MIN_REDACTED {
                text = text.replace(part, MASK);
            }
        }
    }
    text
}
