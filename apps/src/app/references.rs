//! What a config refers to: which of it is broken and why, how it is shown, and whether it has changed.

use super::{AppConfig, AppError, Version};
use crate::assembly::SourceAssembler;
use domain::{
    AccountContext, AccountId, ProblemCode, ToolRef, Toolset, Violation,
    ports::{Assembler as _, Assembly, DatasetInfo, ModelError, Models, Retriever},
    schema::canonical_json,
    toolset::ToolEntry,
};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Something a config refers to that is not as it should be. The rest goes on working.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigProblem {
    /// Where it stands in the config, as a JSON pointer.
    pub path: String,
    /// Its place in its list, from 0.
    pub index: usize,
    /// The reference, secrets masked, where it is one to a tool.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<ToolRef>,
    /// The stable code.
    pub code: &'static str,
    /// A sentence: what is wrong and what to do.
    pub message: String,
}

impl ConfigProblem {
    /// Whether it stands against publishing: a tool that has changed still works.
    pub fn is_fatal(&self) -> bool {
        ![ProblemCode::Drifted.as_str(), ProblemCode::AwaitingApproval.as_str()].contains(&self.code)
    }
}

/// A reference as editors show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Expanded {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whose tool it is.
    pub provider: ExpandedProvider,
    /// The tool.
    pub tool: ExpandedTool,
}

/// Whose tool it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExpandedProvider {
    /// The id in references.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The name that people read.
    pub label: String,
    /// Where its picture is.
    pub icon: Option<String>,
}

/// The tool of an expanded reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExpandedTool {
    /// The id in references.
    pub id: String,
    /// The name that a model calls it by.
    pub name: String,
    /// The name that people read.
    pub label: String,
    /// What it does.
    pub description: String,
    /// What the author has set, secrets masked.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub params: serde_json::Map<String, serde_json::Value>,
}

/// All that a config refers to, looked up.
#[derive(Debug)]
pub struct LookedUp {
    /// What is broken, and why.
    pub problems: Vec<ConfigProblem>,
    /// What each tool's definition is now, by the stable hash of its reference.
    pub definitions: BTreeMap<String, String>,
    /// The references that resolve, in the order of the config: tools, then workflows.
    pub tools: Vec<Expanded>,
    /// The datasets, in the order of the config.
    pub datasets: Vec<DatasetInfo>,
}

/// Looks up what configs refer to.
pub struct References {
    assembler: Arc<SourceAssembler>,
    models: Arc<dyn Models>,
    retriever: Option<Arc<dyn Retriever>>,
}

impl References {
    /// References to tools, models, and datasets where there are any.
    pub fn new(
        assembler: Arc<SourceAssembler>,
        models: Arc<dyn Models>,
        retriever: Option<Arc<dyn Retriever>>,
    ) -> Self {
        Self { assembler, models, retriever }
    }

    pub(crate) fn assembler(&self) -> &SourceAssembler {
        &self.assembler
    }

    pub(crate) fn models(&self) -> &dyn Models {
        self.models.as_ref()
    }

    pub(crate) fn retriever(&self) -> Option<&Arc<dyn Retriever>> {
        self.retriever.as_ref()
    }

    /// Looks up all of it, side by side.
    pub async fn look_up(&self, account: &AccountId, config: &AppConfig) -> LookedUp {
        let cx = AccountContext::new(account.clone());
        let assembly = Assembly { refs: config.refs(), reserved_names: own_names(), ..Assembly::default() };
        let (toolset, model, datasets) = tokio::join!(
            self.assembler.assemble(assembly, &cx),
            self.model_problem(account, &config.model.id),
            self.datasets(account, &config.datasets),
        );
        let (datasets, of_datasets) = datasets;
        let mut problems: Vec<ConfigProblem> = model.into_iter().collect();
        problems.extend(self.tool_problems(config, &toolset));
        problems.extend(of_datasets);
        let definitions =
            toolset.entries().iter().map(|e| (e.reference.stable_hash(), definition(e))).collect();
        let tools = toolset.entries().iter().map(|entry| self.expand(entry)).collect();
        LookedUp { problems, definitions, tools, datasets }
    }

    /// What is broken in a config, and why.
    pub async fn problems(&self, account: &AccountId, config: &AppConfig) -> Vec<ConfigProblem> {
        self.look_up(account, config).await.problems
    }

    /// What is broken in a version, and which of its tools are not what they were when it was published.
    pub async fn problems_of_version(&self, account: &AccountId, version: &Version) -> Vec<ConfigProblem> {
        let looked_up = self.look_up(account, &version.config).await;
        let mut problems = looked_up.problems;
        for (index, reference) in version.config.refs().into_iter().enumerate() {
            let hash = reference.stable_hash();
            let (Some(then), Some(now)) = (version.definitions.get(&hash), looked_up.definitions.get(&hash))
            else {
                continue;
            };
            if then != now {
                problems.push(ConfigProblem {
                    path: version.config.path_of(index),
                    index: place(&version.config, index),
                    reference: Some(self.mask(&reference)),
                    code: ProblemCode::Drifted.as_str(),
                    message: "the tool's definition is not the one that was published: look at it and publish again"
                        .into(),
                });
            }
        }
        problems
    }

    /// A config as it may be shown.
    pub fn masked(&self, config: &AppConfig) -> AppConfig {
        let mut config = config.clone();
        for reference in &mut config.tools {
            *reference = self.mask(reference);
        }
        config
    }

