//! `Era`: which version of the protocol a server is spoken to in, and how that is found out.
//!
//! From 2026-07-28 on every request carries the version itself; before, a handshake agrees on one.

use super::{error::CallError, message::RpcError};
use serde_json::{Map, Value, json};

/// The version without a handshake that is spoken here.
pub(crate) const MODERN: &str = "2026-07-28";
/// The versions with a handshake, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The error code of a version that the server does not speak.
const UNSUPPORTED_VERSION: i64 = -32022;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Which version a server is spoken to in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Each request stands alone.
    Modern,
    /// After a handshake that agreed on this version.
    Legacy(&'static str),
}

/// What a handshake or a probe found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Greeting {
    pub(crate) era: Era,
    /// What the server says of itself.
    pub(crate) server: Option<Value>,
    /// It tells when its tools change.
    pub(crate) tells_changes: bool,
}

/// What a probe's answer means.
#[derive(Debug, PartialEq)]
pub(crate) enum Probed {
    /// It is modern.
    Modern(Greeting),
    /// It wants a handshake.
    Legacy,
    /// It speaks only versions that are not known here.
    Neither(String),
}

impl Era {
    /// The version as it is stored and sent.
    pub(crate) const fn version(self) -> &'static str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(version) => version,
        }
    }

    /// Reads a stored version.
    pub(crate) fn parse(version: &str) -> Option<Self> {
        if version == MODERN {
            return Some(Self::Modern);
        }
        LEGACY.into_iter().find(|known| *known == version).map(Self::Legacy)
    }

    /// Whether requests stand alone.
    pub(crate) const fn is_modern(self) -> bool {
        matches!(self, Self::Modern)
    }

    /// Puts into a request's `params` what this era wants there.
    pub(crate) fn dress(self, params: Value, progress_token: Option<i64>) -> Value {
        let mut params = match params {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let mut meta = match params.remove("_meta") {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        if let Some(token) = progress_token {
            meta.insert("progressToken".into(), json!(token));
        }
        if self.is_modern() {
            meta.insert(VERSION_KEY.into(), json!(MODERN));
            meta.insert(CLIENT_KEY.into(), client_info());
            meta.insert(CAPABILITIES_KEY.into(), json!({}));
        }
        if !meta.is_empty() {
            params.insert("_meta".into(), Value::Object(meta));
        }
        Value::Object(params)
    }
}

fn client_info() -> Value {
    json!({"name": "haft", "title": "Haft", "version": env!("CARGO_PKG_VERSION")})
}

/// The params of the handshake's request.
pub(crate) fn initialize_params() -> Value {
    json!({"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": client_info()})
}

/// Reads the answer to the handshake.
pub(crate) fn read_initialize(result: &Value) -> Result<Greeting, CallError> {
    let Some(version) = result.get("protocolVersion").and_then(Value::as_str) else {
        return Err(CallError::protocol("its answer to `initialize` has no `protocolVersion`"));
    };
    let Some(era @ Era::Legacy(_)) = Era::parse(version) else {
        return Err(CallError::Protocol(format!(
            "it wants to speak protocol version `{version}`; known are {} and {MODERN}",
            LEGACY.join(", ")
        )));
    };
    Ok(Greeting {
        era,
        server: result.get("serverInfo").filter(|v| v.is_object()).cloned(),
        tells_changes: tells_changes(result),
    })
}

/// Reads the answer to `server/discover`.
pub(crate) fn read_discover(answer: Result<&Value, &RpcError>) -> Probed {
    let versions = match answer {
        Ok(result) => result.get("supportedVersions"),
        Err(error) if error.code == UNSUPPORTED_VERSION => {
            error.data.as_ref().and_then(|data| data.get("supported"))
        }
        Err(_) => None,
    };
    let Some(Value::Array(versions)) = versions else {
        return Probed::Legacy;
    };
    let speaks = |version: &str| versions.iter().any(|v| v.as_str() == Some(version));
    if speaks(MODERN) {
        let result = answer.unwrap_or(&Value::Null);
        return Probed::Modern(Greeting {
            era: Era::Modern,
            server: server_of(result),
            tells_changes: tells_changes(result),
        });
    }
    if LEGACY.into_iter().any(speaks) {
        return Probed::Legacy;
    }
    Probed::Neither(format!(
        "it speaks protocol versions {}; known are {MODERN}, {}",
        Value::Array(versions.clone()),
        LEGACY.join(", ")
    ))
}

/// What a modern result says of the server.
pub(crate) fn server_of(result: &Value) -> Option<Value> {
    let meta = result.get("_meta").and_then(|meta| meta.get(SERVER_KEY));
    meta.or_else(|| result.get("serverInfo")).filter(|v| v.is_object()).cloned()
}

fn tells_changes(result: &Value) -> bool {
    result.pointer("/capabilities/tools/listChanged") == Some(&Value::Bool(true))
}

/// Whether an error is one that only a modern server gives.
pub(crate) const fn is_modern_error(code: i64) -> bool {
    matches!(code, -32022..=-32020)
}

/// Whether a server that was thought modern says by this error that it is not, or not any more.
pub(crate) const fn denies_modern(code: i64) -> bool {
    code == UNSUPPORTED_VERSION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_understood() {
        let modern = json!({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}});
        let Probed::Modern(greeting) = read_discover(Ok(&modern)) else { panic!("not modern") };
        assert!(greeting.tells_changes && greeting.server == Some(json!({"name":"x"})));
        assert_eq!(read_discover(Ok(&json!({}))), Probed::Legacy);
        assert_eq!(read_discover(Ok(&json!({"supportedVersions":["2025-11-25"]}))), Probed::Legacy);
        assert!(matches!(
            read_discover(Ok(&json!({"supportedVersions":["2031-01-01"]}))),
            Probed::Neither(_)
        ));
        let error = |code, data| RpcError { code, message: String::new(), data };
        assert_eq!(read_discover(Err(&error(-32601, None))), Probed::Legacy);
        let older = error(-32022, Some(json!({"supported":["2025-06-18"]})));
        assert_eq!(read_discover(Err(&older)), Probed::Legacy);
        let same = error(-32022, Some(json!({"supported":[MODERN]})));
        assert!(matches!(read_discover(Err(&same)), Probed::Modern(_)));
        let newer = error(-32022, Some(json!({"supported":["2031-01-01"]})));
        assert!(matches!(read_discover(Err(&newer)), Probed::Neither(_)));
    }

    #[test]
    fn an_unknown_version_is_refused() {
        for version in LEGACY {
            assert_eq!(
                read_initialize(&json!({"protocolVersion": version})).unwrap().era,
                Era::Legacy(version)
            );
        }
        for result in [json!({"protocolVersion":"2099-01-01"}), json!({}), json!({"protocolVersion": MODERN})]
        {
            assert!(read_initialize(&result).is_err(), "{result}");
        }
    }

    #[test]
    fn only_a_modern_request_carries_the_version() {
        let modern = Era::Modern.dress(json!({"name":"t","_meta":{"x":1}}), Some(4));
        assert_eq!(modern["_meta"][VERSION_KEY], MODERN);
        assert_eq!(modern["_meta"]["progressToken"], 4);
        assert_eq!(modern["_meta"]["x"], 1);
        assert_eq!(Era::Legacy("2025-11-25").dress(json!({"name":"t"}), None), json!({"name":"t"}));
    }
}
