//! Documents as models send them, and bounds around JMESPath: the library has none of its own.
//!
//! An expression can only make data larger by lists and hashes that repeat it (`[@, @]`), and doubling it a
//! hundred times fits in a line. [`check_growth`] sees before evaluation by how much; [`to_json`] bounds the rest.

use std::io::{self, Write};

use jmespath::Variable;
use jmespath::ast::Ast;
use serde_json::Value;

use crate::contract::{ToolError, invalid_argument};

/// By how much an expression may make the data larger.
const MOST_GROWTH: u64 = 2_000;
/// How much data there may be after that, in the units of [`weight`].
const MOST_WEIGHT: u64 = 4_000_000;

/// The deepest nesting of brackets and longest chain of operators: the library descends once for each.
const DEEPEST: usize = 32;
/// The most parts an expression may have, joined by dots, pipes and the like.
const MOST_PARTS: usize = 100;

/// The document of an argument: a model may send it as it is, or quoted as a text.
pub(super) fn document(argument: &str, data: Value) -> Result<Value, ToolError> {
    match data {
        Value::String(text) if text.trim_start().starts_with(['{', '[', '"']) => serde_json::from_str(&text)
            .map_err(|error| invalid_argument(argument, format!("is a text, but not of JSON: {error}"))),
        other => Ok(other),
    }
}

/// Refuses expressions that the library's recursion would not survive.
pub(super) fn check_shape(expression: &str) -> Result<(), String> {
    let (mut depth, mut nots, mut parts) = (0_usize, 0_usize, 0_usize);
    let mut quote = None;
    let mut escaped = false;
    for c in expression.chars() {
        if let Some(end) = quote {
            if !escaped && c == end {
                quote = None;
            }
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '\'' | '"' | '`' => quote = Some(c),
            '[' | '(' | '{' => (depth, parts) = (depth + 1, parts + 1),
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            '.' | '|' | '&' | '<' | '>' | '=' | '*' => parts += 1,
            _ => {}
        }
        nots = if c == '!' || c == '&' { nots + 1 } else { 0 };
        if depth.max(nots) > DEEPEST {
            return Err(format!("nests deeper than {DEEPEST} levels: query in steps"));
        }
        if parts > MOST_PARTS {
            return Err(format!("has more than {MOST_PARTS} parts: query in steps"));
        }
    }
    Ok(())
}

/// Refuses expressions that would multiply the data beyond measure.
pub(super) fn check_growth(ast: &Ast, data: &Variable) -> Result<(), String> {
    let growth = growth(ast);
    if growth > MOST_GROWTH || (growth > 1 && growth.saturating_mul(weight(data)) > MOST_WEIGHT) {
        let advice = "use fewer lists and hashes inside one another, or query in steps";
        return Err(format!("multiplies the data too often: {advice}"));
    }
    Ok(())
}

/// An upper bound of how many times larger than the data a result can be.
fn growth(ast: &Ast) -> u64 {
    match ast {
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => 1,
        Ast::Literal { value, .. } => weight(value),
        Ast::Expref { ast, .. } | Ast::Not { node: ast, .. } => growth(ast),
        Ast::Flatten { node, .. } | Ast::ObjectValues { node, .. } => growth(node),
        Ast::Subexpr { lhs, rhs, .. } | Ast::Projection { lhs, rhs, .. } => product([&**lhs, rhs]),
        Ast::Condition { predicate, then, .. } => product([&**predicate, then]),
        Ast::And { lhs, rhs, .. } | Ast::Or { lhs, rhs, .. } | Ast::Comparison { lhs, rhs, .. } => {
            sum([&**lhs, rhs])
        }
        Ast::MultiList { elements, .. } => sum(elements),
        Ast::MultiHash { elements, .. } => sum(elements.iter().map(|pair| &pair.value)),
        Ast::Function { args, .. } => product(args),
    }
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a Ast>) -> u64 {
    parts.into_iter().map(growth).fold(0, u64::saturating_add).max(1)
}

fn product<'a>(parts: impl IntoIterator<Item = &'a Ast>) -> u64 {
    parts.into_iter().map(growth).fold(1, |total, part| total.saturating_mul(part.max(1)))
}

/// How much room a value takes: one for each value in it, and for each 32 bytes of text.
fn weight(value: &Variable) -> u64 {
    let inner = match value {
        Variable::Array(items) => items.iter().map(|item| weight(item)).fold(0, u64::saturating_add),
        Variable::Object(map) => map.values().map(|item| weight(item)).fold(0, u64::saturating_add),
        Variable::String(text) => text.len() as u64 / 32,
        _ => 0,
    };
    inner.saturating_add(1)
}

/// The value as JSON, unless that is longer than `most` bytes.
pub(super) fn to_json(value: &Variable, most: usize) -> Option<String> {
    let mut out = Capped { bytes: Vec::new(), most };
    serde_json::to_writer(&mut out, value).ok()?;
    String::from_utf8(out.bytes).ok()
}

struct Capped {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Capped {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > self.most {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_seen_before_it_happens() {
        let of = |expression: &str| growth(jmespath::compile(expression).unwrap().as_ast());
        assert_eq!(of("a.b[*].c | [0]"), 1);
        assert_eq!(of("items[].{a: a, b: b, c: c}"), 3);
        assert!(of(&vec!["[@,@][]"; 30].join(" | ")) > MOST_GROWTH);
        assert!(of(&vec!["{a:@,b:@}.*"; 30].join("[] | ")) > MOST_GROWTH);
        assert!(of(&vec!["map(&[@,@], @)[]"; 30].join(" | ")) > MOST_GROWTH);
    }

    #[tokio::test]
    async fn expressions_of_the_worst_shape_do_not_exhaust_the_stack() {
        for (open, close) in [
            ("[", "]"),
            ("(", ")"),
            ("!", ""),
            ("a.", ""),
            ("a|", ""),
            ("a&&", ""),
            ("a||", ""),
            ("{a:", "}"),
            ("length(", ")"),
            ("&", ""),
            ("a[*].", ""),
            ("a[?", "]"),
            ("a==", ""),
            ("*.", ""),
        ] {
            for times in (1..=500).filter(|times| times * (open.len() + close.len()) < 1000) {
                let expression = open.repeat(times) + "a" + &close.repeat(times);
                if check_shape(&expression).is_ok() {
                    let search = move || {
                        let data = serde_json::json!({"a": [1]});
                        jmespath::compile(&expression).is_ok_and(|compiled| compiled.search(data).is_ok())
                    };
                    crate::contract::compute(search).await.unwrap();
                }
            }
        }
    }

    #[test]
    fn how_much_data_may_be_multiplied_depends_on_its_size() {
        let check = |data: Variable| check_growth(jmespath::compile("[@, @, @]").unwrap().as_ast(), &data);
        assert!(check(Variable::String("x".repeat(1_000_000))).is_ok());
        assert!(check(Variable::String("x".repeat(100_000_000))).is_err());
        let whole = jmespath::compile("[0]").unwrap();
        assert!(check_growth(whole.as_ast(), &Variable::String("x".repeat(200_000_000))).is_ok());
    }

    #[test]
    fn a_result_is_cut_off_at_its_limit() {
        assert_eq!(to_json(&Variable::String("abc".into()), 5).as_deref(), Some("\"abc\""));
        assert_eq!(to_json(&Variable::String("abcd".into()), 5), None);
    }
}