    /// A config as it may be stored: secrets sealed, masked ones as `before` holds them.
    ///
    /// A reference whose tool is gone is kept as it was. A new one that cannot be sealed is refused where it has params:
    /// nobody could say which of them are secrets.
    pub async fn protect(
        &self,
        account: &AccountId,
        mut config: AppConfig,
        before: &AppConfig,
    ) -> Result<AppConfig, AppError> {
        let cx = AccountContext::new(account.clone());
        let mut violations = Vec::new();
        for (i, reference) in config.tools.iter_mut().enumerate() {
            let Some(source) = self.assembler.source(reference.kind) else {
                continue;
            };
            let stored = stored_for(before, reference, i);
            match source.protect(reference, stored, &cx).await {
                Ok(sealed) => *reference = sealed,
                Err(_) if stored.is_some_and(|stored| self.mask(stored) == *reference) => {
                    // It was like this before: what is wrong with it is told as a problem.
                    *reference = stored.cloned().unwrap_or_else(|| reference.clone());
                }
                Err(_) if reference.params.is_empty() => {}
                Err(why) => {
                    violations.push(Violation { path: format!("/tools/{i}/params"), message: why.message });
                }
            }
        }
        if violations.is_empty() { Ok(config) } else { Err(AppError::Invalid(violations)) }
    }

    fn mask(&self, reference: &ToolRef) -> ToolRef {
        match self.assembler.source(reference.kind) {
            Some(source) => source.mask(reference),
            None => ToolRef::new(reference.kind, &reference.provider_id, &reference.tool_id),
        }
    }

    fn tool_problems(&self, config: &AppConfig, toolset: &Toolset) -> Vec<ConfigProblem> {
        let problem = |found: &domain::Problem| ConfigProblem {
            path: config.path_of(found.index),
            index: place(config, found.index),
            reference: Some(self.mask(&found.reference)),
            code: found.code.as_str(),
            message: found.message.clone(),
        };
        toolset.problems().iter().map(problem).collect()
    }

    async fn model_problem(&self, account: &AccountId, id: &str) -> Option<ConfigProblem> {
        let problem = |code, message: String| {
            Some(ConfigProblem { path: "/model/id".into(), index: 0, reference: None, code, message })
        };
        if id.is_empty() {
            return problem("no_model", "no model is chosen: set `model.id` to one of /models".into());
        }
        match self.models.model(account, id).await {
            Ok(_) => None,
            Err(error @ ModelError::NotFound(_)) => problem("model_not_found", error.to_string()),
            Err(error) => problem("model_unusable", error.to_string()),
        }
    }

    async fn datasets(&self, account: &AccountId, ids: &[String]) -> (Vec<DatasetInfo>, Vec<ConfigProblem>) {
        if ids.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let described = match &self.retriever {
            Some(retriever) => retriever.describe(account, ids).await.map_err(|error| error.to_string()),
            None => Ok(vec![None; ids.len()]),
        };
        let problem = |index: usize, code, message: String| ConfigProblem {
            path: format!("/datasets/{index}"),
            index,
            reference: None,
            code,
            message,
        };
        match described {
            Err(why) => (Vec::new(), vec![problem(0, ProblemCode::StoreFailed.as_str(), why)]),
            Ok(found) => {
                let missing = found.iter().zip(ids).enumerate().filter(|(_, (info, _))| info.is_none());
                let problems = missing
                    .map(|(i, (_, id))| {
                        problem(i, "dataset_not_found", format!("there is no dataset `{id}`"))
                    })
                    .collect();
                (found.into_iter().flatten().collect(), problems)
            }
        }
    }

    fn expand(&self, entry: &ToolEntry) -> Expanded {
        let (spec, reference) = (entry.spec(), self.mask(&entry.reference));
        let source = self.assembler.source(reference.kind);
        Expanded {
            kind: reference.kind.as_str(),
            provider: ExpandedProvider {
                name: spec.origin.provider_name.clone(),
                label: spec.origin.provider_name.clone(),
                icon: source.and_then(|source| source.icon(&reference)),
                id: reference.provider_id,
            },
            tool: ExpandedTool {
                id: reference.tool_id,
                name: entry.name.clone(),
                label: spec.title.clone(),
                description: spec.description.clone(),
                params: reference.params,
            },
        }
    }
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References").finish_non_exhaustive()
    }
}

/// Names that agents need for tools of their own.
pub(crate) fn own_names() -> Vec<String> {
    vec![super::dataset_tool::NAME.to_owned(), "tool_search".to_owned()]
}

/// The stored reference that a sent one stands for: the same tool, best at the same place.
fn stored_for<'a>(before: &'a AppConfig, sent: &ToolRef, place: usize) -> Option<&'a ToolRef> {
    let same = |stored: &&ToolRef| {
        (stored.kind, &stored.provider_id, &stored.tool_id) == (sent.kind, &sent.provider_id, &sent.tool_id)
    };
    before.tools.get(place).filter(same).or_else(|| before.tools.iter().find(same))
}

/// A reference's place in its own list.
fn place(config: &AppConfig, index: usize) -> usize {
    index.checked_sub(config.tools.len()).unwrap_or(index)
}

/// What a tool's definition is: all that a model is told of it, and how it behaves.
fn definition(entry: &ToolEntry) -> String {
    let spec = entry.spec();
    let told = json!({
        "name": spec.name,
        "description": spec.description,
        "args_schema": spec.args_schema,
        "output_schema": spec.output_schema,
        "annotations": spec.annotations,
    });
    hex::encode(Sha256::digest(canonical_json(&told)))
}
