//! `code`: a function in a sandbox (QuickJS), with limits on memory, stack and time, and no way out.
//!
//! The engine has no I/O of its own, and none is given to it: no modules, no timers, no console. Each run has
//! a runtime of its own, thrown away afterwards.

use super::{NodeError, Values};
use crate::graph::{Variable, describe};
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Runtime, context::intrinsic};
use serde_json::{Map, Value};
use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// The longest source, in bytes.
const MAX_SOURCE: usize = 100_000;
/// The memory of one run, in bytes.
const MEMORY: usize = 32 * 1024 * 1024;
/// The stack of one run, in bytes; well within that of a blocking thread.
const STACK: usize = 512 * 1024;
/// The largest result, in bytes of JSON.
const MAX_OUTPUT: usize = 1024 * 1024;
/// How long code runs where its node sets no timeout.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long code may take to define itself when it is checked.
const CHECK_TIME: Duration = Duration::from_millis(200);

/// What the language offers: all of it that neither measures time finely nor depends on garbage collection.
type Offered = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// How much code runs side by side in this process: it holds a thread and up to [`MEMORY`] each.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    Semaphore::new(cores * 2)
});

/// Whether code can be loaded and defines `main`; else a sentence.
pub(crate) fn check(source: &str) -> Result<(), String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("the code has {} bytes; at most {MAX_SOURCE} are taken", source.len()));
    }
    let limits = Limits { stop: Arc::default(), until: Instant::now() + CHECK_TIME };
    in_sandbox(&limits, |ctx| load(ctx, source).map(|_| ())).map_err(|fault| fault.message)
}

/// Calls `main` with the inputs. Dropping the future stops the code.
pub(crate) async fn run(
    source: &Arc<str>,
    inputs: &Values,
    declared: &[Variable],
    timeout: Duration,
) -> Result<Map<String, Value>, NodeError> {
    let _place = PLACES.acquire().await.map_err(|_| NodeError::new("internal", "the sandbox is closed"))?;
    let stop = StopOnDrop::default();
    let limits = Limits { stop: stop.0.clone(), until: Instant::now() + timeout };
    let (source, inputs) = (source.clone(), inputs.clone());
    let ran = tokio::task::spawn_blocking(move || in_sandbox(&limits, |ctx| call(ctx, &source, &inputs)));
    let text = ran.await.map_err(|_| NodeError::new("internal", "the sandbox failed"))??;
    let result = serde_json::from_str(&text)
        .map_err(|error| NodeError::new("code_result", format!("`main` gave what is not JSON: {error}")))?;
    match result {
        Value::Object(result) => pick(result, declared),
        other => {
            let message = format!("`main` must return an object; it returned {}", describe(&other));
            Err(NodeError::new("code_result", message))
        }
    }
}

/// The declared outputs of what `main` returned.
fn pick(mut result: Map<String, Value>, declared: &[Variable]) -> Result<Map<String, Value>, NodeError> {
    let one = |variable: &Variable| {
        let value = match result.remove(&variable.name) {
            None | Some(Value::Null) if !variable.required => Ok(variable.absent_value()),
            None => Err("nothing"),
            Some(value) => variable.kind.coerce(value),
        };
        value.map(|value| (variable.name.clone(), value)).map_err(|is| {
            let message = format!("`main` must return `{}` as {}, it is {is}", variable.name, variable.kind);
            NodeError::new("code_result", message)
        })
    };
    declared.iter().map(one).collect()
}

#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Limits {
    stop: Arc<AtomicBool>,
    until: Instant,
}

