//! One node: its tries, its timeout, and what its failure means.

use super::{Run, RunError, iteration, scheduler::Ended};
use crate::{
    graph::OnError,
    nodes::{
        NodeError, Values, aggregate, code, condition, http_request, intent, llm, outputs, retrieval, size_of,
    },
    plan::{PlanNode, Work},
};
use serde_json::{Map, Value, json};
use std::{sync::Arc, time::Duration};

/// The longest wait between two tries.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// What a node gave, and the branch it chose if it forks.
type Given = (Values, Option<String>);

/// Runs a node with its inputs, tells of it, and says how it ended.
pub(super) async fn perform(
    run: &Run<'_>,
    node: &PlanNode,
    inputs: Result<Values, NodeError>,
    path: &Arc<[usize]>,
) -> Ended {
    let mut running = run.reporter.started(node, path, inputs.as_ref().cloned().unwrap_or_default());
    let result = match inputs {
        Ok(inputs) => tries(run, node, &inputs, path, &mut running.attempts).await,
        Err(error) => Err(error),
    };
    match result {
        Ok((outputs, branch)) => {
            running.succeeded(outputs.clone());
            Ended::Done { outputs, branch }
        }
        Err(error) => {
            let outputs = instead(node, &error);
            let error = RunError {
                code: error.code.into_owned(),
                message: format!("`{}`: {}", node.title, error.message),
                node_id: Some(node.id.to_string()),
            };
            running.failed(outputs.clone(), error.clone());
            match node.policy.on_error {
                OnError::Fail => Ended::Failed(error),
                OnError::Branch => Ended::FailedOver { outputs },
                OnError::Default { .. } => Ended::Done { outputs, branch: None },
            }
        }
    }
}

/// What stands for the outputs of a node that failed and does not end the run.
fn instead(node: &PlanNode, error: &NodeError) -> Values {
    if !node.fails_over() {
        return Values::default();
    }
    let mut values = match &node.policy.on_error {
        OnError::Default { outputs } => outputs.clone(),
        _ => Map::new(),
    };
    values.insert("error".to_owned(), json!({"code": error.code, "message": error.message}));
    Arc::new(values)
}

async fn tries(
    run: &Run<'_>,
    node: &PlanNode,
    inputs: &Values,
    path: &Arc<[usize]>,
    attempts: &mut u32,
) -> Result<Given, NodeError> {
    let policy = &node.policy;
    let mut wait = Duration::from_millis(policy.retry.wait_ms);
    loop {
        let result = match policy.timeout_ms.map(Duration::from_millis) {
            None => once(run, node, inputs, path).await,
            Some(limit) => {
                tokio::time::timeout(limit, once(run, node, inputs, path)).await.unwrap_or_else(|_| {
                    let message = format!("no result within {} ms", limit.as_millis());
                    Err(NodeError::passing("timeout", message))
                })
            }
        };
        match result {
            Err(error) if error.may_pass && *attempts <= policy.retry.times => {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(MAX_WAIT);
                *attempts += 1;
            }
            other => return other,
        }
    }
}

async fn once(
    run: &Run<'_>,
    node: &PlanNode,
    inputs: &Values,
    path: &Arc<[usize]>,
) -> Result<Given, NodeError> {
    let account = &run.cx.account;
    let models = run.deps.models.as_ref();
    let timeout = |usual: Duration| {
        let own = node.policy.timeout_ms.map_or(usual, Duration::from_millis);
        own.min(run.cx.remaining())
    };
    let values = match &node.work {
        Work::Start | Work::End => return Ok((inputs.clone(), None)),
        Work::Condition(fork) => {
            let branch = condition::choose(fork, inputs)?.to_owned();
            let values = outputs([("branch", branch.as_str().into())]);
            return Ok((Arc::new(values), Some(branch)));
        }
        Work::Intent(fork) => {
            let values = intent::classify(models, account, fork, inputs).await?;
            let chosen = values.get("intent_name").and_then(Value::as_str).map(str::to_owned);
            return Ok((Arc::new(values), Some(chosen.unwrap_or_default())));
        }
        Work::Tool(slot) => run.tools.call(*slot, inputs.as_ref().clone(), run.cx).await?,
        Work::Llm(choice, prompts) => llm::ask(models, account, choice, prompts, inputs).await?,
        Work::Template(template) => {
            outputs([("output", template.render_aside(inputs.clone()).await?.into())])
        }
        Work::Http(request) => {
            let limit = timeout(http_request::DEFAULT_TIMEOUT);
            http_request::send(&run.deps.http, request, inputs, limit).await?
        }
        Work::Code { source, outputs } => {
            code::run(source, inputs, outputs, timeout(code::DEFAULT_TIMEOUT)).await?
        }
        Work::Iteration(work) => iteration::run(run, work, inputs, path).await?,
        Work::Aggregate(gather) => aggregate::gather(gather, inputs),
        Work::Retrieve(search) => match &run.deps.retriever {
            Some(retriever) => retrieval::retrieve(retriever.as_ref(), account, search, inputs).await?,
            None => return Err(NodeError::new("retrieval_failed", "no datasets are set up here")),
        },
    };
    let limit = run.limits.output_bytes;
    let size: usize = values.iter().map(|(name, value)| name.len() + size_of(value)).sum();
    if size > limit {
        let message = format!("the outputs have {size} bytes; at most {limit} are taken");
        return Err(NodeError::new("too_large", message));
    }
    Ok((Arc::new(values), None))
}
