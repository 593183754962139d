//! `haft serve`: found by other commands, alone on its directory, ended by signals without a loss.

use crate::support::Place;

#[test]
fn commands_talk_to_the_server_that_holds_the_directory() {
    let place = Place::new();
    let server = place.serve();
    let doctor = place.run(&["doctor", "--json"]).ok().json();
    let reached =
        doctor["checks"].as_array().unwrap().iter().find(|check| check["name"] == "reached").unwrap();
    assert!(reached["found"].as_str().unwrap().contains(&server.url), "{reached}");
    let done =
        place.run(&["call", "builtin_tool/calculator/evaluate", "--args", r#"{"expression":"6*7"}"#]).ok();
    assert_eq!(done.out, "42\n");
    let done = server.end(&place, "-TERM");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.contains("/tools/invoke"), "the server was not asked: {}", done.err);
}

#[test]
fn a_server_is_reached_by_its_address_with_a_key() {
    let place = Place::new();
    let server = place.serve();
    let key = std::fs::read_to_string(place.data("admin.key")).unwrap();
    let elsewhere = Place::new().set("HAFT_URL", server.url.clone()).set("HAFT_API_KEY", key);
    elsewhere.run(&["tools"]).ok();
    assert!(!elsewhere.data("haft.db").exists(), "a store was opened although a server is named");
    let wrong = Place::new().set("HAFT_URL", server.url.clone()).set("HAFT_API_KEY", "x".repeat(40));
    let done = wrong.run(&["tools"]).failed();
    assert!(done.err.contains("not known") && done.err.contains("HAFT_API_KEY"), "{}", done.err);
    let none = Place::new().set("HAFT_URL", server.url.clone());
    let done = none.run(&["tools"]).failed();
    assert!(done.err.contains("there is no key"), "{}", done.err);
}

#[test]
fn a_second_server_on_the_directory_is_told_who_holds_it() {
    let place = Place::new();
    let server = place.serve();
    let done = place.run(&["serve", "--addr", "127.0.0.1:0"]).failed();
    assert!(done.err.contains(&server.url), "{}", done.err);
    assert!(done.err.contains(&server.pid().to_string()), "{}", done.err);
    place.run(&["tools"]).ok();
}

#[test]
fn an_address_in_use_is_named() {
    let place = Place::new();
    let server = place.serve();
    let address = server.url.strip_prefix("http://").unwrap();
    let done = Place::new().run(&["serve", "--addr", address]).failed();
    assert!(done.err.contains(address) && done.err.contains("--addr"), "{}", done.err);
}

#[test]
fn a_signal_ends_the_server_and_frees_the_directory() {
    for signal in ["-TERM", "-INT"] {
        let place = Place::new();
        let server = place.serve();
        assert!(place.data("serve.json").exists());
        let done = server.end(&place, signal);
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert!(!place.data("serve.json").exists());
        place.serve();
    }
}

#[test]
fn a_server_that_was_killed_is_not_looked_for() {
    let place = Place::new();
    let server = place.serve();
    server.end(&place, "-KILL");
    assert!(place.data("serve.json").exists(), "this test needs what a killed server leaves behind");
    place.run(&["tools"]).ok();
    place.serve();
}

#[test]
fn no_secret_is_logged() {
    let canary = "canary-0123456789-0123456789-0123456789";
    let place =
        Place::new().set("HAFT_ADMIN_KEY", canary).set("HAFT_LOG", "trace").set("HAFT_API_KEY", canary);
    let server = place.serve();
    let args = format!(r#"{{"expression": "{canary}"}}"#);
    place.run(&["call", "builtin_tool/calculator/evaluate", "--args", &args]);
    let created = place.run(&["keys", "create", "x", "--json"]).ok().json();
    let done = server.end(&place, "-TERM");
    assert!(done.err.contains("/tools/invoke"), "{}", done.err);
    assert!(!done.err.contains(canary), "the admin key or an argument is in the log");
    assert!(!done.err.contains(created["key"].as_str().unwrap()), "a new key is in the log");
}

#[test]
fn the_url_of_a_server_that_is_added_is_not_the_one_to_talk_to() {
    let place = Place::new();
    let done = place.run(&["mcp", "add", "inside", "--url", "http://169.254.169.254/mcp"]).failed();
    assert!(done.err.contains("169.254.169.254 is refused"), "{}", done.err);
}
