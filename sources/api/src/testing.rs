//! What several unit tests start from.

use crate::normal::{Method, Operation};
use domain::{Annotations, Schema};

/// `GET` of the base address, without parameters.
pub(crate) fn operation() -> Operation {
    Operation {
        name: "op".into(),
        title: "op".into(),
        description: String::new(),
        method: Method::Get,
        path: vec![],
        path_template: "/".into(),
        fixed_query: vec![],
        fixed_headers: vec![],
        withheld: vec![],
        servers: vec![],
        parameters: vec![],
        body: None,
        args_schema: Schema::empty_object(),
        output_schema: None,
        accept: vec![],
        security: vec![],
        deprecated: false,
        tags: vec![],
        annotations: Annotations::default(),
        pointer: String::new(),
    }
}
