//! A compiled document, taken apart for storing.

use super::ServiceError;
use crate::{
    compile::Compiled,
    normal::{Api, Operation},
    report::Report,
};
use domain::catalog::Body;

/// What is stored of a document, and the report that is not.
pub(super) struct Taken {
    pub(super) api: Api,
    pub(super) operations: Vec<Operation>,
    pub(super) bodies: Vec<Body>,
    pub(super) report: Report,
    /// Whether any operation asks for a security scheme.
    pub(super) asks: bool,
}

impl Taken {
    /// Takes a document apart.
    ///
    /// # Errors
    /// [`ServiceError::NoTools`] where no operation became a tool.
    pub(super) fn of(compiled: Compiled) -> Result<Self, ServiceError> {
        let operations = compiled.document.operations;
        if operations.is_empty() {
            return Err(ServiceError::NoTools(Box::new(compiled.report)));
        }
        let mut bodies = Vec::with_capacity(operations.len());
        for operation in &operations {
            let body = serde_json::to_value(operation).map_err(|e| ServiceError::Internal(e.to_string()))?;
            bodies.push((operation.name.clone(), body));
        }
        Ok(Self {
            api: compiled.document.api,
            bodies,
            asks: operations.iter().any(|o| o.security.iter().any(|way| !way.is_empty())),
            operations,
            report: compiled.report,
        })
    }
}
