//! The rules of an HTTP request node.

use crate::{
    graph::{
        VarType, Variable,
        kinds::{BodyForm, HttpRequest, Method},
    },
    nodes::http_request::{Place, placeholders},
};
use http::HeaderName;
use url::Url;

/// Headers that the connection, not the request, decides about.
const REFUSED_HEADERS: [&str; 10] = [
    "host",
    "connection",
    "content-length",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What is wrong with the node: the field and a sentence.
pub(super) fn faults(node: &HttpRequest) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    let mut bodies = Vec::new();
    for input in &node.inputs {
        let field = format!("inputs.{}.meta.type", input.name);
        match Place::of(input) {
            None => {
                let message = "`meta.type` must be `params`, `headers`, `body` or `path`".to_owned();
                faults.push((field, message));
            }
            Some(Place::Header) => faults.extend(header_fault(input).map(|message| (field, message))),
            Some(Place::Body) => bodies.push(input),
            Some(Place::Path | Place::Query) => {}
        }
    }
    faults.extend(url_faults(node).into_iter().map(|message| ("url".to_owned(), message)));
    if !bodies.is_empty() && matches!(node.method, Method::Get | Method::Head | Method::Options) {
        faults.push(("method".to_owned(), "a request of this method has no body".to_owned()));
    }
    let raw_fits = matches!(bodies[..], [one] if one.kind == VarType::String) || bodies.is_empty();
    if node.body_type == BodyForm::Raw && !raw_fits {
        faults.push(("body_type".to_owned(), "a raw body is exactly one input of type string".to_owned()));
    }
    faults
}

fn header_fault(input: &Variable) -> Option<String> {
    match HeaderName::try_from(&input.name) {
        Err(_) => Some(format!("`{}` is not the name of a header", input.name)),
        Ok(name) if REFUSED_HEADERS.contains(&name.as_str()) => {
            Some(format!("the header `{name}` is set by the connection"))
        }
        Ok(_) => None,
    }
}

fn url_faults(node: &HttpRequest) -> Vec<String> {
    let mut faults = Vec::new();
    let names = placeholders(&node.url);
    let given: Vec<&str> =
        node.inputs.iter().filter(|v| Place::of(v) == Some(Place::Path)).map(|v| v.name.as_str()).collect();
    for name in &names {
        if !given.contains(&name.as_str()) {
            faults.push(format!(
                "`{{{name}}}` stands in the address, but no input of type `path` has that name"
            ));
        }
    }
    for name in given {
        if !names.iter().any(|n| n == name) {
            faults.push(format!(
                "the input `{name}` is of type `path`, but `{{{name}}}` is not in the address"
            ));
        }
    }
    let filled = names.iter().fold(node.url.clone(), |url, name| url.replace(&format!("{{{name}}}"), "0"));
    match Url::parse(&filled) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            faults.push("the address must begin with http:// or https://".to_owned());
        }
        Ok(_) => {
            let authority_end = node.url.find("://").map_or(0, |i| i + 3);
            let authority = node.url[authority_end..].split(['/', '?', '#']).next().unwrap_or_default();
            if authority.contains('{') {
                faults.push("an input may not decide the host: put it behind the first `/`".to_owned());
            }
        }
        Err(error) => faults.push(format!("the address cannot be read: {error}")),
    }
    faults
}
