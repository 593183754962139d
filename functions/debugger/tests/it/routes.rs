//! The contract of the routes.

use crate::support::Served;
use bytes::Bytes;
use domain::ports::{Blobs as _, upload_key};
use http::StatusCode;
use model_server::{Reply, call, finish, text, usage};
use serde_json::{Value, json};

fn says(words: &str) -> Reply {
    Reply::stream(&[text(words), finish("stop"), usage(10, 5)])
}

#[tokio::test]
async fn an_app_is_made_tried_out_and_published() {
    let time = call(0, "c1", "current_time", "{\"timezone\":\"Asia/Shanghai\"}");
    let served = Served::new([Reply::stream(&[time, finish("tool_calls")]), says("It is late.")]).await;
    let tool =
        json!({"type": "builtin_tool", "provider_id": "time", "tool_id": "current_time", "params": {}});
    let app = served.app(json!({"tools": [tool], "preset_prompt": "Be kind."})).await;
    let events = served.ask(&app, json!({"query": "What time is it?"})).await;
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["agent_thought", "agent_action", "agent_message", "agent_message", "agent_end"]);
    let action = &events[1].1;
    assert_eq!(action["tool"], "current_time");
    assert_eq!(action["tool_input"]["timezone"], "Asia/Shanghai");
    assert!(action["observation"].as_str().unwrap().contains("20"), "{action}");
    let (_, messages) = served.call("GET", &format!("/apps/{app}/conversations/messages"), Value::Null).await;
    let message = &messages["items"][0];
    assert_eq!((&message["answer"], &message["status"]), (&json!("It is late."), &json!("normal")));
    let steps = message["agent_thoughts"].as_array().unwrap();
    assert_eq!(
        steps.iter().map(|s| s["event"].as_str().unwrap()).collect::<Vec<_>>(),
        ["agent_thought", "agent_action", "agent_message"]
    );
    let (status, published) = served.call("POST", &format!("/apps/{app}/publish"), Value::Null).await;
    assert_eq!((status, &published["status"]), (StatusCode::OK, &json!("published")), "{published}");
    let (_, shown) = served.call("GET", &format!("/apps/{app}"), Value::Null).await;
    assert_eq!((&shown["published_version"], &shown["problems"]), (&json!(1), &json!([])));
    let (_, rolled) = served.call("POST", &format!("/apps/{app}/rollback"), json!({"version": 1})).await;
    assert_eq!(rolled["published_version"], 1);
    let (_, versions) = served.call("GET", &format!("/apps/{app}/versions"), Value::Null).await;
    assert_eq!(versions["items"][0]["is_published"], true);
    let (_, taken) = served.call("POST", &format!("/apps/{app}/unpublish"), Value::Null).await;
    assert_eq!(taken["status"], "draft");
}

#[tokio::test]
async fn a_draft_that_was_read_can_be_sent_back() {
    let served = Served::new([]).await;
    let app = served
        .app(json!({"tools": [{"type": "builtin_tool", "provider_id": "time", "tool_id": "current_time"}]}))
        .await;
    let path = format!("/apps/{app}/draft-config");
    let (_, draft) = served.call("GET", &path, Value::Null).await;
    assert_eq!(draft["expanded"]["tools"][0]["provider"]["icon"], "/builtin-tools/time/icon");
    assert_eq!(draft["problems"], json!([]));
    let (status, again) = served.call("PUT", &path, draft.clone()).await;
    assert_eq!(status, StatusCode::OK, "{again}");
    let (status, late) = served.call("PUT", &path, draft).await;
    assert_eq!((status, &late["code"]), (StatusCode::CONFLICT, &json!("conflict")));
}

