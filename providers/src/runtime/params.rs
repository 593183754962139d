//! A reference's `params`, checked against what the tool declares. Every problem is found, not the first only.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde_json::{Map, Value};

use super::{BuildError, Choice, Param, ParamKind};
use crate::nearest::hint;

/// The longest text a parameter may hold, in bytes.
const LONGEST: usize = 16 * 1024;

/// What is wrong with one parameter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{param}` {message}")]
pub struct ParamProblem {
    /// Its name.
    pub param: String,
    /// What is wrong, to be read after the name. Never the value.
    pub message: String,
}

/// Values that meet their declarations, defaults filled in. The generated parameter structs are made of it.
#[derive(Debug)]
pub struct Checked(BTreeMap<&'static str, Given>);

#[derive(Debug)]
enum Given {
    Text(String),
    Number(f64),
    Integer(i64),
    Boolean(bool),
    Secret(SecretString),
}

/// Checks `values` against the declarations.
///
/// An empty text and `null` count as not set: that is what forms send for a field left alone.
///
/// # Errors
/// Everything that is wrong, in the order of the declarations; then what is not declared.
pub fn check(params: &'static [Param], values: &Map<String, Value>) -> Result<Checked, Vec<ParamProblem>> {
    let mut checked = BTreeMap::new();
    let mut problems = Vec::new();
    for param in params {
        match check_one(param, values.get(param.name)) {
            Ok(Some(given)) => {
                checked.insert(param.name, given);
            }
            Ok(None) => {}
            Err(message) => problems.push(ParamProblem { param: param.name.to_owned(), message }),
        }
    }
    let known = params.iter().map(|param| param.name);
    for name in values.keys().filter(|name| !params.iter().any(|param| param.name == name.as_str())) {
        let message = format!("is not a parameter of this tool: {}", hint(name, "parameters", known.clone()));
        problems.push(ParamProblem { param: name.chars().take(64).collect(), message });
    }
    if problems.is_empty() { Ok(Checked(checked)) } else { Err(problems) }
}

/// The value, where the registry promises one.
///
/// # Errors
/// When there is none all the same, which only a fault of the generated code can cause.
pub fn present<T>(name: &'static str, value: Option<T>) -> Result<T, BuildError> {
    value.ok_or_else(|| BuildError::Internal(format!("the parameter `{name}` has no value")))
}

fn check_one(param: &Param, value: Option<&Value>) -> Result<Option<Given>, String> {
    match value {
        None | Some(Value::Null) => absent(param),
        Some(Value::String(text)) if text.is_empty() => absent(param),
        Some(value) => given(&param.kind, value).map(Some),
    }
}

fn absent(param: &Param) -> Result<Option<Given>, String> {
    if param.required {
        return Err("is required, and not set".to_owned());
    }
    Ok(match param.kind {
        ParamKind::String { default } | ParamKind::Select { default, .. } => {
            default.map(|text| Given::Text(text.to_owned()))
        }
        ParamKind::Number { default, .. } => default.map(Given::Number),
        ParamKind::Integer { default, .. } => default.map(Given::Integer),
        ParamKind::Boolean { default } => default.map(Given::Boolean),
        ParamKind::Password => None,
    })
}

fn given(kind: &ParamKind, value: &Value) -> Result<Given, String> {
    match *kind {
        ParamKind::String { .. } => text(value).map(Given::Text),
        ParamKind::Password => text(value).and_then(secret),
        ParamKind::Boolean { .. } => {
            value.as_bool().map(Given::Boolean).ok_or_else(|| "must be true or false".to_owned())
        }
        ParamKind::Number { min, max, .. } => {
            let number = value.as_f64().ok_or("must be a number")?;
            in_range(number, min, max).map(Given::Number)
        }
        ParamKind::Integer { min, max, .. } => {
            let number = integer(value).ok_or("must be a whole number")?;
            in_range(number, min, max).map(Given::Integer)
        }
        ParamKind::Select { options, .. } => option(options, value).map(Given::Text),
    }
}

fn text(value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or("must be a text")?;
    if text.len() > LONGEST {
        return Err(format!("is longer than {LONGEST} bytes"));
    }
    Ok(text.to_owned())
}

fn secret(text: String) -> Result<Given, String> {
    if text == domain::secret::MASK {
        return Err("is masked, and no value is stored for it: send the value itself".to_owned());
    }
    Ok(Given::Secret(SecretString::from(text)))
}

fn option(options: &[Choice], value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or("must be a text")?;
    if options.iter().any(|option| option.value == text) {
        return Ok(text.to_owned());
    }
    let known = options.iter().map(|option| option.value);
    Err(format!("is not one of its options: {}", hint(text, "options", known)))
}

/// A whole number, also where JSON wrote it as `2.0`.
fn integer(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() <= EXACT)?;
        #[expect(clippy::cast_possible_truncation, reason = "whole, and within what both types hold exactly")]
        let number = number as i64;
        Some(number)
    })
}

fn in_range<T: PartialOrd + std::fmt::Display>(
    value: T,
    min: Option<T>,
    max: Option<T>,
) -> Result<T, String> {
    match (min, max) {
        (Some(min), _) if value < min => Err(format!("must be at least {min}")),
        (_, Some(max)) if value > max => Err(format!("must be at most {max}")),
        _ => Ok(value),
    }
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident -> $ty:ty;)+) => {
        impl Checked {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// When the value is of another type, which only a fault of the generated code can cause.
                pub fn $name(&self, name: &'static str) -> Result<Option<$ty>, BuildError> {
                    match self.0.get(name) {
                        None => Ok(None),
                        Some(Given::$variant(value)) => Ok(Some(value.clone())),
                        Some(_) => Err(mistyped(name)),
                    }
                }
            )+
        }
    };
}

getters! {
    /// A text.
    string: Text -> String;
    /// A number.
    number: Number -> f64;
    /// A whole number.
    integer: Integer -> i64;
    /// Yes or no.
    boolean: Boolean -> bool;
    /// A secret.
    secret: Secret -> SecretString;
}

impl Checked {
    /// An option, as the enum of its parameter.
    ///
    /// # Errors
    /// When the enum does not know the option, which only a fault of the generated code can cause.
    pub fn select<T>(
        &self,
        name: &'static str,
        read: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, BuildError> {
        self.string(name)?.map(|text| read(&text).ok_or_else(|| mistyped(name))).transpose()
    }
}

fn mistyped(name: &str) -> BuildError {
    BuildError::Internal(format!("the parameter `{name}` is not of its declared type"))
}
