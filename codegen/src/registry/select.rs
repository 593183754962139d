//! A `select` parameter: its options, and the enum they become.

use super::fields::{self, Cursor, Fields};
use super::model::{Choice, ParamKind};
use super::param::optional;
use crate::diagnostic::Problems;
use crate::names;
use crate::source::At;

pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems) -> Option<ParamKind> {
    let items = fields.required("options", problems)?.list("`options`", problems);
    if items.is_empty() {
        if let Some(place) = fields.key("options") {
            problems.at(&place, "a `select` parameter needs at least one option");
        }
        return None;
    }
    let count = items.len();
    let read: Vec<_> = items.into_iter().filter_map(|item| choice(item, problems)).collect();
    let (values, options): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    fields::unique("the option", &values, problems);
    check_variants(&values, &options, problems);
    let default = optional(fields.optional("default"), |c| c.text("the default", problems)).ok()?;
    if let Some(default) = &default
        // A broken option was reported; whether it was the default cannot be known.
        && values.len() == count
        && !values.iter().any(|value| value.value == default.value)
    {
        let known = || values.iter().map(|value| value.value.as_str());
        problems
            .at(&default.place, format!("the default `{}` is not one of the options", default.value))
            .help_if(names::suggestion(&default.value, known()))
            .help(format!("the options are {}", names::list(known())));
    }
    Some(ParamKind::Select { default: default.map(|text| text.value), options })
}

fn choice(item: Cursor<'_>, problems: &mut Problems) -> Option<(At<String>, Choice)> {
    let fields = item.fields("an option", &["value", "label"], problems)?;
    let value = fields.required("value", problems).and_then(|c| c.text("an option's value", problems));
    let label = fields.required("label", problems).and_then(|c| c.localized("label", problems));
    let (value, label) = (value?, label?);
    let Some(variant) = names::variant(&value.value) else {
        problems
            .at(&value.place, format!("the option `{}` cannot become a Rust name", value.value))
            .help("an option's value holds at least one ASCII letter or digit; its label may be anything");
        return None;
    };
    let choice = Choice { value: value.value.clone(), variant, label };
    Some((value, choice))
}

/// Two values may differ and still become one name (`a-b` and `a_b`).
fn check_variants(values: &[At<String>], options: &[Choice], problems: &mut Problems) {
    for (at, (value, option)) in values.iter().zip(options).enumerate() {
        let earlier = options[..at].iter().find(|o| o.variant == option.variant && o.value != option.value);
        if let Some(earlier) = earlier {
            let message =
                format!("the options `{}` and `{}` become the same Rust name", earlier.value, option.value);
            problems.at(&value.place, message).help(format!("both become `{}`: rename one", option.variant));
        }
    }
}