#[tokio::test]
async fn wrong_bodies_are_told_by_their_place() {
    let served = Served::new([]).await;
    let app = served.app(json!({})).await;
    let path = format!("/apps/{app}/draft-config");
    for (body, at) in [
        (json!({"dialog_round": -1}), "/dialog_round"),
        (json!({"model": {"name": "x"}}), "/model/name"),
        (json!({"tools": [{"type": "builtin_tool"}]}), "/tools/0"),
        (json!({"limits": {"timeout_s": 0}}), "/limits/timeout_s"),
        (json!({"prompt": "x"}), "/prompt"),
    ] {
        let (status, problem) = served.call("PUT", &path, body).await;
        assert_eq!(
            (status, &problem["violations"][0]["path"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!(at)),
            "{problem}"
        );
    }
    let (status, problem) =
        served.call("POST", "/models", json!({"name": "M", "base_url": "x", "model": "m"})).await;
    assert_eq!(
        (status, &problem["violations"][0]["path"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("/base_url"))
    );
}

#[tokio::test]
async fn a_broken_reference_is_told_and_stands_against_publishing() {
    let served = Served::new([]).await;
    let gone = json!({"type": "api_tool", "provider_id": "gone", "tool_id": "x", "params": {}});
    let app = served.app(json!({"tools": [gone]})).await;
    let (_, draft) = served.call("GET", &format!("/apps/{app}/draft-config"), Value::Null).await;
    assert_eq!(
        (&draft["problems"][0]["path"], &draft["problems"][0]["code"]),
        (&json!("/tools/0"), &json!("unknown_kind"))
    );
    let (status, refused) = served.call("POST", &format!("/apps/{app}/publish"), Value::Null).await;
    assert_eq!((status, &refused["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("broken_references")));
    assert_eq!(refused["violations"][0]["path"], "/tools/0");
}

#[tokio::test]
async fn what_cannot_begin_is_a_problem_and_no_stream() {
    let served = Served::new([]).await;
    let app = served.app(json!({})).await;
    let (status, problem) =
        served.call("POST", &format!("/apps/{app}/conversations"), json!({"query": ""})).await;
    assert_eq!(
        (status, &problem["violations"][0]["path"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("/query"))
    );
    let (status, _) = served.call("POST", "/apps/app_gone/conversations", json!({"query": "a"})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, _) =
        served.call("POST", &format!("/apps/{app}/conversations/tasks/msg_gone/stop"), Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_viewer_reads_and_changes_nothing() {
    let served = Served::new([]).await;
    let app = served.app(json!({})).await;
    for (method, path, body) in [
        ("POST", "/apps".to_owned(), json!({"name": "x"})),
        ("PUT", format!("/apps/{app}/draft-config"), json!({})),
        ("POST", format!("/apps/{app}/publish"), Value::Null),
        ("DELETE", format!("/apps/{app}"), Value::Null),
        ("POST", format!("/apps/{app}/conversations"), json!({"query": "a"})),
        ("POST", "/models".to_owned(), json!({"name": "M", "base_url": "http://a", "model": "m"})),
        ("POST", "/datasets".to_owned(), json!({"name": "D"})),
        ("POST", format!("/apps/{app}/keys"), json!({"name": "k"})),
    ] {
        let (status, _) = served.call_as_viewer(method, &path, body).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{method} {path}");
    }
    for path in [
        "/apps".to_owned(),
        format!("/apps/{app}"),
        format!("/apps/{app}/draft-config"),
        "/models".to_owned(),
    ] {
        let (status, shown) = served.call_as_viewer("GET", &path, Value::Null).await;
        assert_eq!(status, StatusCode::OK);
        assert!(!shown.to_string().contains("sk-canary"));
    }
}

#[tokio::test]
async fn datasets_take_texts_and_files() {
    let served = Served::new([]).await;
    let (status, dataset) = served.call("POST", "/datasets", json!({"name": "Rules"})).await;
    assert_eq!(status, StatusCode::CREATED, "{dataset}");
    let id = dataset["id"].as_str().unwrap();
    let documents = format!("/datasets/{id}/documents");
    let (status, document) =
        served.call("POST", &documents, json!({"title": "T", "text": "退款将在七天内到账。"})).await;
    assert_eq!((status, &document["passages"]), (StatusCode::CREATED, &json!(1)), "{document}");
    for (upload, bytes, wanted) in
        [("upl_a", &b"\xef\xbb\xbfThe shop opens at nine."[..], 201), ("upl_b", &b"\xff\xfe\x00"[..], 422)]
    {
        let key = upload_key(&served.account, upload).unwrap();
        served.blobs.put(&key, Bytes::copy_from_slice(bytes), "text/plain", None).await.unwrap();
        let (status, told) =
            served.call("POST", &documents, json!({"title": upload, "upload_id": upload})).await;
        assert_eq!(status.as_u16(), wanted, "{told}");
    }
    let (_, found) =
        served.call("POST", &format!("/datasets/{id}/search"), json!({"query": "when does it open"})).await;
    assert_eq!(found["items"][0]["title"], "upl_a", "{found}");
    let (_, listed) = served.call("GET", &documents, Value::Null).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let path = format!("{documents}/{}", document["id"].as_str().unwrap());
    assert_eq!(served.call("DELETE", &path, Value::Null).await.0, StatusCode::NO_CONTENT);
    assert_eq!(
        served.call("DELETE", &format!("/datasets/{id}"), Value::Null).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(served.call("GET", &format!("/datasets/{id}"), Value::Null).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_key_of_an_app_opens_no_other_route() {
    let served = Served::new([]).await;
    let app = served.app(json!({})).await;
    let (status, key) = served.call("POST", &format!("/apps/{app}/keys"), json!({"name": "shop"})).await;
    assert_eq!(status, StatusCode::CREATED, "{key}");
    let (_, listed) = served.call("GET", &format!("/apps/{app}/keys"), Value::Null).await;
    assert_eq!(listed["items"][0]["name"], "shop");
    assert!(listed["items"][0].get("key").is_none());
    let path = format!("/apps/{app}/keys/{}", key["id"].as_str().unwrap());
    assert_eq!(served.call("DELETE", &path, Value::Null).await.0, StatusCode::NO_CONTENT);
}
