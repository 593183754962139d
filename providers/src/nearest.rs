//! Which known name was meant.

/// The known names that are close to the one written, the closest first; at most three.
pub(crate) fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let written = written.to_lowercase();
    let allowed = written.chars().count().div_ceil(3).max(1);
    let mut close: Vec<_> = known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&written, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    close.sort_unstable();
    let best = close.first().map_or(0, |(distance, _)| *distance);
    close.retain(|(distance, _)| *distance <= best + 1);
    close.into_iter().take(3).map(|(_, name)| name).collect()
}

/// A sentence that offers the close names, or else says which there are.
pub(crate) fn hint<'a>(
    written: &str,
    what: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let quoted =
        |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let close = nearest(written, known.clone());
    if !close.is_empty() {
        return format!("did you mean {}?", quoted(close));
    }
    let all: Vec<_> = known.into_iter().collect();
    if all.is_empty() { format!("there are no {what}") } else { format!("the {what} are {}", quoted(all)) }
}
