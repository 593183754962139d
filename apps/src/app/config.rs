//! What an app is told to do. A missing key has its default; an unknown one is refused.

use domain::{
    ToolKind, ToolRef, Violation,
    ports::{AgentLimits, Review},
    toolset::ApprovalPolicy,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const MAX_PROMPT: usize = 100_000;
const MAX_TOOLS: usize = 200;
const MAX_WORKFLOWS: usize = 50;
const MAX_DATASETS: usize = 20;
const MAX_ROUNDS: u32 = 100;
const MAX_KEYWORDS: usize = 100;
const MAX_KEYWORD: usize = 64;
const MAX_ID: usize = 256;
const MAX_PARAMS_BYTES: usize = 64 * 1024;

/// An app's config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppConfig {
    /// Which model answers.
    pub model: ModelChoice,
    /// Instructions.
    pub preset_prompt: String,
    /// What is said before the first question.
    pub opening_statement: String,
    /// How many earlier rounds the model reads, 0 to 100.
    pub dialog_round: u32,
    /// The tools it may call.
    pub tools: Vec<ToolRef>,
    /// The published workflows it may call, by id.
    pub workflows: Vec<String>,
    /// The datasets it may search, by id.
    pub datasets: Vec<String>,
    /// How datasets are searched.
    pub retrieval_config: RetrievalConfig,
    /// Whether speech is taken.
    pub speech_to_text: Switch,
    /// Whether answers are spoken.
    pub text_to_speech: TextToSpeech,
    /// Words that are looked for.
    pub review_config: ReviewConfig,
    /// When a person must approve a call.
    pub approval: ApprovalPolicy,
    /// How far a run may go.
    pub limits: Limits,
}

/// Which model answers, and with which parameters of its provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelChoice {
    /// The id of a stored model; empty as long as none is chosen.
    pub id: String,
    /// Parameters of the provider, passed on as they are; one that is null is not sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub parameters: Map<String, Value>,
}

/// How datasets are searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RetrievalConfig {
    /// How many passages at most, 1 to 20.
    pub limit: usize,
    /// The least score of a passage, 0 to 1.
    pub min_score: Option<f64>,
}

/// On or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Switch {
    /// On.
    pub enable: bool,
}

/// Whether and how answers are spoken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TextToSpeech {
    /// On.
    pub enable: bool,
    /// Whose voice.
    pub voice: String,
    /// Whether a page plays answers unasked.
    pub auto_play: bool,
}

/// Words that are looked for in questions and answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewConfig {
    /// On.
    pub enable: bool,
    /// The words, in any case.
    pub keywords: Vec<String>,
    /// What happens to a question that has one.
    pub inputs_config: InputsReview,
    /// What happens to an answer that has one.
    pub outputs_config: Switch,
}

/// What happens to a question that has one of the words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputsReview {
    /// On.
    pub enable: bool,
    /// What it is answered with, without asking the model.
    pub preset_response: String,
}

/// How far a run may go, and how much an app may use in a day (UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limits {
    /// How often the model may ask for tools in one run, 1 to 50.
    pub max_iterations: u32,
    /// How long one run may take, in seconds: 1 to 900.
    pub timeout_s: u64,
    /// How many questions the app answers in a day.
    pub daily_calls: Option<u64>,
    /// How many tokens the app uses in a day.
    pub daily_tokens: Option<u64>,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self {
            model: ModelChoice::default(),
            preset_prompt: String::new(),
            opening_statement: String::new(),
            dialog_round: 3,
            tools: Vec::new(),
            workflows: Vec::new(),
            datasets: Vec::new(),
            retrieval_config: RetrievalConfig::default(),
            speech_to_text: Switch::default(),
            text_to_speech: TextToSpeech::default(),
            review_config: ReviewConfig::default(),
            approval: ApprovalPolicy::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self { limit: 4, min_score: None }
    }
}

impl Default for TextToSpeech {
    fn default() -> Self {
        Self { enable: false, voice: "xiaoxiao".to_owned(), auto_play: false }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_iterations: 5, timeout_s: 600, daily_calls: None, daily_tokens: None }
    }
}

