//! `docs/builtin-tools.md`, made of the registry: `UPDATE_DOCS=1 cargo test -p providers` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use providers::catalogue::{self, ParamView, ProviderView, ToolView};
use serde_json::Value;

use crate::examples;

const HEAD: &str = "\
<!-- Made from the registry by the tests of `providers`. To change it, change the registry's files, then run
     `UPDATE_DOCS=1 cargo test -p providers`. -->

# The builtin tools

Each is called by its reference, `builtin_tool/PROVIDER/TOOL`. *Params* are set once, by an app's author; *arguments* are
filled in by each caller, usually a model. How to add a tool: [guides/builtin-tools.md](guides/builtin-tools.md).

";

#[test]
fn the_list_of_builtin_tools_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/builtin-tools.md");
    let fresh = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, fresh).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == fresh,
        "docs/builtin-tools.md is out of date: run UPDATE_DOCS=1 cargo test -p providers"
    );
}

fn document() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("| provider | tools | credentials |\n|---|---|---|\n");
    for provider in catalogue::providers() {
        let tools: Vec<_> = provider
            .tools
            .iter()
            .map(|tool| format!("[`{0}`](#{1}{0})", tool.name, anchor(&provider)))
            .collect();
        let keys: Vec<_> = provider.credentials.iter().map(|field| format!("`{}`", field.name)).collect();
        let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        let _ = writeln!(
            text,
            "| {} ({}) | {} | {keys} |",
            provider.label.en_us,
            provider.label.zh_hans,
            tools.join(", ")
        );
    }
    for provider in catalogue::providers() {
        let _ = write!(
            text,
            "\n## {}\n\n{} {}\n",
            provider.label.en_us, provider.description.en_us, provider.description.zh_hans
        );
        if !provider.credentials.is_empty() {
            let _ = write!(text, "\nCredentials, by `PUT /credentials/{}`:\n\n", provider.name);
            provider.credentials.iter().for_each(|field| text.push_str(&param(field)));
        }
        provider.tools.iter().for_each(|tool| text.push_str(&described(&provider, tool)));
    }
    text
}

/// Headings become anchors without their slash.
fn anchor(provider: &ProviderView) -> String {
    provider.name.to_owned()
}

fn described(provider: &ProviderView, tool: &ToolView) -> String {
    let path = format!("{}/{}", provider.name, tool.name);
    let mut text = format!(
        "\n### {path}\n\n**{} · {}.** {}\n",
        tool.label.en_us, tool.label.zh_hans, tool.description.en_us
    );
    let a = tool.annotations;
    let told = [
        (a.read_only, "reads only"),
        (a.destructive, "may destroy"),
        (a.idempotent, "may be repeated"),
        (a.open_world, "reaches outside"),
    ];
    let told: Vec<_> = told.into_iter().filter_map(|(is, words)| is.then_some(words)).collect();
    let _ = writeln!(
        text,
        "({})",
        if told.is_empty() { "none of the marks".to_owned() } else { told.join(", ") }
    );
    if !tool.params.is_empty() {
        text.push_str("\nParams:\n\n");
        tool.params.iter().for_each(|field| text.push_str(&param(field)));
    }
    if !tool.inputs.is_empty() {
        text.push_str("\nArguments:\n\n");
        for input in &tool.inputs {
            let need = if input.required { ", required" } else { "" };
            let choices = choices(&tool.args_schema["properties"][&input.name]);
            let _ = writeln!(
                text,
                "- `{}` ({}{need}): {}{choices}",
                input.name,
                input.kind,
                one_line(&input.description)
            );
        }
    }
    let example = examples::of(&path);
    text.push_str("\n```sh\n");
    let _ = write!(text, "haft call builtin_tool/{path} --args '{}'", example.args);
    if example.params != serde_json::json!({}) {
        let _ = write!(text, " --params '{}'", example.params);
    }
    text + "\n```\n"
}

/// The values of an enumeration, where it is one.
fn choices(property: &Value) -> String {
    let values = property.get("enum").or_else(|| property.pointer("/anyOf/0/enum")).and_then(Value::as_array);
    let values: Vec<_> = values
        .into_iter()
        .flatten()
        .filter(|value| !value.is_null())
        .map(|value| format!("`{}`", value.as_str().unwrap()))
        .collect();
    if values.is_empty() { String::new() } else { format!(" One of {}.", values.join(", ")) }
}

fn param(param: &ParamView) -> String {
    let mut text = format!("- `{}` ({}", param.name, param.kind);
    if param.required {
        text.push_str(", required");
    }
    if !param.default.is_null() {
        let _ = write!(
            text,
            ", else `{}`",
            param.default.as_str().map_or_else(|| param.default.to_string(), str::to_owned)
        );
    }
    let _ = write!(text, "): {}", param.label.en_us);
    if let Some(help) = param.help {
        let _ = write!(text, ". {}", help.en_us.trim_end_matches('.'));
    }
    let options: Vec<_> =
        param.options.iter().map(|option| format!("`{}` ({})", option.value, option.label.en_us)).collect();
    if !options.is_empty() {
        let _ = write!(text, ". One of {}", options.join(", "));
    }
    if !(param.min.is_null() && param.max.is_null()) {
        let _ = write!(text, ". From {} to {}", param.min, param.max);
    }
    text + ".\n"
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
