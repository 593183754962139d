//! How callers prove who they are: schemes of the document, and what an operation asks for.

use super::doc::{At, Doc, object_or_empty};
use crate::{
    compile::text::{text_of, trimmed},
    normal::{ApiKeyIn, Location, OAuthFlow, OAuthFlowKind, SchemeUse, SecurityScheme},
    report::{WarningCode, Warnings},
};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The schemes of a document, by name.
pub(super) fn schemes(doc: &Doc, notes: &mut Warnings) -> IndexMap<String, SecurityScheme> {
    let place = if doc.is_v2() { "/securityDefinitions" } else { "/components/securitySchemes" };
    let mut found = IndexMap::new();
    for (name, value) in object_or_empty(doc.root.pointer(place)) {
        let at = At::pointer(place);
        let at = at.name(name);
        let scheme = match doc.follow(value, at.to_string()) {
            Ok(target) => target.value.as_object().and_then(scheme),
            Err(_) => None,
        };
        match scheme {
            Some(scheme) => {
                if let SecurityScheme::MutualTls | SecurityScheme::Other { .. } = scheme {
                    let message = format!("The security scheme `{name}` is of a kind that is not supported.");
                    notes.add(WarningCode::Security, at, message);
                }
                found.insert(name.clone(), scheme);
            }
            None => {
                notes.add(
                    WarningCode::Security,
                    at,
                    format!("The security scheme `{name}` is not readable."),
                );
            }
        }
    }
    let asked =
        doc.get("security").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    for name in asked.flat_map(Map::keys).filter(|name| !found.contains_key(*name)) {
        let message = format!("The security scheme `{name}` is not in the document: it is left out.");
        notes.add(WarningCode::Security, "/security", message);
    }
    found
}

fn scheme(map: &Map<String, Value>) -> Option<SecurityScheme> {
    let scheme = match text_of(map, "type").to_ascii_lowercase().as_str() {
        "apikey" => SecurityScheme::ApiKey {
            name: Some(text_of(map, "name")).filter(|n| !n.is_empty())?.to_owned(),
            location: match text_of(map, "in").to_ascii_lowercase().as_str() {
                "header" => ApiKeyIn::Header,
                "query" => ApiKeyIn::Query,
                "cookie" => ApiKeyIn::Cookie,
                _ => return None,
            },
        },
        "basic" => SecurityScheme::Basic,
        "bearer" => SecurityScheme::Bearer,
        "http" => match text_of(map, "scheme").to_ascii_lowercase().as_str() {
            "basic" => SecurityScheme::Basic,
            "bearer" => SecurityScheme::Bearer,
            other => SecurityScheme::Other { name: trimmed(other, 40) },
        },
        "oauth2" => SecurityScheme::OAuth2 { flows: flows(map) },
        "openidconnect" => SecurityScheme::OpenIdConnect { url: text_of(map, "openIdConnectUrl").to_owned() },
        "mutualtls" => SecurityScheme::MutualTls,
        "" => return None,
        other => SecurityScheme::Other { name: trimmed(other, 40) },
    };
    Some(scheme)
}

/// The flows of 3.x under `flows`, or the single one of 2.0 in the scheme itself.
fn flows(map: &Map<String, Value>) -> Vec<OAuthFlow> {
    let kind = |name: &str| match name {
        "clientCredentials" | "application" => Some(OAuthFlowKind::ClientCredentials),
        "authorizationCode" | "accessCode" => Some(OAuthFlowKind::AuthorizationCode),
        "implicit" => Some(OAuthFlowKind::Implicit),
        "password" => Some(OAuthFlowKind::Password),
        _ => None,
    };
    let read = |kind, map: &Map<String, Value>| {
        let url = |key| Some(text_of(map, key).trim()).filter(|u| !u.is_empty()).map(str::to_owned);
        let said = |value: &Value| trimmed(value.as_str().unwrap_or_default(), 200);
        OAuthFlow {
            kind,
            authorization_url: url("authorizationUrl"),
            token_url: url("tokenUrl"),
            refresh_url: url("refreshUrl"),
            scopes: object_or_empty(map.get("scopes")).iter().map(|(k, v)| (k.clone(), said(v))).collect(),
        }
    };
    if let Some(kind) = kind(text_of(map, "flow")) {
        return vec![read(kind, map)];
    }
    let flows = object_or_empty(map.get("flows")).iter();
    flows.filter_map(|(name, flow)| Some(read(kind(name)?, flow.as_object()?))).collect()
}

/// What an operation asks for: its own `security`, else the document's.
pub(super) fn of_operation(
    doc: &Doc,
    operation: &Map<String, Value>,
    schemes: &IndexMap<String, SecurityScheme>,
    at: &At<'_>,
    warnings: &mut Warnings,
) -> Vec<Vec<SchemeUse>> {
    let own = operation.get("security").filter(|s| s.is_array());
    let asked = own.or_else(|| doc.get("security"));
    let mut ways = Vec::new();
    let mut unknown = None;
    for way in asked.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
        if let Some(name) = way.keys().find(|name| !schemes.contains_key(*name)) {
            unknown = Some(name);
            continue;
        }
        let uses = way.iter().map(|(scheme, scopes)| SchemeUse {
            scheme: scheme.clone(),
            scopes: scopes
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        });
        ways.push(uses.collect());
    }
    // What the document says for all of them is told once, for the document.
    if let Some(name) = unknown.filter(|_| own.is_some()) {
        let message = format!("The security scheme `{name}` is not in the document: it is left out.");
        warnings.add(WarningCode::Security, at.name("security"), message);
    }
    ways
}

/// Whether a parameter is where one of the schemes puts its key.
pub(super) fn is_key(schemes: &IndexMap<String, SecurityScheme>, name: &str, location: Location) -> bool {
    schemes.values().any(|scheme| match scheme {
        SecurityScheme::ApiKey { name: key, location: place } => match place {
            ApiKeyIn::Header => location == Location::Header && key.eq_ignore_ascii_case(name),
            ApiKeyIn::Query => location == Location::Query && key == name,
            ApiKeyIn::Cookie => location == Location::Cookie && key == name,
        },
        _ => false,
    })
}
