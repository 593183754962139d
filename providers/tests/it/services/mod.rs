//! Every tool that calls a service, against a stand-in written from the vendor's published description.
//!
//! A [`Service`] says how a good call looks on the wire and what the vendor's refusals mean; what is the same for
//! all - a service that is slow, down, broken, that answers garbage, redirects, or has no key - is added here.

mod everyday;
mod messages;
mod pictures;
mod searches;

use std::time::Duration;

use domain::{ToolError, ToolOutput};
use serde_json::{Value, json};

use crate::stand_in::{Reply, StandIn};
use crate::support::{context, context_for, deps_with, invoke};

/// The key of every account of these tests. It must not show in anything that is said.
pub(crate) const KEY: &str = "canary-0123456789abcdef";

/// What is expected of a call.
pub(crate) enum Expect {
    /// A result whose text contains this, and whose data has these values at these places.
    Result(&'static str, Vec<(&'static str, Value)>),
    /// A failure that the tool reports in words that contain this.
    Failed(&'static str),
    /// An error of this code, whose words for the model contain this.
    Error(&'static str, &'static str),
}

/// A tool and the service behind it. `{base}` in params and credentials is the stand-in's address.
pub(crate) struct Service {
    pub(crate) tool: &'static str,
    pub(crate) params: Value,
    /// What the account has stored, by provider.
    pub(crate) credentials: Value,
    pub(crate) args: Value,
    /// What the service answers to a good call, in order.
    pub(crate) replies: Vec<Reply>,
    /// What it must have been sent, in order. Of the headers only those that are named are compared.
    pub(crate) requests: Vec<Value>,
    pub(crate) expect: Expect,
    /// Other answers to the first request, and what they mean.
    pub(crate) others: Vec<(&'static str, Reply, Expect)>,
}

impl Service {
    /// All that is tested of it.
    async fn check(self) {
        self.check_good().await;
        for (name, reply, expect) in &self.others {
            self.check_first_reply(name, reply.clone(), expect).await;
        }
        let html = "<html><body>It works!</body></html>";
        let common = [
            ("garbage", Reply::of(200, "text/html", html), Expect::Error("upstream", "")),
            ("nothing", Reply::of(200, "application/json", ""), Expect::Error("upstream", "")),
            ("another shape", Reply::json(200, &json!([1, "x"])), Expect::Error("upstream", "")),
            ("broken", Reply::of(500, "text/html", html), Expect::Error("upstream", "500")),
            (
                "too many",
                Reply::json(429, &json!({})).with("retry-after", "7"),
                Expect::Error("rate_limited", ""),
            ),
        ];
        for (name, reply, expect) in common {
            self.check_first_reply(name, reply, &expect).await;
        }
        self.check_slow().await;
        self.check_down().await;
        self.check_without_credentials().await;
    }

    async fn check_good(&self) {
        let stand_in = StandIn::start(self.replies.clone()).await;
        let result = self.call(&stand_in.base, &self.credentials, Duration::from_secs(20)).await;
        check(&format!("{}: good", self.tool), &result, &self.expect);
        let seen = stand_in.seen();
        assert_eq!(seen.len(), self.requests.len(), "{}: requests: {seen:#?}", self.tool);
        for (seen, expected) in seen.iter().zip(&self.requests) {
            for (field, expected) in expected.as_object().unwrap() {
                match field.as_str() {
                    "headers" => {
                        for (name, value) in expected.as_object().unwrap() {
                            assert_eq!(
                                &seen["headers"][name], value,
                                "{}: header {name} of {seen:#}",
                                self.tool
                            );
                        }
                    }
                    _ => assert_eq!(&seen[field], expected, "{}: {field} of {seen:#}", self.tool),
                }
            }
        }
    }

    async fn check_first_reply(&self, name: &str, reply: Reply, expect: &Expect) {
        let stand_in = StandIn::start(vec![reply]).await;
        let result = self.call(&stand_in.base, &self.credentials, Duration::from_secs(20)).await;
        check(&format!("{}: {name}", self.tool), &result, expect);
        assert_eq!(stand_in.seen().len(), 1, "{}: {name}: nothing is asked twice", self.tool);
    }

