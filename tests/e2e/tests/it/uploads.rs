//! Large bodies: where they are put, and who gets them.

use e2e::{Client, Haft};
use http::Method;

#[tokio::test]
async fn an_upload_address_takes_bytes_without_a_key_and_gives_none() {
    let haft = Haft::start().await;
    let upload = haft.admin().send(Method::POST, "/uploads", None).await.expect(201);
    let url = upload["url"].as_str().unwrap();
    let path = url.strip_prefix(haft.url()).unwrap();
    let put = haft.nobody().request(Method::PUT, path).body(vec![7_u8; 8 * 1024 * 1024]);
    assert_eq!(Client::answer(put).await.status, 204);
    // The address of an upload is not an address to read from.
    assert_eq!(haft.nobody().get(path).await.problem(403), "invalid_link");
    haft.stop().await;
}

#[tokio::test]
async fn a_token_that_was_altered_opens_nothing() {
    let haft = Haft::start().await;
    for token in ["x", "..%2f..%2fadmin.key", &"a".repeat(5000)] {
        haft.nobody().get(&format!("/blobs/{token}")).await.problem(403);
        let put = haft.nobody().request(Method::PUT, &format!("/blobs/{token}")).body("x");
        Client::answer(put).await.problem(403);
    }
    haft.stop().await;
}
