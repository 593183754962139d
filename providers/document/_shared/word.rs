//! Word: paragraphs, headings, lists, tables, emphasis and links of a docx document (ECMA-376, WordprocessingML).

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::archive::Archive;
use super::{Document, LONGEST, table};

/// The deepest nesting of tables that is read.
const DEEPEST: usize = 8;

pub(super) fn read(archive: &mut Archive<'_>) -> Result<Document, String> {
    let styles = archive.text("word/styles.xml")?.map(|xml| headings(&xml)).unwrap_or_default();
    let links = archive.text("word/_rels/document.xml.rels")?.map(|xml| links(&xml)).unwrap_or_default();
    let body = archive.text("word/document.xml")?.ok_or("The document has no text part.")?;
    let mut writer = Writer { styles, links, ..Writer::default() };
    let mut reader = Reader::from_str(&body);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => writer.start(&element),
            Ok(Event::Empty(element)) => {
                writer.start(&element);
                writer.end(element.local_name().as_ref());
            }
            Ok(Event::End(element)) => writer.end(element.local_name().as_ref()),
            Ok(Event::Text(text)) => writer.text(&text.xml10_content()),
            Ok(Event::GeneralRef(entity)) => match entity.resolve_char_ref() {
                Ok(Some(c)) => writer.text(c.encode_utf8(&mut [0; 4])),
                _ => writer.text(quick_xml::escape::resolve_predefined_entity(&entity).unwrap_or_default()),
            },
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => return Err(format!("The document is damaged: {error}.")),
        }
        if writer.out.len() > LONGEST {
            writer.notes.push("The end was left out: the document is too long.".to_owned());
            break;
        }
    }
    Ok(writer.document())
}

#[derive(Default)]
struct Writer {
    /// Style id -> level of heading.
    styles: HashMap<String, usize>,
    /// Relation id -> target.
    links: HashMap<String, String>,
    out: String,
    notes: Vec<String>,
    paragraph: Paragraph,
    run: Run,
    in_text: bool,
    link: Option<(String, usize)>,
    /// How deep the reader is in text that was deleted, and in text boxes that stand twice in a document.
    skipped: usize,
    tables: Vec<Table>,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    heading: Option<usize>,
    list: Option<usize>,
}

#[derive(Default)]
struct Run {
    text: String,
    bold: bool,
    italic: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    cell: String,
}

