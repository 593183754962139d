//! `ApiSource`: references to imported operations become tools.
//!
//! One read of all heads, and one of the bodies that are not in the cache. A body never changes under its id,
//! so a warm resolve costs the heads alone, and a new revision is seen at once.

use crate::{
    normal::Operation,
    record::ProviderRecord,
    tool::{ApiTool, Provider, Wire},
};
use async_trait::async_trait;
use domain::{
    AccountContext, AccountId, ListPage, ListRequest, ProblemCode, Tool, ToolKind, ToolLister, ToolListing,
    ToolRef, ToolSource, Unresolved,
    catalog::{Catalog, CatalogError, Head},
    listing::list_catalog,
    ports::TableError,
};
use moka::sync::Cache;
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};

/// How much of compiled operations is kept, in bytes of their schemas.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// What an operation takes beside its schema, about.
const BASE_BYTES: usize = 2 * 1024;
/// How near a name must be to be worth a hint.
const NEAR: f64 = 0.75;
/// How many names a hint gives.
const MAX_HINTS: usize = 3;

/// Resolves references of kind `api_tool`: a provider's id and an operation's.
pub struct ApiSource {
    catalog: Catalog,
    wire: Arc<Wire>,
    /// By body id, which is never used twice, and name.
    operations: Cache<(String, String), Arc<Operation>>,
}

impl ApiSource {
    pub(crate) fn new(catalog: Catalog, wire: Arc<Wire>) -> Self {
        let weight = |key: &(String, String), operation: &Arc<Operation>| {
            let schemas = [Some(&operation.args_schema), operation.output_schema.as_ref()];
            let bytes: usize = schemas.into_iter().flatten().map(|s| json_size(s.value())).sum();
            u32::try_from(BASE_BYTES + key.1.len() + bytes).unwrap_or(u32::MAX)
        };
        Self { catalog, wire, operations: Cache::builder().max_capacity(CACHE_BYTES).weigher(weight).build() }
    }

