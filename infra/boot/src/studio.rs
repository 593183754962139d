//! Apps and what stands behind them: models, datasets, the agent and the chat service.

use agent::{AgentRunner, Knowledge, OpenAiModels};
use apps::{
    app::{Apps, References},
    assembly::SourceAssembler,
    chat::ChatService,
    models::ModelStore,
};
use domain::ports::{Cipher, Clock, Signal, Table};
use std::sync::Arc;

/// Apps, their models and datasets, and the chat service that all channels share.
#[derive(Clone, Debug)]
pub struct Studio {
    /// Apps.
    pub apps: Apps,
    /// Language models.
    pub models: ModelStore,
    /// Datasets.
    pub knowledge: Knowledge,
    /// Answers with apps.
    pub chat: ChatService,
}

impl Studio {
    /// Models and datasets over stores: what workflows use too, and so must be there before the assembler.
    pub(crate) fn stores(
        table: &Arc<dyn Table>,
        cipher: &Arc<dyn Cipher>,
        clock: &Arc<dyn Clock>,
        egress: &egress::Client,
    ) -> (ModelStore, Knowledge) {
        let factory = Arc::new(OpenAiModels::new(egress.clone()));
        let models = ModelStore::new(table.clone(), cipher.clone(), clock.clone(), factory);
        let knowledge = Knowledge::new(table.clone(), cipher.clone(), clock.clone(), egress.clone());
        (models, knowledge)
    }

    /// Apps over these, whose tools `assembler` finds and whose runs `signal` stops.
    pub(crate) fn new(
        (models, knowledge): (ModelStore, Knowledge),
        table: Arc<dyn Table>,
        clock: Arc<dyn Clock>,
        assembler: Arc<SourceAssembler>,
        signal: Arc<dyn Signal>,
    ) -> Self {
        let references =
            References::new(assembler, Arc::new(models.clone()), Some(Arc::new(knowledge.clone())));
        let apps = Apps::new(table.clone(), clock.clone(), Arc::new(references));
        let chat = ChatService::new(apps.clone(), Arc::new(AgentRunner::new()), signal, table, clock);
        Self { apps, models, knowledge, chat }
    }
}