impl Limits {
    fn reached(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

fn in_sandbox<T>(
    limits: &Limits,
    run: impl FnOnce(&Ctx<'_>) -> Result<T, NodeError>,
) -> Result<T, NodeError> {
    let broken = |error: rquickjs::Error| NodeError::new("internal", format!("the sandbox failed: {error}"));
    let runtime = Runtime::new().map_err(broken)?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    let (stop, until) = (limits.stop.clone(), limits.until);
    let watched = Limits { stop, until };
    runtime.set_interrupt_handler(Some(Box::new(move || watched.reached())));
    let context = Context::custom::<Offered>(&runtime).map_err(broken)?;
    let result = context.with(|ctx| run(&ctx));
    // What stopped the code may have been caught and turned into another failure by the code itself.
    if matches!(&result, Err(error) if error.code == "code_failed") && limits.reached() {
        return Err(NodeError::passing("timeout", "the code ran too long and was stopped"));
    }
    result
}

fn load<'js>(ctx: &Ctx<'js>, source: &str) -> Result<Function<'js>, NodeError> {
    ctx.eval::<(), _>(source).catch(ctx).map_err(|error| thrown(&error))?;
    let missing = || {
        NodeError::new("code_invalid", "the code must define `function main(inputs)` and return an object")
    };
    ctx.eval::<Function<'js>, _>("main").map_err(|_| {
        // The exception would otherwise be found by the next call.
        ctx.catch();
        missing()
    })
}

fn call(ctx: &Ctx<'_>, source: &str, inputs: &Map<String, Value>) -> Result<String, NodeError> {
    let main = load(ctx, source)?;
    let text = serde_json::to_string(inputs)
        .map_err(|error| NodeError::new("internal", format!("the inputs are not JSON: {error}")))?;
    let run = || -> rquickjs::Result<Option<String>> {
        let given = ctx.json_parse(text)?;
        let mut result: rquickjs::Value<'_> = main.call((given,))?;
        if let Some(promise) = result.as_promise() {
            result = promise.finish()?;
        }
        ctx.json_stringify(result)?.map(|text| text.to_string()).transpose()
    };
    let text = run().catch(ctx).map_err(|error| thrown(&error))?.unwrap_or_else(|| "null".to_owned());
    if text.len() > MAX_OUTPUT {
        let message = format!("`main` returned {} bytes; at most {MAX_OUTPUT} are taken", text.len());
        return Err(NodeError::new("code_too_large", message));
    }
    Ok(text)
}

