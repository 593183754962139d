//! A graph as a Mermaid flowchart.

use crate::graph::{Graph, NodeKind};
use std::{collections::HashMap, fmt::Write as _};

/// The graph as the text of a Mermaid flowchart.
pub fn mermaid(graph: &Graph) -> String {
    let mut out = String::from("flowchart TD\n");
    draw(graph, "n", 1, &mut out);
    out
}

fn draw(graph: &Graph, prefix: &str, depth: usize, out: &mut String) {
    let indent = "    ".repeat(depth);
    let names: HashMap<&str, String> =
        graph.nodes.iter().enumerate().map(|(i, node)| (node.id.as_str(), format!("{prefix}{i}"))).collect();
    for node in &graph.nodes {
        let name = &names[node.id.as_str()];
        let label = format!("\"{}<br/>{}\"", escape(&node.title), node.type_name());
        let _ = match &node.kind {
            NodeKind::Start(_) | NodeKind::End(_) => writeln!(out, "{indent}{name}([{label}])"),
            NodeKind::Condition(_) | NodeKind::IntentClassifier(_) => {
                writeln!(out, "{indent}{name}{{{{{label}}}}}")
            }
            NodeKind::Iteration(iteration) => {
                let _ = writeln!(out, "{indent}subgraph {name} [{label}]");
                draw(&iteration.body, &format!("{name}_"), depth + 1, out);
                writeln!(out, "{indent}end")
            }
            _ => writeln!(out, "{indent}{name}[{label}]"),
        };
    }
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (names.get(edge.source.as_str()), names.get(edge.target.as_str()))
        else {
            continue;
        };
        let _ = match &edge.condition {
            Some(condition) => writeln!(out, "{indent}{from} -->|\"{}\"| {to}", escape(condition)),
            None => writeln!(out, "{indent}{from} --> {to}"),
        };
    }
}

/// A text that cannot end its quotes, nor be read as markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
