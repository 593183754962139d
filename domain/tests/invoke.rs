//! The road of a call: what each step lets through, refuses and records.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it stands")]

use async_trait::async_trait;
use bytes::Bytes;
use domain::{
    AccountId, Annotations, CallContext, Content, Entry, Origin, ProblemCode, Schema, Tool, ToolError,
    ToolKind, ToolOutput, ToolRef, ToolSpec, Toolset, Unresolved,
    ports::{AuditRecord, AuditSink, Blob, BlobError, BlobInfo, BlobLink, Blobs},
    toolset::{ApprovalPolicy, Limits, Runtime},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

type Behaviour = Box<dyn Fn(Value) -> Result<ToolOutput, ToolError> + Send + Sync>;

/// A tool that does what the test says; `hang` waits for ever and notes when it is dropped.
struct Scripted {
    spec: ToolSpec,
    does: Behaviour,
    hang: Option<Arc<AtomicBool>>,
}

struct NoteDrop(Arc<AtomicBool>);

impl Drop for NoteDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Value, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        if let Some(dropped) = &self.hang {
            let _note = NoteDrop(dropped.clone());
            std::future::pending::<()>().await;
        }
        (self.does)(args)
    }
}

#[derive(Default)]
struct Recorder(Mutex<Vec<AuditRecord>>);

impl AuditSink for Recorder {
    fn record(&self, record: AuditRecord) {
        self.0.lock().unwrap().push(record);
    }
}

#[derive(Default)]
struct MemoryBlobs(Mutex<HashMap<String, (Bytes, String)>>);

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(
        &self,
        key: &str,
        bytes: Bytes,
        media: &str,
        _keep: Option<Duration>,
    ) -> Result<(), BlobError> {
        self.0.lock().unwrap().insert(key.to_owned(), (bytes, media.to_owned()));
        Ok(())
    }

    async fn get(&self, key: &str, _max: u64) -> Result<Blob, BlobError> {
        let info = self.info(key).await?;
        Ok(Blob { info, bytes: self.0.lock().unwrap()[key].0.clone() })
    }

    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError> {
        let held = self.0.lock().unwrap();
        let (bytes, media) = held.get(key).ok_or_else(|| BlobError::NotFound(key.to_owned()))?;
        Ok(BlobInfo { content_type: media.clone(), size: bytes.len() as u64, expires_at: None })
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        self.0.lock().unwrap().remove(key);
        Ok(())
    }

    async fn link(&self, key: &str, _keep: Duration) -> Result<BlobLink, BlobError> {
        Ok(BlobLink { url: format!("blob:{key}"), expires_at: Timestamp::UNIX_EPOCH })
    }

    async fn upload_link(&self, key: &str, _max: u64, keep: Duration) -> Result<BlobLink, BlobError> {
        self.link(key, keep).await
    }
}

fn reference(tool: &str) -> ToolRef {
    ToolRef::new(ToolKind::BuiltinTool, "test", tool)
}

fn scripted(
    name: &str,
    annotations: Annotations,
    does: Behaviour,
    hang: Option<Arc<AtomicBool>>,
) -> Arc<dyn Tool> {
    let schema = json!({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false});
    let spec = ToolSpec {
        name: name.into(),
        title: name.into(),
        description: String::new(),
        args_schema: Schema::new(schema),
        output_schema: None,
        annotations,
        origin: Origin { kind: ToolKind::BuiltinTool, provider_name: "test".into(), revision: 0 },
    };
    Arc::new(Scripted { spec, does, hang })
}

struct Bench {
    set: Toolset,
    audit: Arc<Recorder>,
    blobs: Arc<MemoryBlobs>,
    dropped: Arc<AtomicBool>,
}

fn bench(approval: ApprovalPolicy, with_blobs: bool) -> Bench {
    let audit = Arc::new(Recorder::default());
    let blobs = Arc::new(MemoryBlobs::default());
    let dropped = Arc::new(AtomicBool::new(false));
    let limits = Limits { args_bytes: 1000, inline_bytes: 100, output_bytes: 300, ..Limits::default() };
    let runtime = Runtime {
        audit: audit.clone(),
        blobs: with_blobs.then(|| blobs.clone() as Arc<dyn Blobs>),
        limits,
        ..Runtime::default()
    };
    let worst = Annotations::default();
    let tools: Vec<Arc<dyn Tool>> = vec![
        scripted(
            "echo",
            Annotations::PURE,
            Box::new(|args| Ok(ToolOutput::structured(args.to_string(), args))),
            None,
        ),
        scripted("wipe", worst, Box::new(|_| Ok(ToolOutput::text_of("wiped"))), None),
        scripted("fail", Annotations::PURE, Box::new(|_| Ok(ToolOutput::failed("no luck"))), None),
        scripted("panic", Annotations::PURE, Box::new(|_| panic!("boom")), None),
        scripted("big", Annotations::PURE, Box::new(|_| Ok(ToolOutput::text_of("x".repeat(150)))), None),
        scripted("hang", Annotations::PURE, Box::new(|_| Err(ToolError::Cancelled)), Some(dropped.clone())),
    ];
    let refs = tools.iter().map(|t| reference(&t.spec().name)).collect();
    let set = Toolset::new(refs, tools.into_iter().map(Ok).collect(), &[], approval, Arc::new(runtime));
    Bench { set, audit, blobs, dropped }
}

