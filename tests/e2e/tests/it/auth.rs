//! Who may do what: every route of the description, with no key, with a wrong one, with one of each role.

use domain::Role;
use e2e::{Answer, Client, Haft};
use http::Method;
use http_kit::PUBLIC_ROUTES;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What a viewer's key must be refused (403): everything that writes, and what concerns keys.
const NOT_FOR_VIEWERS: &[&str] = &["GET /keys", "GET /apps/{id}/keys"];
/// What a viewer may POST: it changes nothing.
const READS_BY_POST: &[&str] = &[
    "POST /tools/assemble",
    // A viewer's key calls tools that only read; `invoke.rs` sees to the others.
    "POST /tools/invoke",
    "POST /api-tools/{id}/tools/{name}/debug",
    "POST /mcp-servers/{id}/tools/{name}/debug",
    "POST /workflows/{id}/run",
    "POST /api-tools/validate-openapi-schema",
    "POST /workflows/{id}/validate",
    "POST /datasets/{id}/search",
];
/// What takes an admin's key.
const FOR_ADMINS: &[&str] = &[
    "GET /keys",
    "POST /keys",
    "DELETE /keys/{id}",
    "PUT /credentials/{provider}",
    "DELETE /credentials/{provider}",
    "GET /apps/{id}/keys",
    "POST /apps/{id}/keys",
    "DELETE /apps/{id}/keys/{key_id}",
    "POST /models",
    "PUT /models/{id}",
    "DELETE /models/{id}",
];

struct Operation {
    method: Method,
    route: String,
    is_public: bool,
}

impl Operation {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.route)
    }

    /// Calls it with something in the place of each parameter and a body that is an object.
    async fn call(&self, client: &Client) -> Answer {
        let path: Vec<&str> =
            self.route.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let body = json!({});
        let sends = matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        client.send(self.method.clone(), &path.join("/"), sends.then_some(&body)).await
    }
}

async fn operations(haft: &Haft) -> Vec<Operation> {
    let document = haft.nobody().get("/openapi.json").await.expect(200);
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(route, item): (&String, &Value)| {
        let operations = item.as_object().unwrap().iter().filter(|(_, operation)| operation.is_object());
        let operation = |(method, operation): (&String, &Value)| Operation {
            method: method.to_uppercase().parse().unwrap(),
            route: route.clone(),
            is_public: operation.get("security").is_some(),
        };
        operations.map(operation).collect::<Vec<_>>()
    };
    let operations: Vec<_> = paths.iter().flat_map(of_path).collect();
    assert!(operations.len() > 15, "the description is not whole");
    operations
}

#[tokio::test]
async fn every_route_but_the_public_ones_refuses_without_a_key_and_with_a_wrong_one() {
    let haft = Haft::start().await;
    let wrong = [
        haft.nobody(),
        haft.with_key(
            "haft_0123456789abcdef_0000000000000000000000000000000000000000000000000000000000000000",
        ),
        haft.with_key(&"x".repeat(10_000)),
    ];
    for operation in operations(&haft).await {
        for client in &wrong {
            let answer = operation.call(client).await;
            if operation.is_public {
                assert_ne!(answer.status, 401, "{}", operation.name());
            } else {
                let code = answer.problem(401);
                assert!(matches!(code.as_str(), "no_key" | "invalid_key"), "{}: {code}", operation.name());
                assert_eq!(answer.headers["www-authenticate"], "Bearer");
            }
        }
    }
    haft.stop().await;
}

#[tokio::test]
async fn the_description_and_the_list_of_public_routes_say_the_same() {
    let haft = Haft::start().await;
    let described: BTreeSet<String> =
        operations(&haft).await.into_iter().filter(|o| o.is_public).map(|o| o.route).collect();
    let listed: BTreeSet<String> = PUBLIC_ROUTES.iter().map(|route| (*route).to_owned()).collect();
    assert_eq!(described, listed);
    haft.stop().await;
}

#[tokio::test]
async fn a_key_does_what_its_role_may_and_no_more() {
    let haft = Haft::start().await;
    let (viewer, operator) = (haft.role(Role::Viewer).await, haft.role(Role::Operator).await);
    for operation in operations(&haft).await.into_iter().filter(|o| !o.is_public) {
        let name = operation.name();
        let reads = operation.method == Method::GET || READS_BY_POST.contains(&name.as_str());
        let viewer_may = reads && !NOT_FOR_VIEWERS.contains(&name.as_str());
        let operator_may = !FOR_ADMINS.contains(&name.as_str());
        for (client, may) in [(&viewer, viewer_may), (&operator, operator_may)] {
            let answer = operation.call(client).await;
            if may {
                assert!(!matches!(answer.status.as_u16(), 401 | 403), "{name} is refused: {}", answer.json());
            } else if answer.status != 422 {
                // A body that cannot be read is refused before anyone looks at the role.
                assert_eq!(answer.problem(403), "role_too_low", "{name}");
            }
        }
    }
    haft.stop().await;
}

#[tokio::test]
async fn only_a_bearer_key_counts() {
    let haft = Haft::start().await;
    let key = std::fs::read_to_string(haft.data().join("admin.key")).unwrap();
    let cases = [
        (format!("Bearer {key}"), 200),
        (format!("bearer  {key} "), 200),
        (format!("Basic {key}"), 401),
        (key.clone(), 401),
        ("Bearer ".to_owned(), 401),
        (format!("Bearer {key}x"), 401),
        (format!("Bearer {}", key.to_uppercase()), 401),
    ];
    for (value, status) in cases {
        let request = haft.nobody().request(Method::GET, "/tools").header("authorization", &value);
        assert_eq!(Client::answer(request).await.status, status, "{value}");
    }
    let request = haft.nobody().request(Method::GET, &format!("/tools?api_key={key}"));
    assert_eq!(Client::answer(request).await.status, 401);
    haft.stop().await;
}
