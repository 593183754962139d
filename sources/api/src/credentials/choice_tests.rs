use super::*;
use domain::ports::Sealed;

const KEY: &str = "key";
const TOKEN: &str = "token";

fn api() -> Api {
    let mut api = Api::default();
    let key = SecurityScheme::ApiKey { name: "X-Key".into(), location: ApiKeyIn::Header };
    api.security_schemes.insert(KEY.into(), key);
    api.security_schemes.insert(TOKEN.into(), SecurityScheme::Bearer);
    api
}

fn operation(security: &[&[&str]]) -> Operation {
    let uses = |scheme: &&str| SchemeUse { scheme: (*scheme).to_owned(), scopes: vec![] };
    Operation {
        security: security.iter().map(|way| way.iter().map(uses).collect()).collect(),
        ..crate::testing::operation()
    }
}

fn credentials(names: &[&str]) -> BTreeMap<String, StoredCredential> {
    let token = || StoredCredential::Bearer { token: Sealed("x".into()) };
    names.iter().map(|name| ((*name).to_owned(), token())).collect()
}

/// What is used, and whether something is missing.
fn chosen(security: &[&[&str]], stored: &[&str], headers: &[&str], asks: bool) -> (Vec<String>, bool) {
    let (api, credentials, operation) = (api(), credentials(stored), operation(security));
    let header = |key: &&str| StoredHeader { key: (*key).to_owned(), value: Sealed("x".into()) };
    let headers: Vec<_> = headers.iter().map(header).collect();
    let stored = Stored { api: &api, credentials: &credentials, headers: &headers, asks };
    let choice = choose(&operation, stored);
    (choice.uses.iter().map(|u| u.name.to_owned()).collect(), choice.missing.is_some())
}

#[test]
fn the_first_way_that_is_stored_is_taken() {
    type Row<'a> = (&'a [&'a [&'a str]], &'a [&'a str], &'a [&'a str], &'a [&'a str], bool);
    let table: [Row; 12] = [
        // What is asked for; what is stored; the provider's headers; what is used; whether something is missing.
        (&[], &[KEY], &[], &[], false),
        (&[&[KEY]], &[KEY], &[], &[KEY], false),
        (&[&[KEY]], &[], &[], &[], true),
        (&[&[KEY], &[TOKEN]], &[TOKEN], &[], &[TOKEN], false),
        (&[&[KEY], &[TOKEN]], &[KEY, TOKEN], &[], &[KEY], false),
        (&[&[KEY, TOKEN]], &[KEY, TOKEN], &[], &[KEY, TOKEN], false),
        (&[&[KEY, TOKEN]], &[KEY], &[], &[KEY], true),
        (&[&[KEY, TOKEN], &[TOKEN]], &[TOKEN], &[], &[TOKEN], false),
        (&[&[KEY], &[]], &[], &[], &[], false),
        (&[&[], &[KEY]], &[KEY], &[], &[KEY], false),
        (&[&[TOKEN]], &[], &["Authorization"], &[], false),
        (&[&[KEY]], &["own"], &["x-key"], &["own"], false),
    ];
    for (security, stored, headers, used, missing) in table {
        let found = chosen(security, stored, headers, true);
        let used: Vec<String> = used.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(found, (used, missing), "{security:?} {stored:?} {headers:?}");
    }
}

#[test]
fn where_a_document_forgets_to_ask_everything_stored_is_sent() {
    assert_eq!(chosen(&[], &[KEY, TOKEN], &[], false), (vec![KEY.to_owned(), TOKEN.to_owned()], false));
}

#[test]
fn a_withheld_header_is_missing_until_something_gives_it() {
    let mut operation = operation(&[]);
    let withheld = |name: &str| Withheld { name: name.into(), location: Location::Header, required: true };
    operation.withheld = vec![withheld("Authorization")];
    let api = api();
    let missing = |credentials: &[&str], headers: &[&str]| {
        let header = |key: &&str| StoredHeader { key: (*key).to_owned(), value: Sealed("x".into()) };
        let headers: Vec<_> = headers.iter().map(header).collect();
        let credentials = self::credentials(credentials);
        let stored = Stored { api: &api, credentials: &credentials, headers: &headers, asks: false };
        choose(&operation, stored).missing
    };
    assert_eq!(missing(&[], &[]).as_deref(), Some("the header `Authorization`"));
    assert_eq!(missing(&["own"], &[]), None);
    assert_eq!(missing(&[], &["authorization"]), None);
}
