//! Rows of cells as a Markdown table.

/// The table; its first row is the head. Nothing for no rows.
pub(super) fn markdown(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    let Some((head, body)) = rows.split_first().filter(|_| width > 0) else { return String::new() };
    let rule = vec!["---".to_owned(); width];
    let lines: Vec<_> = [head, &rule].into_iter().chain(body).map(|row| line(row, width)).collect();
    lines.join("\n")
}

fn line(row: &[String], width: usize) -> String {
    let cells = (0..width).map(|at| row.get(at).map(|cell| escaped(cell)).unwrap_or_default());
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// A cell is one line, and a bar in it is no border.
fn escaped(cell: &str) -> String {
    cell.trim().replace('|', "\\|").replace(['\r', '\n'], " ")
}
