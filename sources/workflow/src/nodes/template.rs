//! `template_transform`: Jinja templates with bounded work and output.
//!
//! `minijinja` charges its fuel for instructions, for every item visited and for every byte made, before it is
//! made; so the fuel bounds both time and memory.

use super::NodeError;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, value::Serde};
use serde_json::{Map, Value};
use std::{fmt, io, sync::Arc};

/// The longest template, in bytes.
const MAX_SOURCE: usize = 100_000;
/// The work one rendering may do: instructions, or 64 bytes made, each.
const FUEL: u64 = 400_000;
/// The longest result, in bytes.
const MAX_OUTPUT: usize = 1024 * 1024;
/// How deep macros may call each other.
const MAX_RECURSION: usize = 64;
const NAME: &str = "template";

/// A compiled template.
#[derive(Clone)]
pub(crate) struct Template(Arc<Environment<'static>>);

impl Template {
    /// Compiles, or says what is wrong and where.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        if source.len() > MAX_SOURCE {
            return Err(format!("the template has {} bytes; at most {MAX_SOURCE} are taken", source.len()));
        }
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MAX_RECURSION);
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        // Texts of other templates' users end without a newline; so do these.
        environment.remove_global("debug");
        environment.add_template_owned(NAME, source.to_owned()).map_err(|error| describe(&error))?;
        Ok(Self(Arc::new(environment)))
    }

    /// The names it uses that are neither known nor its own, sorted.
    pub(crate) fn unknown_names<'a>(&self, known: impl Iterator<Item = &'a str>) -> Vec<String> {
        let Ok(template) = self.0.get_template(NAME) else { return Vec::new() };
        let mut names = template.undeclared_variables(false);
        known.for_each(|name| {
            names.remove(name);
        });
        for (name, _) in self.0.globals() {
            names.remove(name);
        }
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        names
    }

    /// Renders over the inputs. The work is bounded, but may take tens of milliseconds.
    pub(crate) fn render(&self, inputs: &Map<String, Value>) -> Result<String, NodeError> {
        let template = self.0.get_template(NAME).map_err(|error| failed(&error))?;
        let mut output = Bounded(Vec::new());
        match template.render_captured_to(Serde(inputs), &mut output) {
            Ok(_) => String::from_utf8(output.0)
                .map_err(|_| NodeError::new("template_failed", "the template gave bytes that are no text")),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Renders off the async threads.
    pub(crate) async fn render_aside(&self, inputs: super::Values) -> Result<String, NodeError> {
        let template = self.clone();
        let rendered = tokio::task::spawn_blocking(move || template.render(&inputs)).await;
        rendered.unwrap_or_else(|_| Err(NodeError::new("template_failed", "the template's engine failed")))
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").finish_non_exhaustive()
    }
}

fn failed(error: &minijinja::Error) -> NodeError {
    match error.kind() {
        ErrorKind::OutOfFuel => NodeError::new(
            "template_too_costly",
            "the template does too much: it was stopped. Loop over less, or make less text",
        ),
        ErrorKind::WriteFailure => {
            NodeError::new("template_too_large", format!("the template gives more than {MAX_OUTPUT} bytes"))
        }
        _ => NodeError::new("template_failed", describe(error)),
    }
}

fn describe(error: &minijinja::Error) -> String {
    let at = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    let what = error.detail().map_or_else(|| error.kind().to_string(), |d| format!("{}: {d}", error.kind()));
    format!("{what}{at}")
}

/// Takes output up to a limit.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::Error::other("too much output"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn render(source: &str) -> Result<String, NodeError> {
        let inputs = json!({"name": "Ada", "items": [1, 2], "o": {"b": 1, "a": null}});
        Template::compile(source).unwrap().render(inputs.as_object().unwrap())
    }

    #[test]
    fn renders_values_loops_and_macros() {
        let cases = [
            ("Hi {{ name }}!", "Hi Ada!"),
            ("{% for i in items %}{{ i }},{% endfor %}", "1,2,"),
            ("{{ o | tojson }}", r#"{"b": 1, "a": null}"#),
            ("{{ absent }}|{{ '<' ~ name }}", "|<Ada"),
            ("{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(1) }}", "[1]"),
        ];
        for (source, expected) in cases {
            assert_eq!(render(source).as_deref(), Ok(expected), "{source}");
        }
    }

    #[test]
    fn bombs_are_stopped_in_time_and_memory() {
        let doubling = format!("{{% set x = 'aaaaaaaa' %}}{}{{{{ x }}}}", "{% set x = x ~ x %}".repeat(60));
        let macros = "{% macro d(s) %}{{ s }}{{ s }}{% endmacro %}{{ ".to_owned()
            + &"d(".repeat(40)
            + "'aaaa'"
            + &")".repeat(40)
            + " }}";
        let cases = [
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "{{ 'a' * 100000000 }}",
            "{{ ('a' * 1000) | replace('a', 'b' * 1000000) }}",
            "{% set ns = namespace(x='aaaa') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            "{{ range(100000) | list | tojson }}{{ (range(100000) | list) * 1000 }}",
            "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
            "{{ '%099999999d' | format(1) }}",
            &doubling,
            &macros,
        ];
        for source in cases {
            let error = render(source).expect_err(source);
            assert!(error.code.starts_with("template_"), "{source}: {error:?}");
        }
    }

    #[test]
    fn too_much_output_is_refused() {
        let error = render("{% for i in range(2000) %}{{ 'a' * 1000 }}{% endfor %}").unwrap_err();
        assert_eq!(error.code, "template_too_large");
    }

    #[test]
    fn a_fault_names_its_line_and_unknown_names_are_found() {
        let message = Template::compile("a\n{% if %}").unwrap_err();
        assert!(message.contains("line 2"), "{message}");
        let template =
            Template::compile("{{ a.b }}{{ c }}{% for x in range(3) %}{{ x }}{% endfor %}").unwrap();
        assert_eq!(template.unknown_names(["a"].into_iter()), ["c"]);
    }
}
