//! `haft doctor`: looks at everything a person would look at first.

use super::{
    args::Global,
    client::Api,
    failure::Failure,
    screen::{Report, table},
};
use crate::data::DataDir;
use boot::{Config, Defaults, ProcessEnvironment};
use domain::ToolKind;
use serde_json::{Value, json};

struct Check {
    name: &'static str,
    ok: bool,
    found: String,
}

pub(crate) async fn run(global: &Global) -> Result<Report, Failure> {
    let data = DataDir::new(&global.data);
    let mut checks = vec![configuration(&data), directory(&data), admin_key(&data)];
    match Api::connect(global, &ProcessEnvironment).await {
        Ok(api) => {
            let reached = match api.url() {
                Some(url) => format!("a server at {url}"),
                None => "no server: the store is opened in this process".to_owned(),
            };
            checks.push(Check { name: "reached", ok: true, found: reached });
            checks.extend(through(&api).await);
            api.close().await;
        }
        Err(failure) => checks.push(Check { name: "reached", ok: false, found: failure.text() }),
    }
    Ok(report(&checks))
}

fn configuration(data: &DataDir) -> Check {
    let defaults = Defaults { data: data.path().to_owned(), loopback_only: true, log: "warn" };
    let (ok, found) = match Config::read(&ProcessEnvironment, &defaults) {
        Ok(config) => {
            let ranges: Vec<_> = config.egress.allowed_ranges().iter().map(ToString::to_string).collect();
            let egress = ["public addresses".to_owned(), "this machine".to_owned()].into_iter().chain(ranges);
            let egress = egress.collect::<Vec<_>>().join(", ");
            (true, format!("commands: {:?}; outgoing: {egress}", config.stdio))
        }
        Err(error) => (false, error.to_string()),
    };
    Check { name: "configuration", ok, found }
}

fn directory(data: &DataDir) -> Check {
    let path = data.path().display();
    let found = match (data.path().is_dir(), data.holder()) {
        (_, Some(holder)) => format!("{path}, held by the server at {} (process {})", holder.url, holder.pid),
        (true, None) => format!("{path}, held by no server"),
        (false, None) => format!("{path} did not exist; it is made at the first use"),
    };
    Check { name: "data directory", ok: true, found }
}

fn admin_key(data: &DataDir) -> Check {
    let path = data.admin_key_path();
    let (ok, found) = match (data.admin_key(), data.admin_key_is_open()) {
        (Err(error), _) => (false, format!("{error:#}")),
        (Ok(None), _) => (true, "none yet; it is written at the first use".to_owned()),
        (Ok(Some(_)), Some(true)) => {
            let fix = format!("others can read {0}: chmod 600 {0}", path.display());
            (false, fix)
        }
        (Ok(Some(_)), _) => (true, format!("{}, for its owner alone", path.display())),
    };
    Check { name: "admin key", ok, found }
}

async fn through(api: &Api) -> Vec<Check> {
    let told = |name, answer: Result<String, Failure>| match answer {
        Ok(found) => Check { name, ok: true, found },
        Err(failure) => Check { name, ok: false, found: failure.text() },
    };
    let mut checks = vec![
        told("health", api.get("/health").await.map(|_| "ok".to_owned())),
        told("store and key", api.get("/audit?limit=1").await.map(|_| "can be read".to_owned())),
    ];
    for kind in ToolKind::ALL {
        let counted = api.list(&format!("/tools?kind={kind}")).await;
        checks.push(told(kind.as_str(), counted.map(|items| format!("{} tools", items.len()))));
    }
    checks
}

fn report(checks: &[Check]) -> Report {
    let row = |c: &Check| [if c.ok { "ok" } else { "WRONG" }.to_owned(), c.name.to_owned(), c.found.clone()];
    let text = table(["", "WHAT", "FOUND"], checks.iter().map(row).collect(), "");
    let value = |c: &Check| json!({"name": c.name, "ok": c.ok, "found": c.found});
    let values: Vec<Value> = checks.iter().map(value).collect();
    let wrong = checks.iter().filter(|c| !c.ok).count();
    let mut report = Report::new(text, json!({"ok": wrong == 0, "checks": values}));
    report.failed = (wrong > 0).then(|| format!("{wrong} of {} checks found something wrong", checks.len()));
    report
}