impl Writer {
    fn start(&mut self, element: &BytesStart<'_>) {
        let value = |name: &str| attribute(element, name);
        let is_on = || !matches!(value("w:val").as_deref(), Some("0" | "false" | "none"));
        match element.local_name().as_ref() {
            "del" | "Fallback" | "moveFrom" => self.skipped += 1,
            "p" => self.paragraph = Paragraph::default(),
            "pStyle" => {
                self.paragraph.heading = value("w:val").and_then(|style| self.styles.get(&style).copied())
            }
            "outlineLvl" => {
                let level =
                    value("w:val").and_then(|level| level.parse().ok()).filter(|level: &usize| *level < 6);
                self.paragraph.heading = self.paragraph.heading.or(level.map(|level| level + 1));
            }
            "numPr" => self.paragraph.list = self.paragraph.list.or(Some(0)),
            "ilvl" => self.paragraph.list = value("w:val").and_then(|level| level.parse().ok()),
            "r" => self.run = Run::default(),
            "b" => self.run.bold = is_on(),
            "i" => self.run.italic = is_on(),
            "t" => self.in_text = true,
            "tab" => self.run.text.push(' '),
            "br" | "cr" => self.run.text.push('\n'),
            "hyperlink" => {
                let target = value("r:id").and_then(|id| self.links.get(&id).cloned());
                self.link = target.map(|target| (target, self.paragraph.text.len()));
            }
            "tbl" if self.skipped == 0 && self.tables.len() < DEEPEST => self.tables.push(Table::default()),
            "tbl" => self.skipped += 1,
            "tr" => self.row(|table| table.rows.push(Vec::new())),
            "tc" => self.row(|table| table.cell.clear()),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_text && self.skipped == 0 {
            self.run.text.push_str(text);
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "del" | "Fallback" | "moveFrom" => self.skipped = self.skipped.saturating_sub(1),
            "t" => self.in_text = false,
            "r" => {
                let run = std::mem::take(&mut self.run);
                if self.skipped == 0 {
                    self.paragraph.text.push_str(&run.markdown(self.paragraph.heading.is_some()));
                }
            }
            "hyperlink" => self.end_link(),
            "p" => self.end_paragraph(),
            "tc" => self.row(|table| {
                let cell = std::mem::take(&mut table.cell);
                if let Some(row) = table.rows.last_mut() {
                    row.push(cell.trim().to_owned());
                }
            }),
            "tbl" if self.skipped > 0 => self.skipped -= 1,
            "tbl" => self.end_table(),
            _ => {}
        }
    }

    fn row(&mut self, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.tables.last_mut() {
            change(table);
        }
    }

    fn end_link(&mut self) {
        let Some((target, from)) = self.link.take() else { return };
        let from = from.min(self.paragraph.text.len());
        let label = self.paragraph.text.split_off(from);
        let link = if label.trim().is_empty() { label } else { format!("[{}]({target})", label.trim()) };
        self.paragraph.text.push_str(&link);
    }

    fn end_paragraph(&mut self) {
        let Paragraph { text, heading, list } = std::mem::take(&mut self.paragraph);
        let text = text.trim();
        if text.is_empty() || self.skipped > 0 {
            return;
        }
        let block = match (heading, list) {
            (Some(level), _) => format!("{} {}\n\n", "#".repeat(level), text.replace('\n', " ")),
            (None, Some(level)) => format!("{}- {text}\n", "  ".repeat(level.min(8))),
            (None, None) => format!("{text}\n\n"),
        };
        match self.tables.last_mut() {
            Some(table) => table.cell.push_str(&format!("{text} ")),
            None => {
                // A list ends where something else begins.
                if list.is_none() && self.out.ends_with('\n') && !self.out.ends_with("\n\n") {
                    self.out.push('\n');
                }
                self.out.push_str(&block);
            }
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.tables.pop() else { return };
        let rows: Vec<_> = table.rows.into_iter().filter(|row| !row.is_empty()).collect();
        match self.tables.last_mut() {
            // Markdown has no tables inside tables: the inner one becomes lines of the cell.
            Some(outer) => {
                let lines = rows.iter().map(|row| row.join(", "));
                outer.cell.push_str(&lines.collect::<Vec<_>>().join("; "));
            }
            None => self.out.push_str(&format!("{}\n\n", table::markdown(&rows))),
        }
    }

    fn document(self) -> Document {
        Document { kind: "docx", text: self.out.trim_end().to_owned(), notes: self.notes }
    }
}

impl Run {
    fn markdown(self, is_heading: bool) -> String {
        let mark = match (self.bold && !is_heading, self.italic) {
            (true, true) => "***",
            (true, false) => "**",
            (false, true) => "*",
            (false, false) => return self.text,
        };
        let inner = self.text.trim();
        if inner.is_empty() {
            return self.text;
        }
        let (before, rest) = self.text.split_at(self.text.len() - self.text.trim_start().len());
        let after = &rest[inner.len()..];
        format!("{before}{mark}{inner}{mark}{after}")
    }
}

/// Which styles are headings: by their built-in names, which stay English in every language, or their outline level.
fn headings(xml: &str) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    let mut style = String::new();
    each_element(xml, |element| {
        let value = |name: &str| attribute(element, name);
        match element.local_name().as_ref() {
            "style" => style = value("w:styleId").unwrap_or_default(),
            "name" => {
                let name = value("w:val").unwrap_or_default().to_ascii_lowercase();
                let level = match name.strip_prefix("heading ") {
                    Some(level) => level.parse().ok(),
                    None => (name == "title").then_some(1),
                };
                if let Some(level) = level.filter(|level| (1..=6).contains(level)) {
                    found.insert(style.clone(), level);
                }
            }
            "outlineLvl" => {
                let level =
                    value("w:val").and_then(|level| level.parse::<usize>().ok()).filter(|level| *level < 6);
                if let Some(level) = level {
                    found.entry(style.clone()).or_insert(level + 1);
                }
            }
            _ => {}
        }
    });
    found
}

/// Relations to addresses outside the document.
fn links(xml: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    each_element(xml, |element| {
        let target = attribute(element, "Target")
            .filter(|target| target.starts_with("http") || target.starts_with("mailto:"));
        if let (Some(id), Some(target)) = (attribute(element, "Id"), target) {
            found.insert(id, target);
        }
    });
    found
}

fn each_element(xml: &str, mut see: impl FnMut(&BytesStart<'_>)) {
    let mut reader = Reader::from_str(xml);
    // What is damaged here costs headings and links, not the text.
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(element) | Event::Empty(element) => see(&element),
            Event::Eof => break,
            _ => {}
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok().flatten()?;
    attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}
