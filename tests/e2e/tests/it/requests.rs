//! What every request meets, whatever its route: ids, limits, problem documents.

use e2e::{Client, Haft};
use http::Method;

#[tokio::test]
async fn refusals_before_any_handler_are_problem_documents_too() {
    let haft = Haft::start().await;
    let admin = haft.admin();
    assert_eq!(admin.get("/nonsense").await.problem(404), "no_such_route");
    assert_eq!(haft.nobody().get("/nonsense").await.problem(404), "no_such_route");
    assert_eq!(admin.delete("/tools").await.problem(405), "method_not_allowed");
    assert_eq!(haft.nobody().delete("/tools").await.problem(401), "no_key");

    let post = |body: &'static str| admin.request(Method::POST, "/tools/assemble").body(body);
    let typed = |body| post(body).header("content-type", "application/json");
    let answer = Client::answer(post("{}").header("content-type", "text/plain")).await;
    assert_eq!(answer.problem(415), "unsupported_media_type");
    let answer = Client::answer(typed("{\n \"refs\": [}")).await;
    assert_eq!(answer.problem(400), "invalid_json");
    assert!(answer.json()["detail"].as_str().unwrap().contains("line 2 column"), "{}", answer.json());
    let answer = Client::answer(typed("{\"refs\": 5}")).await;
    assert_eq!(answer.problem(422), "invalid_body");
    assert_eq!(answer.json()["violations"][0]["path"], "/refs");
    haft.stop().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_one_under_it_is_not() {
    let haft = Haft::start().await;
    for (size, status) in [(5 * 1024 * 1024, 422), (7 * 1024 * 1024, 413)] {
        let body = format!("{{\"refs\": \"{}\"}}", "x".repeat(size));
        let request = haft.admin().request(Method::POST, "/tools/assemble");
        let answer = Client::answer(request.header("content-type", "application/json").body(body)).await;
        answer.problem(status);
    }
    haft.stop().await;
}

#[tokio::test]
async fn a_sane_request_id_is_echoed_and_any_other_replaced() {
    let haft = Haft::start().await;
    let long = "x".repeat(129);
    for (given, kept) in [("abc-1.2_3:4", true), ("with space", false), ("", false), (long.as_str(), false)] {
        let request = haft.nobody().request(Method::GET, "/health").header("x-request-id", given);
        let answer = Client::answer(request).await;
        let id = answer.headers["x-request-id"].to_str().unwrap();
        assert_eq!(id == given, kept, "{given} became {id}");
        assert!(!id.is_empty());
    }
    haft.stop().await;
}

#[tokio::test]
async fn health_says_exactly_what_the_contract_says() {
    let haft = Haft::start().await;
    let answer = haft.nobody().get("/health").await;
    assert_eq!(answer.expect(200), serde_json::json!({"status": "ok"}));
    haft.stop().await;
}
