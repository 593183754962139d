//! JSON-RPC as raw JSON: nothing is parsed into types that could lose a field.

use super::error::{CallError, excerpt};
use serde_json::{Map, Value, json};

/// A message from a server.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// An answer to one of our requests.
    Answer(i64, Answer),
    /// A request of the server, to be answered under its own id.
    Request(Value, String, Value),
    /// A notification.
    Notice(String, Value),
    /// An error that does not say what it is about.
    Fault(RpcError),
}

/// What an answer says.
pub(crate) type Answer = Result<Value, RpcError>;

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl From<RpcError> for CallError {
    fn from(error: RpcError) -> Self {
        Self::Refused { code: error.code, message: error.message, data: error.data }
    }
}

/// The error code of a method that is not known.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

impl Incoming {
    /// Reads a message; none when it is not one.
    pub(crate) fn read(message: Value) -> Option<Self> {
        let Value::Object(mut message) = message else {
            return None;
        };
        let id = message.remove("id").filter(|id| !id.is_null());
        if let Some(Value::String(method)) = message.remove("method") {
            let params = message.remove("params").unwrap_or_else(|| json!({}));
            return Some(match id {
                Some(id) => Self::Request(id, method, params),
                None => Self::Notice(method, params),
            });
        }
        let answer = match (message.remove("error"), message.remove("result")) {
            (Some(error), _) if !error.is_null() => Err(RpcError::read(&error)),
            (_, Some(result)) => Ok(result),
            _ => return None,
        };
        let (id, answer) = match (id, answer) {
            (None, Err(error)) => return Some(Self::Fault(error)),
            (id, answer) => (id?, answer),
        };
        // Our ids are integers; a server that answers with a text of one is understood.
        let id = match id {
            Value::Number(n) => n.as_i64().or_else(|| n.as_f64().and_then(whole))?,
            Value::String(text) => text.parse().ok()?,
            _ => return None,
        };
        Some(Self::Answer(id, answer))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value was just shown to be whole and small")]
fn whole(n: f64) -> Option<i64> {
    (n.fract() == 0.0 && n.abs() < 9e15).then_some(n as i64)
}

impl RpcError {
    /// Reads an error object as far as it is one.
    pub(crate) fn read(error: &Value) -> Self {
        let message = match error.get("message").and_then(Value::as_str) {
            Some(text) => excerpt(text),
            None => excerpt(&error.to_string()),
        };
        Self {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message,
            data: error.get("data").cloned(),
        }
    }
}

/// A request.
pub(crate) fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A notification.
pub(crate) fn notice(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The notification that a request is given up.
pub(crate) fn cancelled(id: i64, reason: &str) -> Value {
    notice("notifications/cancelled", &json!({"requestId": id, "reason": reason}))
}

/// What we answer to a request of a server: nobody is there to be asked, and that is said.
pub(crate) fn answer_to(id: Value, method: &str) -> Value {
    let mut answer = Map::from_iter([("jsonrpc".to_owned(), json!("2.0")), ("id".to_owned(), id)]);
    let result = match method {
        "ping" => Ok(json!({})),
        "roots/list" => Ok(json!({"roots": []})),
        "elicitation/create" => Ok(json!({"action": "decline"})),
        _ => Err(json!({"code": METHOD_NOT_FOUND, "message": format!("`{method}` is not supported here")})),
    };
    match result {
        Ok(result) => answer.insert("result".to_owned(), result),
        Err(error) => answer.insert("error".to_owned(), error),
    };
    Value::Object(answer)
}

/// What a progress notification says: its token, how far it is, of how much, and in words.
pub(crate) fn progress_of(params: &Value) -> Option<(i64, f64, Option<f64>, Option<&str>)> {
    let token = params.get("progressToken")?;
    let token = token.as_i64().or_else(|| token.as_str().and_then(|t| t.parse().ok()))?;
    Some((
        token,
        params.get("progress").and_then(Value::as_f64)?,
        params.get("total").and_then(Value::as_f64),
        params.get("message").and_then(Value::as_str),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let read = |v| Incoming::read(v);
        assert_eq!(read(json!({"id":1,"result":{"a":1}})), Some(Incoming::Answer(1, Ok(json!({"a":1})))));
        assert_eq!(read(json!({"id":"7","result":null})), Some(Incoming::Answer(7, Ok(Value::Null))));
        assert_eq!(read(json!({"id":2.0,"result":1})), Some(Incoming::Answer(2, Ok(json!(1)))));
        assert_eq!(
            read(json!({"id":"x","method":"ping"})),
            Some(Incoming::Request(json!("x"), "ping".into(), json!({})))
        );
        assert_eq!(
            read(json!({"method":"n","params":{"b":2}})),
            Some(Incoming::Notice("n".into(), json!({"b":2})))
        );
        for junk in
            [json!([]), json!("x"), json!({"id":1}), json!({"result":{}}), json!({"id":{},"result":1})]
        {
            assert_eq!(read(junk.clone()), None, "{junk}");
        }
    }

    #[test]
    fn an_odd_error_is_still_an_error() {
        let Some(Incoming::Answer(3, Err(error))) = Incoming::read(json!({"id":3,"error":"broken"})) else {
            panic!("not an error")
        };
        assert_eq!((error.code, error.message.as_str()), (0, "\"broken\""));
    }

    #[test]
    fn nobody_is_there_to_be_asked() {
        assert_eq!(answer_to(json!(1), "ping")["result"], json!({}));
        assert_eq!(answer_to(json!(1), "elicitation/create")["result"]["action"], "decline");
        assert_eq!(answer_to(json!(1), "sampling/createMessage")["error"]["code"], METHOD_NOT_FOUND);
    }
}