    /// The heads of the providers that are referred to, by id.
    async fn heads(
        &self,
        refs: &[ToolRef],
        account: &AccountId,
    ) -> Result<HashMap<String, Head<ProviderRecord>>, TableError> {
        let mut ids: Vec<&str> = refs.iter().map(|r| r.provider_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let heads = self.catalog.heads(account, &ids).await?;
        let named = |(id, head): (&str, Option<_>)| head.map(|head| (id.to_owned(), head));
        Ok(ids.into_iter().zip(heads).filter_map(named).collect())
    }

    /// Reads what the cache does not hold of the wanted operations.
    async fn warm(
        &self,
        refs: &[ToolRef],
        heads: &HashMap<String, Head<ProviderRecord>>,
        account: &AccountId,
    ) -> Result<HashMap<(String, String), Arc<Operation>>, TableError> {
        let mut found = HashMap::with_capacity(refs.len());
        let mut missing = Vec::new();
        for reference in refs {
            let Some(head) = heads.get(&reference.provider_id) else {
                continue;
            };
            let key = (head.body_id.clone(), reference.tool_id.clone());
            match self.operations.get(&key) {
                Some(operation) => _ = found.insert(key, operation),
                None => missing.push((head, reference.tool_id.as_str())),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let bodies = self.catalog.bodies(account, &missing).await?;
        for ((head, name), body) in missing.into_iter().zip(bodies) {
            if let Some(operation) = body.and_then(|body| read(&head.id, name, body)) {
                let key = (head.body_id.clone(), name.to_owned());
                self.operations.insert(key.clone(), operation.clone());
                found.insert(key, operation);
            }
        }
        Ok(found)
    }

    /// Why an operation is not there, with the names that are near.
    async fn not_found(
        &self,
        account: &AccountId,
        head: &Head<ProviderRecord>,
        reference: &ToolRef,
    ) -> Unresolved {
        let names: Vec<String> = match self.catalog.all_bodies(account, head).await {
            Ok(bodies) => bodies.into_iter().map(|(name, _)| name).collect(),
            Err(_) => Vec::new(),
        };
        let hint = match nearest(&reference.tool_id, &names).as_slice() {
            [] => String::new(),
            near => format!("; near it are {}", near.join(", ")),
        };
        Unresolved::new(
            ProblemCode::ToolNotFound,
            format!("the API `{}` has no operation `{}`{hint}", head.record.name, reference.tool_id),
        )
    }
}

#[async_trait]
impl ToolSource for ApiSource {
    fn kind(&self) -> ToolKind {
        ToolKind::ApiTool
    }

    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let failed = |error: &TableError| {
            let problem =
                Unresolved::new(ProblemCode::StoreFailed, format!("the store could not be read: {error}"));
            refs.iter().map(|_| Err(problem.clone())).collect()
        };
        let heads = match self.heads(refs, &cx.account).await {
            Ok(heads) => heads,
            Err(error) => return failed(&error),
        };
        let operations = match self.warm(refs, &heads, &cx.account).await {
            Ok(operations) => operations,
            Err(error) => return failed(&error),
        };
        let mut providers = HashMap::with_capacity(heads.len());
        let mut answers: Vec<Result<Arc<dyn Tool>, Unresolved>> = Vec::with_capacity(refs.len());
        for reference in refs {
            let Some(head) = heads.get(&reference.provider_id) else {
                answers.push(Err(provider_not_found(reference)));
                continue;
            };
            let key = (head.body_id.clone(), reference.tool_id.clone());
            answers.push(match (check(head, reference), operations.get(&key)) {
                (Err(problem), _) => Err(problem),
                (Ok(()), None) => Err(self.not_found(&cx.account, head, reference).await),
                (Ok(()), Some(operation)) => {
                    let provider = providers
                        .entry(head.id.as_str())
                        .or_insert_with(|| Arc::new(provider_of(head, &cx.account)));
                    Ok(Arc::new(ApiTool::new(operation.clone(), provider.clone(), self.wire.clone())))
                }
            });
        }
        answers
    }
}

#[async_trait]
impl ToolLister for ApiSource {
    fn kind(&self) -> ToolKind {
        ToolKind::ApiTool
    }

    async fn list(&self, cx: &AccountContext, request: &ListRequest) -> Result<ListPage, CatalogError> {
        list_catalog(&self.catalog, &cx.account, request, listing).await
    }
}

fn listing(head: &Head<ProviderRecord>, name: &str, body: Value) -> Option<ToolListing> {
    let operation = read(&head.id, name, body)?;
    let changes = head.record.override_of(name).cloned().unwrap_or_default();
    Some(ToolListing {
        reference: ToolRef::new(ToolKind::ApiTool, &head.id, name),
        provider_name: head.record.name.clone(),
        name: changes.rename.unwrap_or_else(|| operation.name.clone()),
        title: changes.title.unwrap_or_else(|| operation.title.clone()),
        description: changes.description.unwrap_or_else(|| operation.description.clone()),
        annotations: operation.annotations,
        enabled: !changes.disabled,
    })
}

fn provider_of(head: &Head<ProviderRecord>, account: &AccountId) -> Provider {
    Provider {
        id: head.id.clone(),
        account: account.clone(),
        revision: head.revision,
        record: head.record.clone(),
    }
}

fn check(head: &Head<ProviderRecord>, reference: &ToolRef) -> Result<(), Unresolved> {
    if !reference.params.is_empty() {
        return Err(Unresolved::new(ProblemCode::InvalidParams, "API tools have no params: send `{}`"));
    }
    if head.record.override_of(&reference.tool_id).is_some_and(|o| o.disabled) {
        return Err(Unresolved::new(
            ProblemCode::Disabled,
            format!("`{}` of the API `{}` is switched off", reference.tool_id, head.record.name),
        ));
    }
    Ok(())
}

fn provider_not_found(reference: &ToolRef) -> Unresolved {
    Unresolved::new(
        ProblemCode::ProviderNotFound,
        format!("there is no API provider `{}`: it may have been deleted", reference.provider_id),
    )
}

/// Reads a stored operation. One that is not readable counts as absent; the log says why.
pub(crate) fn read(provider: &str, name: &str, body: Value) -> Option<Arc<Operation>> {
    serde_json::from_value(body)
        .inspect_err(|error| tracing::error!(%error, provider, name, "a stored operation is not readable"))
        .ok()
        .map(Arc::new)
}

/// The names that are nearest to one that is not there, in quotes.
pub(crate) fn nearest(name: &str, names: &[String]) -> Vec<String> {
    let lower = name.to_lowercase();
    let near = |other: &String| (strsim::jaro_winkler(&lower, &other.to_lowercase()), other.clone());
    let mut ranked: Vec<(f64, String)> = names.iter().map(near).filter(|(score, _)| *score >= NEAR).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(MAX_HINTS).map(|(_, name)| format!("`{name}`")).collect()
}

fn json_size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(json_size).sum::<usize>() + 32,
        Value::Object(members) => {
            members.iter().map(|(k, v)| k.len() + 48 + json_size(v)).sum::<usize>() + 64
        }
        Value::String(text) => text.len() + 32,
        _ => 32,
    }
}