fn thrown(error: &CaughtError<'_>) -> NodeError {
    let message = match error {
        CaughtError::Exception(exception) => {
            let what = exception.message().unwrap_or_default();
            if what == "out of memory" {
                let message = format!("the code needs more than {} MiB", MEMORY / (1024 * 1024));
                return NodeError::new("code_memory", message);
            }
            let stack = exception.stack().unwrap_or_default();
            let at = stack.lines().next().map(str::trim).filter(|line| !line.is_empty());
            at.map_or_else(|| what.clone(), |at| format!("{what} ({at})"))
        }
        CaughtError::Error(rquickjs::Error::WouldBlock) => {
            "`main` returned a promise that nothing fulfils".to_owned()
        }
        CaughtError::Error(error) => error.to_string(),
        CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => format!("the code threw: {text}"),
            None => "the code threw something that is not an Error".to_owned(),
        },
    };
    NodeError::new("code_failed", message.chars().take(2000).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::VarType;
    use serde_json::json;

    fn variable(name: &str, kind: VarType) -> Variable {
        serde_json::from_value(json!({"name": name, "type": kind})).unwrap()
    }

    async fn run_code(source: &str) -> Result<Map<String, Value>, NodeError> {
        run_for(source, DEFAULT_TIMEOUT).await
    }

    async fn run_for(source: &str, time: Duration) -> Result<Map<String, Value>, NodeError> {
        let inputs = json!({"n": 20, "list": [3, 1, 2], "text": "héllo"});
        let declared = [variable("out", VarType::Object)];
        let source = format!("function main(inputs) {{ {source} }}").into();
        let inputs = Arc::new(inputs.as_object().unwrap().clone());
        run(&source, &inputs, &declared, time).await
    }

    #[tokio::test]
    async fn the_function_sees_its_inputs_and_its_object_comes_back() {
        let source = "return {out: {n: inputs.n * 2, l: inputs.list.sort(), t: inputs.text.toUpperCase(), \
                      u: undefined}}";
        let out = run_code(source).await.unwrap();
        assert_eq!(out["out"], json!({"n": 40, "l": [1, 2, 3], "t": "HÉLLO"}));
        let asynchronous: Arc<str> = "async function main(i) { await null; return {out: {}} }".into();
        let declared = [variable("out", VarType::Object)];
        run(&asynchronous, &Values::default(), &declared, DEFAULT_TIMEOUT).await.unwrap();
    }

    #[tokio::test]
    async fn what_runs_or_grows_without_end_is_stopped() {
        let cases = [
            ("for (;;) {}", "timeout"),
            ("try { for (;;) {} } catch (e) {} for (;;) {}", "timeout"),
            ("return {out: {a: /(a+)+$/.test('a'.repeat(40) + 'b')}}", "timeout"),
            ("const l = []; for (;;) l.push('x'.repeat(100000) + l.length)", "code_memory"),
            ("return {out: {s: 'a'.repeat(2 ** 29)}}", "code_memory"),
            ("return {out: {b: new Uint8Array(2 ** 30)}}", "code_failed"),
            ("const f = () => f() + 1; return {out: f()}", "code_failed"),
            ("let o = {}; for (let i = 0; i < 200000; i++) o = {o}; return {out: o}", "code_failed"),
            ("return {out: {s: 'a'.repeat(3000000)}}", "code_too_large"),
            ("return new Promise(() => {})", "code_failed"),
            ("const again = () => Promise.resolve().then(again); return again()", "timeout"),
            ("return {out: 1}", "code_result"),
            ("return 1", "code_result"),
            ("throw new Error('no')", "code_failed"),
            ("return {out: {x: 10n}}", "code_failed"),
        ];
        for (source, code) in cases {
            let time = if code == "timeout" { Duration::from_millis(300) } else { DEFAULT_TIMEOUT };
            let error = run_for(source, time).await.expect_err(source);
            assert!(
                error.code == code || (code == "code_failed" && error.code == "code_memory"),
                "{source}: {error:?}"
            );
        }
    }

    #[tokio::test]
    async fn there_is_no_way_out() {
        for name in
            ["fetch", "require", "process", "std", "os", "setTimeout", "console", "Deno", "performance"]
        {
            let out = run_code(&format!("return {{out: {{t: typeof {name}}}}}")).await.unwrap();
            assert_eq!(out["out"], json!({"t": "undefined"}), "{name}");
        }
        let error = run_code("return import('fs').then(x => ({out: {}}))").await.unwrap_err();
        assert_eq!(error.code, "code_failed");
    }

    #[tokio::test]
    async fn runs_share_nothing() {
        run_code("globalThis.kept = 1; Object.prototype.kept = 1; return {out: {}}").await.unwrap();
        let out = run_code("return {out: {t: typeof kept, p: typeof ({}).kept}}").await.unwrap();
        assert_eq!(out["out"], json!({"t": "undefined", "p": "undefined"}));
    }

    #[tokio::test]
    async fn dropping_the_run_stops_the_code() {
        let before = PLACES.available_permits();
        let endless = Arc::<str>::from("function main() { for (;;) {} }");
        let inputs = Values::default();
        let run = run(&endless, &inputs, &[], Duration::from_secs(3600));
        assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
        // The runtime of this test waits for its blocking threads when it ends: a code still running would hang.
        assert_eq!(PLACES.available_permits(), before);
    }

    #[test]
    fn code_is_checked_before_it_runs() {
        assert!(check("function main(inputs) { return {} }").is_ok());
        assert!(check("const main = inputs => ({})").is_ok());
        for bad in ["function main( {", "function other() {}", "let main = 1", "for (;;) {}"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