impl AppConfig {
    /// What of it cannot be stored, place by place.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Found::default();
        found.most("/preset_prompt", self.preset_prompt.chars().count(), MAX_PROMPT, "characters");
        found.most("/opening_statement", self.opening_statement.chars().count(), MAX_PROMPT, "characters");
        found.when(self.dialog_round > MAX_ROUNDS, "/dialog_round", &format!("use 0 to {MAX_ROUNDS}"));
        let parameters = serde_json::to_vec(&self.model.parameters).map_or(usize::MAX, |bytes| bytes.len());
        found.most("/model/parameters", parameters, MAX_PARAMS_BYTES, "bytes");
        self.check_references(&mut found);
        self.check_review(&mut found);
        let retrieval = &self.retrieval_config;
        found.when(!(1..=20).contains(&retrieval.limit), "/retrieval_config/limit", "use 1 to 20");
        let outside = retrieval.min_score.is_some_and(|score| !(0.0..=1.0).contains(&score));
        found.when(outside, "/retrieval_config/min_score", "use 0 to 1");
        let limits = &self.limits;
        found.when(!(1..=50).contains(&limits.max_iterations), "/limits/max_iterations", "use 1 to 50");
        found.when(!(1..=900).contains(&limits.timeout_s), "/limits/timeout_s", "use 1 to 900");
        found.0
    }

    /// The references of its tools and its workflows, in the order of the toolset.
    pub fn refs(&self) -> Vec<ToolRef> {
        // A workflow is referred to by its id alone here; its source knows the name that belongs to it.
        let workflows = self.workflows.iter().map(|id| ToolRef::new(ToolKind::WorkflowTool, id, ""));
        self.tools.iter().cloned().chain(workflows).collect()
    }

    /// Where a reference of [`AppConfig::refs`] stands in the config.
    pub fn path_of(&self, index: usize) -> String {
        match index.checked_sub(self.tools.len()) {
            None => format!("/tools/{index}"),
            Some(workflow) => format!("/workflows/{workflow}"),
        }
    }

    /// The words that an agent looks for.
    pub fn review(&self) -> Review {
        let review = &self.review_config;
        if !review.enable {
            return Review::default();
        }
        let inputs = &review.inputs_config;
        Review {
            keywords: review.keywords.clone(),
            preset_response: inputs.enable.then(|| inputs.preset_response.clone()),
            outputs: review.outputs_config.enable,
        }
    }

    /// How far a run may go, with `tokens_left` of the day.
    pub fn agent_limits(&self, tokens_left: Option<u64>) -> AgentLimits {
        AgentLimits { max_iterations: self.limits.max_iterations, max_tokens: tokens_left }
    }

    fn check_references(&self, found: &mut Found) {
        found.most("/tools", self.tools.len(), MAX_TOOLS, "references");
        found.most("/workflows", self.workflows.len(), MAX_WORKFLOWS, "ids");
        found.most("/datasets", self.datasets.len(), MAX_DATASETS, "ids");
        for (i, reference) in self.tools.iter().enumerate() {
            let ids = [&reference.provider_id, &reference.tool_id];
            let wrong = ids.iter().any(|id| id.is_empty() || id.len() > MAX_ID);
            found.when(
                wrong,
                &format!("/tools/{i}"),
                &format!("`provider_id` and `tool_id` have 1 to {MAX_ID} bytes"),
            );
            let bytes = serde_json::to_vec(&reference.params).map_or(usize::MAX, |bytes| bytes.len());
            found.most(&format!("/tools/{i}/params"), bytes, MAX_PARAMS_BYTES, "bytes");
        }
        for (what, ids) in [("workflows", &self.workflows), ("datasets", &self.datasets)] {
            let mut seen = BTreeSet::new();
            for (i, id) in ids.iter().enumerate() {
                let path = format!("/{what}/{i}");
                let wrong = id.is_empty() || id.len() > MAX_ID || id.contains('#');
                found.when(wrong, &path, "it is not an id");
                found.when(!seen.insert(id), &path, "it stands earlier in the list");
            }
        }
    }

    fn check_review(&self, found: &mut Found) {
        let review = &self.review_config;
        found.most("/review_config/keywords", review.keywords.len(), MAX_KEYWORDS, "words");
        for (i, word) in review.keywords.iter().enumerate() {
            let wrong = word.trim().is_empty() || word.chars().count() > MAX_KEYWORD;
            let message = format!("use 1 to {MAX_KEYWORD} characters");
            found.when(wrong, &format!("/review_config/keywords/{i}"), &message);
        }
        let inputs = &review.inputs_config;
        let silent = review.enable && inputs.enable && inputs.preset_response.trim().is_empty();
        found.when(
            silent,
            "/review_config/inputs_config/preset_response",
            "it is required where questions are reviewed",
        );
        let idle = review.enable && review.keywords.is_empty();
        found.when(idle, "/review_config/keywords", "a review needs words to look for");
    }
}

#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn when(&mut self, wrong: bool, path: &str, message: &str) {
        if wrong {
            self.0.push(Violation { path: path.to_owned(), message: message.to_owned() });
        }
    }

    fn most(&mut self, path: &str, count: usize, most: usize, what: &str) {
        self.when(count > most, path, &format!("at most {most} {what}"));
    }
}
