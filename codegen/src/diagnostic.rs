//! What is wrong with a registry, and how it is shown: the compiler's own layout, in plain text.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::source::{Place, SourceFile};

/// One mistake: where it is, what is wrong and what to do.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    file: String,
    source: Option<(Arc<SourceFile>, Range<usize>)>,
    message: String,
    label: String,
    help: Vec<String>,
}

impl Diagnostic {
    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The file, relative to the registry's folder.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// A few words beside the marked text.
    pub(crate) fn label(&mut self, text: impl Into<String>) -> &mut Self {
        self.label = text.into();
        self
    }

    /// What to do about it.
    pub(crate) fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help.push(text.into());
        self
    }

    /// A hint that may or may not be there.
    pub(crate) fn help_if(&mut self, text: Option<String>) -> &mut Self {
        self.help.extend(text);
        self
    }

    fn sort_key(&self) -> (&str, usize) {
        (&self.file, self.source.as_ref().map_or(0, |(_, span)| span.start))
    }

    fn helped<'a>(&'a self, group: Group<'a>) -> Group<'a> {
        group.elements(self.help.iter().map(|help| Level::HELP.message(help.as_str())))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = Level::ERROR.primary_title(self.message.as_str());
        let group = match &self.source {
            Some((file, span)) => {
                let mark = AnnotationKind::Primary.span(span.clone());
                let mark = if self.label.is_empty() { mark } else { mark.label(self.label.as_str()) };
                title.element(Snippet::source(file.text.as_str()).path(self.file.as_str()).annotation(mark))
            }
            None => title.element(Origin::path(self.file.as_str())),
        };
        let report = [self.helped(group)];
        f.write_str(&Renderer::plain().render(&report))
    }
}

/// Everything that is wrong with a registry.
#[derive(Debug, Clone)]
pub struct Report {
    diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// The mistakes, in the order of files and lines.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same with files named from one folder up, as an editor opened there expects them.
    pub(crate) fn below(mut self, folder: &str) -> Self {
        for diagnostic in &mut self.diagnostics {
            diagnostic.file = format!("{folder}/{}", diagnostic.file);
        }
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.diagnostics {
            write!(f, "{diagnostic}\n\n")?;
        }
        let count = self.diagnostics.len();
        let mistakes = if count == 1 { "mistake" } else { "mistakes" };
        write!(f, "error: the tool registry has {count} {mistakes}")
    }
}

impl std::error::Error for Report {}

/// Collects mistakes, so that one run reports all of them.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Diagnostic>,
}

impl Problems {
    /// Records a mistake at a place.
    pub(crate) fn at(&mut self, place: &Place, message: impl Into<String>) -> &mut Diagnostic {
        self.push(
            place.file.name.clone(),
            Some((Arc::clone(&place.file), place.span.clone())),
            message.into(),
        )
    }

    /// Records a mistake about a file that has no text to point at.
    pub(crate) fn file(&mut self, name: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.push(name.to_owned(), None, message.into())
    }

    /// The value, unless there were mistakes.
    pub(crate) fn finish<T>(mut self, value: T) -> Result<T, Report> {
        if self.list.is_empty() {
            return Ok(value);
        }
        self.list.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        Err(Report { diagnostics: self.list })
    }

    fn push(
        &mut self,
        file: String,
        source: Option<(Arc<SourceFile>, Range<usize>)>,
        message: String,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic { file, source, message, label: String::new(), help: Vec::new() };
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}
