//! What the engine needs of the rest of the product, as ports.

use async_trait::async_trait;
use domain::{
    AccountId,
    ports::{Assembler, ModelError, Models, OpenModel, Retriever},
};
use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

/// What nodes reach the world through.
#[derive(Clone)]
pub struct EngineDeps {
    /// For tool nodes.
    pub assembler: LateAssembler,
    /// For nodes that ask a language model.
    pub models: Arc<dyn Models>,
    /// For nodes that search datasets, where there are any.
    pub retriever: Option<Arc<dyn Retriever>>,
    /// For HTTP request nodes.
    pub http: egress::Client,
}

impl fmt::Debug for EngineDeps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineDeps").finish_non_exhaustive()
    }
}

/// An assembler that is bound after it was handed out.
///
/// The assembler needs the workflow source, and workflows need the assembler to call tools. The circle is cut
/// here: the composition root makes an empty handle, gives it to the engine, builds the source and then the
/// assembler, and binds the handle to it. The handle is weak, so that dropping the assembler drops both.
#[derive(Clone, Default)]
pub struct LateAssembler(Arc<OnceLock<Weak<dyn Assembler>>>);

impl LateAssembler {
    /// A handle that is bound to nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds the handle and all its clones; only the first time counts.
    pub fn bind(&self, assembler: &Arc<dyn Assembler>) {
        let _ = self.0.set(Arc::downgrade(assembler));
    }

    /// The assembler, once bound and while it lives.
    pub fn get(&self) -> Option<Arc<dyn Assembler>> {
        self.0.get()?.upgrade()
    }
}

impl fmt::Debug for LateAssembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateAssembler").field("bound", &self.0.get().is_some()).finish()
    }
}

/// An installation without language models.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModels;

#[async_trait]
impl Models for NoModels {
    async fn model(&self, _account: &AccountId, id: &str) -> Result<OpenModel, ModelError> {
        Err(ModelError::NotFound(id.to_owned()))
    }
}
