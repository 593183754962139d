//! `params` of a tool and `credentials` of a provider: what an app's author or an operator sets.

use super::fields::{self, Cursor, Fields};
use super::model::{Param, ParamKind};
use super::select;
use crate::diagnostic::Problems;
use crate::names;
use crate::source::At;

const KEYS: &[&str] =
    &["name", "label", "help", "type", "required", "default", "min", "max", "integer", "options"];
const TYPES: [&str; 5] = ["string", "number", "boolean", "select", "password"];

/// Past this an integer is not exact in JSON.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn read(cursor: Option<Cursor<'_>>, problems: &mut Problems) -> Vec<Param> {
    let items = cursor.map_or_else(Vec::new, |cursor| cursor.list("`params`", problems));
    let params: Vec<_> = items.into_iter().filter_map(|item| param(item, "a parameter", problems)).collect();
    fields::unique("the parameter", params.iter().map(|param| &param.name), problems);
    params
}

pub(super) fn read_credentials(cursor: Option<Cursor<'_>>, problems: &mut Problems) -> Vec<Param> {
    let items = cursor.map_or_else(Vec::new, |cursor| cursor.list("`credentials`", problems));
    let mut credentials = Vec::new();
    for item in items {
        let Some(credential) = param(item, "a credential", problems) else {
            continue;
        };
        if !matches!(credential.kind, ParamKind::Password | ParamKind::String { .. }) {
            problems
                .at(
                    &credential.name.place,
                    format!("the credential `{}` has a wrong type", credential.name.value),
                )
                .help("a credential's type is `password` or `string`");
        }
        credentials.push(credential);
    }
    fields::unique("the credential", credentials.iter().map(|credential| &credential.name), problems);
    credentials
}

fn param(item: Cursor<'_>, what: &str, problems: &mut Problems) -> Option<Param> {
    let fields = item.fields(what, KEYS, problems)?;
    let name = fields.required("name", problems).and_then(|c| c.name(&format!("{what}'s name"), problems));
    let label = fields.required("label", problems).and_then(|c| c.localized("label", problems));
    let help = fields.optional("help").and_then(|c| c.localized("help", problems));
    let required = fields.optional("required").map_or(Some(false), |c| c.boolean("`required`", problems));
    let kind = fields.required("type", problems).and_then(|c| c.text("the type", problems));
    let kind = kind.and_then(|name| kind_of(&name, &fields, problems));
    let param = Param { name: name?, label: label?, help, required: required?, kind: kind? };
    if let (true, true, Some(place)) = (param.required, param.kind.has_default(), fields.key("default")) {
        problems
            .at(&place, format!("`{}` is required, so its default is never used", param.name.value))
            .help("remove `default`, or remove `required: true`");
    }
    Some(param)
}

fn kind_of(name: &At<String>, fields: &Fields<'_>, problems: &mut Problems) -> Option<ParamKind> {
    let own: &[&str] = match name.value.as_str() {
        "string" | "boolean" => &["default"],
        "number" => &["default", "min", "max", "integer"],
        "select" => &["default", "options"],
        "password" => &[],
        other => {
            problems
                .at(&name.place, format!("`{other}` is not a type of parameter"))
                .help_if(names::suggestion(other, TYPES))
                .help(format!("the types are {}", names::list(TYPES)));
            return None;
        }
    };
    for key in ["default", "min", "max", "integer", "options"] {
        if let (false, Some(place)) = (own.contains(&key), fields.key(key)) {
            let problem = problems.at(&place, format!("a `{}` parameter has no `{key}`", name.value));
            if (name.value.as_str(), key) == ("password", "default") {
                problem.help(
                    "a secret does not belong into a file; mark the parameter `required: true` instead",
                );
            }
        }
    }
    match name.value.as_str() {
        "string" => {
            let default = optional(fields.optional("default"), |c| c.text("the default", problems)).ok()?;
            Some(ParamKind::String { default: default.map(|text| text.value) })
        }
        "boolean" => {
            let default =
                optional(fields.optional("default"), |c| c.boolean("the default", problems)).ok()?;
            Some(ParamKind::Boolean { default })
        }
        "number" => number(fields, problems),
        "select" => select::read(fields, problems),
        _ => Some(ParamKind::Password),
    }
}

/// A wrong value was reported already.
pub(super) struct Reported;

/// A key that may be absent, but not wrong.
pub(super) fn optional<'a, T>(
    cursor: Option<Cursor<'a>>,
    mut read: impl FnMut(Cursor<'a>) -> Option<T>,
) -> Result<Option<T>, Reported> {
    cursor.map(|cursor| read(cursor).ok_or(Reported)).transpose()
}

fn number(fields: &Fields<'_>, problems: &mut Problems) -> Option<ParamKind> {
    let integer =
        optional(fields.optional("integer"), |c| c.boolean("`integer`", problems)).ok()?.unwrap_or(false);
    let mut read = |key: &str| {
        optional(fields.optional(key), |c| {
            let number = c.number(&format!("`{key}`"), problems)?;
            let usable = number.value.is_finite() && (!integer || is_exact_integer(number.value));
            if !usable {
                problems.at(
                    &number.place,
                    format!("`{key}` must be {}", if integer { "a whole number" } else { "finite" }),
                );
            }
            usable.then_some(number)
        })
    };
    let (default, min, max) = (read("default"), read("min"), read("max"));
    let (default, min, max) = (default.ok()?, min.ok()?, max.ok()?);
    check_range(default.as_ref(), min.as_ref(), max.as_ref(), problems);
    let value = |at: Option<At<f64>>| at.map(|at| at.value);
    let (default, min, max) = (value(default), value(min), value(max));
    Some(if integer {
        ParamKind::Integer { default: default.map(whole), min: min.map(whole), max: max.map(whole) }
    } else {
        ParamKind::Number { default, min, max }
    })
}

fn check_range(
    default: Option<&At<f64>>,
    min: Option<&At<f64>>,
    max: Option<&At<f64>>,
    problems: &mut Problems,
) {
    if let (Some(min), Some(max)) = (min, max)
        && min.value > max.value
    {
        problems.at(&min.place, format!("`min` {} is greater than `max` {}", min.value, max.value));
    }
    let Some(default) = default else { return };
    if let Some(min) = min.filter(|min| default.value < min.value) {
        problems
            .at(&default.place, format!("the default {} is less than `min` {}", default.value, min.value));
    }
    if let Some(max) = max.filter(|max| default.value > max.value) {
        problems
            .at(&default.place, format!("the default {} is greater than `max` {}", default.value, max.value));
    }
}

fn is_exact_integer(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= EXACT
}

#[expect(clippy::cast_possible_truncation, reason = "only called on what `is_exact_integer` accepted")]
fn whole(value: f64) -> i64 {
    value as i64
}
