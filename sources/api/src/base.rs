//! The base address of requests: the user's choice, else what the document says, seen from where it came.

use crate::normal::Server;
use std::collections::BTreeMap;
use url::Url;

/// The address requests go to, or why there is none.
///
/// What the user gave wins; it may be relative to where the document was imported from, as the document's own
/// servers may be.
pub(crate) fn of(
    servers: &[Server],
    chosen: Option<&str>,
    document_url: Option<&str>,
) -> Result<Url, String> {
    let document = document_url.and_then(|url| Url::parse(url).ok());
    if let Some(chosen) = chosen {
        return parse(chosen, document.as_ref());
    }
    let mut problem = None;
    for server in servers {
        match server.address(&BTreeMap::new()) {
            Ok(address) => return parse(&address, None),
            Err(crate::normal::ServerProblem::Relative(address)) if document.is_some() => {
                return parse(&address, document.as_ref());
            }
            Err(found) => _ = problem.get_or_insert(found.to_string()),
        }
    }
    match (problem, document) {
        (Some(problem), _) => Err(problem),
        // What names no server is served from the root of where it is (OpenAPI's default server, `/`).
        (None, Some(document)) => parse("/", Some(&document)),
        (None, None) => Err("the document names no server: give its address as `server`".to_owned()),
    }
}

fn parse(address: &str, document: Option<&Url>) -> Result<Url, String> {
    let address = address.trim();
    let parsed = match document {
        Some(document) => document.join(address),
        None => Url::parse(address),
    };
    let url = parsed.map_err(|error| format!("`{address}` is not an address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("`{address}` is not an http or https address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "the server's address may not hold a user name or password: give them as credentials".into()
        );
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document's servers, the choice, where the document is from; the address, or a part of why not.
    type Row<'a> = (&'a [Server], Option<&'a str>, Option<&'a str>, Result<&'a str, &'a str>);

    #[test]
    fn the_choice_wins_then_the_document_then_where_it_is() {
        let absolute = [Server::new("https://a.example/v1")];
        let relative = [Server::new("/v2")];
        let from = Some("https://docs.example/specs/api.json");
        let table: [Row<'_>; 9] = [
            (&absolute, None, None, Ok("https://a.example/v1")),
            (&absolute, Some("http://b.example"), None, Ok("http://b.example/")),
            (&absolute, Some("/v3"), from, Ok("https://docs.example/v3")),
            (&relative, None, from, Ok("https://docs.example/v2")),
            (&relative, None, None, Err("relative")),
            (&[], None, from, Ok("https://docs.example/")),
            (&[], None, None, Err("names no server")),
            (&absolute, Some("ftp://b.example"), None, Err("http or https")),
            (&absolute, Some("https://u:p@b.example"), None, Err("credentials")),
        ];
        for (servers, chosen, document, wanted) in table {
            let found = of(servers, chosen, document);
            match wanted {
                Ok(url) => assert_eq!(found.unwrap().as_str(), url),
                Err(part) => assert!(found.unwrap_err().contains(part)),
            }
        }
    }
}
