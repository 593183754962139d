//! Excel: each sheet as a table under its name.

use std::io::Cursor;

use calamine::{Data, Reader as _, Xlsx};

use super::{Document, LONGEST, table};

/// The most rows of a sheet that are given.
const MOST_ROWS: usize = 2_000;
/// The most columns of a sheet that are given.
const MOST_COLUMNS: usize = 100;
/// The most cells a sheet may span, empty ones included: a sheet with one cell in each far corner spans all between.
const MOST_CELLS: u64 = 4_000_000;

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let mut book: Xlsx<_> =
        Xlsx::new(Cursor::new(bytes)).map_err(|error| format!("The workbook cannot be read: {error}."))?;
    let mut document = Document::whole("xlsx", String::new());
    for name in book.sheet_names() {
        let rows = match rows(&mut book, &name) {
            Ok(rows) => rows,
            Err(why) => {
                document.notes.push(format!("The sheet `{name}` was left out: {why}."));
                continue;
            }
        };
        if rows.is_cut {
            document.notes.push(format!(
                "Of the sheet `{name}` only the first {MOST_ROWS} rows and {MOST_COLUMNS} columns were read."
            ));
        }
        if document.text.len() > LONGEST {
            document
                .notes
                .push(format!("The sheet `{name}` and what follows was left out: the workbook is too long."));
            break;
        }
        let body = table::markdown(&rows.cells);
        let body = if body.is_empty() { "(empty)" } else { &body };
        document.text += &format!("## {name}\n\n{body}\n\n");
    }
    document.text.truncate(document.text.trim_end().len());
    Ok(document)
}

struct Rows {
    cells: Vec<Vec<String>>,
    is_cut: bool,
}

fn rows(book: &mut Xlsx<Cursor<&[u8]>>, name: &str) -> Result<Rows, String> {
    // The sheet is read cell by cell, so that a far corner does not allocate all that lies between.
    let mut reader = book.worksheet_cells_reader(name).map_err(|error| error.to_string())?;
    let mut cells: Vec<Vec<String>> = Vec::new();
    let (mut is_cut, mut seen) = (false, 0_u64);
    while let Some(cell) = reader.next_cell().map_err(|error| error.to_string())? {
        seen += 1;
        if seen > MOST_CELLS {
            return Err("it has too many cells".to_owned());
        }
        let value = shown(&Data::from(cell.get_value().clone()));
        let (row, column) = cell.get_position();
        let (Ok(row), Ok(column)) = (usize::try_from(row), usize::try_from(column)) else { continue };
        if value.is_empty() {
            continue;
        }
        if row >= MOST_ROWS || column >= MOST_COLUMNS {
            is_cut = true;
            continue;
        }
        if cells.len() <= row {
            cells.resize_with(row + 1, Vec::new);
        }
        let line = &mut cells[row];
        if line.len() <= column {
            line.resize(column + 1, String::new());
        }
        line[column] = value;
    }
    cells.retain(|row| !row.is_empty());
    Ok(Rows { cells, is_cut })
}

fn shown(value: &Data) -> String {
    match value {
        Data::DateTime(moment) if moment.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
            match (hour, minute, second) {
                (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        other => other.to_string(),
    }
}