    async fn check_slow(&self) {
        let stand_in = StandIn::start(vec![Reply::Never]).await;
        let result = self.call(&stand_in.base, &self.credentials, Duration::from_millis(300)).await;
        check(&format!("{}: slow", self.tool), &result, &Expect::Error("timeout", ""));
    }

    async fn check_down(&self) {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let nobody = format!("http://{}", gone.local_addr().unwrap());
        drop(gone);
        let result = self.call(&nobody, &self.credentials, Duration::from_secs(20)).await;
        check(&format!("{}: down", self.tool), &result, &Expect::Error("unreachable", ""));
    }

    async fn check_without_credentials(&self) {
        let wants_none = self.credentials.as_object().is_none_or(|c| c.is_empty() || c.contains_key("jina"));
        if wants_none {
            return;
        }
        let stand_in = StandIn::start(vec![]).await;
        for stored in [json!({}), blank(&self.credentials)] {
            let result = self.call(&stand_in.base, &stored, Duration::from_secs(20)).await;
            check(
                &format!("{}: no credentials", self.tool),
                &result,
                &Expect::Error("missing_credential", ""),
            );
        }
        assert!(stand_in.seen().is_empty(), "{}: nothing is sent without a key", self.tool);
    }

    async fn call(&self, base: &str, credentials: &Value, time: Duration) -> Result<ToolOutput, ToolError> {
        let filled =
            |value: &Value| serde_json::from_str(&value.to_string().replace("{base}", base)).unwrap();
        let cx = context_for(time);
        invoke(deps_with(&filled(credentials)), self.tool, filled(&self.params), self.args.clone(), &cx).await
    }
}

/// The same fields with nothing in them.
fn blank(credentials: &Value) -> Value {
    match credentials {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), blank(value))).collect(),
        _ => json!(" "),
    }
}

pub(crate) fn check(case: &str, result: &Result<ToolOutput, ToolError>, expected: &Expect) {
    let said = match result {
        Ok(output) => serde_json::to_string(output).unwrap(),
        Err(error) => format!("{} {} {error:?}", error.for_model(), error.for_operator()),
    };
    assert!(!said.contains("canary"), "{case}: a secret is told: {said}");
    match (result, expected) {
        (Ok(output), Expect::Result(part, values)) => {
            assert!(!output.is_error && output.text().contains(part), "{case}: {}", output.text());
            let data = output.structured.clone().unwrap();
            for (place, value) in values {
                assert_eq!(data.pointer(place), Some(value), "{case}: {place} of {data:#}");
            }
        }
        (Ok(output), Expect::Failed(part)) => {
            assert!(output.is_error && output.text().contains(part), "{case}: {}", output.text());
        }
        (Err(error), Expect::Error(code, part)) => {
            assert_eq!(error.code(), *code, "{case}: {error:?}");
            assert!(error.for_model().contains(part), "{case}: {}", error.for_model());
        }
        (result, _) => panic!("{case}: {result:?}"),
    }
}

#[tokio::test]
async fn searches_ask_and_answer_as_described() {
    for service in searches::services() {
        service.check().await;
    }
}

#[tokio::test]
async fn messages_are_sent_and_refusals_understood() {
    for service in messages::services() {
        service.check().await;
    }
}

#[tokio::test]
async fn pictures_are_made_kept_and_handed_back() {
    for service in pictures::services() {
        service.check().await;
    }
}

#[tokio::test]
async fn everyday_services_ask_and_answer_as_described() {
    for service in everyday::services() {
        service.check().await;
    }
}

/// A call that is not of the table: one tool with its own params, against given replies.
pub(crate) async fn call_once(
    tool: &str,
    params: Value,
    credentials: &Value,
    args: Value,
    replies: Vec<Reply>,
) -> (Result<ToolOutput, ToolError>, Vec<Value>) {
    let stand_in = StandIn::start(replies).await;
    let filled = |value: &Value| -> Value {
        serde_json::from_str(&value.to_string().replace("{base}", &stand_in.base)).unwrap()
    };
    let result = invoke(deps_with(&filled(credentials)), tool, filled(&params), args, &context()).await;
    let seen = stand_in.seen();
    (result, seen)
}
