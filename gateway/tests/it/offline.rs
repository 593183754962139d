//! Commands without a server: they open the store themselves, and need no set-up.

use crate::support::Place;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_builtin_tool_is_called_with_no_server_and_no_set_up() {
    let place = Place::new();
    let target = "builtin_tool/time/current_time";
    let done = place.run(&["call", target, "--args", r#"{"timezone":"Asia/Shanghai"}"#]).ok();
    assert!(done.out.trim().ends_with("CST"), "{}", done.out);
    assert_eq!(done.err, "");
    for private in ["admin.key", "cipher.key", "haft.db"] {
        let mode = std::fs::metadata(place.data(private)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{private} can be read by others");
    }
}

#[test]
fn json_output_is_the_answer_of_the_api() {
    let place = Place::new();
    let args = ["call", "builtin_tool/calculator/evaluate", "--args", r#"{"expression":"1+1"}"#, "--json"];
    let output = place.run(&args).ok().json();
    assert_eq!(output["content"], json!([{"type": "text", "text": "2"}]));
    let tools = place.run(&["tools", "--kind", "builtin_tool", "-q", "time zone", "--json"]).ok().json();
    assert_eq!(tools["items"].as_array().unwrap().len(), 2);
    let doctor = place.run(&["doctor", "--json"]).ok().json();
    assert_eq!(doctor["ok"], true);
}

#[test]
fn arguments_come_from_a_file_too() {
    let place = Place::new();
    std::fs::write(place.path().join("args.json"), r#"{"expression": "6*7"}"#).unwrap();
    let done = place.run(&["call", "builtin_tool/calculator/evaluate", "--args", "@args.json"]).ok();
    assert_eq!(done.out, "42\n");
}

#[test]
fn each_failure_says_what_is_wrong_and_what_to_do() {
    let place = Place::new();
    let calculate = "builtin_tool/calculator/evaluate";
    let cases: &[(&[&str], &[&str])] = &[
        (&["call", "builtin_tool/time/current_tim"], &["did you mean `current_time`?", "`haft tools` lists"]),
        (&["call", "time/current_time"], &["KIND/PROVIDER/TOOL", "builtin_tool/time/current_time"]),
        (&["call", "magic_tool/a/b"], &["`magic_tool` is not a tool kind"]),
        (&["call", calculate], &["\"expression\" is a required property", "`haft tools show"]),
        (&["call", calculate, "--args", "{"], &["--args is not a JSON object", "@FILE"]),
        (&["call", calculate, "--args", "[]"], &["--args is not a JSON object"]),
        (&["call", calculate, "--args", "@absent"], &["`absent` cannot be read"]),
        (&["call", calculate, "--args", r#"{"expression":"1/0"}"#], &["the tool reports that it failed"]),
        (&["api", "check", "absent.json"], &["`absent.json` cannot be read"]),
        (&["api", "show", "absent"], &["absent"]),
        (&["mcp", "refresh", "absent"], &["absent"]),
        (&["keys", "revoke", "absent"], &["the account has no key `absent`"]),
        (&["credentials", "set", "time", "x=y"], &["`time` needs no credentials"]),
        (&["credentials", "set", "time", "NOT_SET"], &["no variable of this name is set"]),
        (&["--url", "http://127.0.0.1:9", "tools"], &["does not answer", "--url"]),
        (&["--url", "http://192.0.2.1", "tools"], &["another machine", "HAFT_API_KEY"]),
    ];
    for (args, wanted) in cases {
        let done = place.run(args).failed();
        for text in *wanted {
            assert!(done.err.contains(text), "{args:?} says: {}", done.err);
        }
        assert!(done.err.starts_with("error: "), "{args:?} says: {}", done.err);
    }
}

#[test]
fn a_failure_in_json_is_one_object_on_standard_error() {
    let place = Place::new();
    let done = place.run(&["call", "builtin_tool/time/nonsense", "--json"]).failed();
    assert_eq!(done.out, "");
    let failure: serde_json::Value = serde_json::from_str(&done.err).unwrap();
    assert_eq!(failure["code"], "tool_not_found");
}

#[test]
fn a_wrong_use_is_exit_code_2() {
    let place = Place::new();
    for args in [&["nonsense"][..], &["call"], &["mcp", "add", "x"], &["tools", "--kind", "magic"]] {
        assert_eq!(place.run(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_wrong_variable_is_named() {
    let cases = [
        ("HAFT_TABLE", "postgres:x"),
        ("HAFT_EGRESS_ALLOW", "everything"),
        ("HAFT_STDIO", "yes"),
        ("HAFT_LOG", "=,=="),
    ];
    for (variable, value) in cases {
        let place = Place::new().set(variable, value);
        let done = place.run(&["tools"]).failed();
        assert!(done.err.contains(variable) || done.err.contains(value), "{variable}: {}", done.err);
    }
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let place = Place::new();
    let key = place.run(&["keys", "create", "ci", "--role", "viewer", "--json"]).ok().json();
    let (id, text) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    let listed = place.run(&["keys", "list"]).ok();
    assert!(listed.out.contains(id) && !listed.out.contains(text), "{}", listed.out);
    place.run(&["keys", "revoke", id]).ok();
    assert!(!place.run(&["keys", "list"]).ok().out.contains(id));
}