fn context(timeout: Duration) -> CallContext {
    CallContext::new(AccountId::generate(), Entry::Api, "req-1", timeout)
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_call_is_repaired_validated_made_and_recorded() {
    let bench = bench(ApprovalPolicy::Never, true);
    let output = bench.set.invoke("echo", json!({"n": "5"}), &context(LONG)).await.unwrap();
    assert_eq!(output.structured, Some(json!({"n": 5})));
    let records = bench.audit.0.lock().unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].outcome.as_str(), records[0].tool.as_str()), ("ok", "builtin_tool/test/echo"));
}

#[tokio::test]
async fn every_refusal_has_its_code_and_is_recorded() {
    let cases = [
        ("echo", json!({"n": "five"}), "invalid_args"),
        ("echo", json!({}), "invalid_args"),
        ("echo", json!({"n": 1, "x": "y".repeat(2000)}), "too_large"),
        ("absent", json!({}), "not_found"),
        ("panic", json!({"n": 1}), "internal"),
    ];
    let bench = bench(ApprovalPolicy::Never, true);
    for (name, args, code) in cases {
        let error = bench.set.invoke(name, args, &context(LONG)).await.unwrap_err();
        assert_eq!(error.code(), code, "{name}");
        assert_eq!(bench.audit.0.lock().unwrap().last().unwrap().outcome, code);
    }
}

#[tokio::test]
async fn violations_point_into_the_arguments() {
    let bench = bench(ApprovalPolicy::Never, true);
    let error = bench.set.invoke("echo", json!({"n": [1]}), &context(LONG)).await.unwrap_err();
    let ToolError::InvalidArgs { violations } = error else { panic!("{error}") };
    assert_eq!(violations[0].path, "/n");
}

#[tokio::test]
async fn a_failure_that_the_tool_reports_is_a_result() {
    let bench = bench(ApprovalPolicy::Never, true);
    let output = bench.set.invoke("fail", json!({"n": 1}), &context(LONG)).await.unwrap();
    assert!(output.is_error);
    assert_eq!(bench.audit.0.lock().unwrap()[0].outcome, "tool_error");
}

#[tokio::test]
async fn approval_is_asked_by_policy_and_our_own_annotations() {
    for (policy, tool, refused) in [
        (ApprovalPolicy::Never, "wipe", false),
        (ApprovalPolicy::Destructive, "wipe", true),
        (ApprovalPolicy::Destructive, "echo", false),
        (ApprovalPolicy::Always, "echo", true),
    ] {
        let bench = bench(policy, true);
        let mut cx = context(LONG);
        let result = bench.set.invoke(tool, json!({"n": 1}), &cx).await;
        assert_eq!(result.is_err_and(|e| e.code() == "needs_approval"), refused, "{policy:?} {tool}");
        cx.approved = true;
        assert!(bench.set.invoke(tool, json!({"n": 1}), &cx).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_past_its_deadline_ends_and_is_dropped() {
    let bench = bench(ApprovalPolicy::Never, true);
    let error =
        bench.set.invoke("hang", json!({"n": 1}), &context(Duration::from_secs(5))).await.unwrap_err();
    assert_eq!(error.code(), "timeout");
    assert!(bench.dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_cancelled_call_ends_and_is_dropped() {
    let bench = bench(ApprovalPolicy::Never, true);
    let cx = context(LONG);
    let cancel = cx.cancel.clone();
    let (result, ()) = tokio::join!(bench.set.invoke("hang", json!({"n": 1}), &cx), async {
        cancel.cancel();
    });
    assert_eq!(result.unwrap_err().code(), "cancelled");
    assert!(bench.dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn large_content_becomes_a_link_or_is_refused_where_there_are_no_blobs() {
    let with = bench(ApprovalPolicy::Never, true);
    let cx = context(LONG);
    let output = with.set.invoke("big", json!({"n": 1}), &cx).await.unwrap();
    let Content::ResourceLink { uri, .. } = &output.content[0] else { panic!("{output:?}") };
    let stored = with.blobs.get(uri.trim_start_matches("blob:"), 1000).await.unwrap();
    assert_eq!((stored.bytes.len(), stored.info.content_type.as_str()), (150, "text/plain; charset=utf-8"));
    assert!(uri.contains(cx.account.as_str()));

    let without = bench(ApprovalPolicy::Never, false);
    let error = without.set.invoke("big", json!({"n": 1}), &context(LONG)).await.unwrap_err();
    assert_eq!(error.code(), "too_large");
}

#[test]
fn one_bad_reference_never_spoils_the_others_and_a_repeated_one_is_taken_once() {
    let tool = |name: &str| scripted(name, Annotations::PURE, Box::new(|_| Ok(ToolOutput::default())), None);
    let refs = vec![reference("a"), reference("gone"), reference("b"), reference("a")];
    let gone = Unresolved::new(ProblemCode::ToolNotFound, "there is no tool `gone`");
    let resolved = vec![Ok(tool("a")), Err(gone), Ok(tool("b")), Ok(tool("a"))];
    let set = Toolset::new(refs, resolved, &[], ApprovalPolicy::Never, Arc::default());
    assert_eq!(set.entries().iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let problems: Vec<_> = set.problems().iter().map(|p| (p.index, p.code)).collect();
    assert_eq!(problems, [(1, ProblemCode::ToolNotFound), (3, ProblemCode::Duplicate)]);
}
