//! What is broken is named with its place, and stored data stays whole.

use crate::support::{Place, Served};
use std::fs;

/// A document of the narrow protocol, imported with a header that must be sealed.
fn import(place: &Place) {
    let document = r#"{"server": "http://127.0.0.1:9", "description": "d", "paths": {"/x": {"get":
        {"operationId": "get_x", "description": "d", "parameters": []}}}}"#;
    fs::write(place.path().join("api.json"), document).unwrap();
    place.run(&["api", "import", "api.json", "--header", "X-Token: s3cret"]).ok();
}

#[test]
fn a_broken_key_file_is_named_and_nothing_is_written_over_it() {
    let place = Place::new();
    import(&place);
    let good = fs::read_to_string(place.data("cipher.key")).unwrap();
    for broken in ["", "nonsense", &good[..20]] {
        fs::write(place.data("cipher.key"), broken).unwrap();
        let done = place.run(&["tools"]).failed();
        assert!(done.err.contains("cipher.key"), "{}", done.err);
        assert_eq!(fs::read_to_string(place.data("cipher.key")).unwrap(), broken);
    }
    fs::write(place.data("cipher.key"), good).unwrap();
    place.run(&["tools"]).ok();
}

#[test]
fn a_lost_key_file_is_made_anew_only_while_nothing_is_sealed() {
    let place = Place::new();
    place.run(&["tools"]).ok();
    fs::remove_file(place.data("cipher.key")).unwrap();
    import(&place);
    fs::remove_file(place.data("cipher.key")).unwrap();
    let done = place.run(&["tools"]).failed();
    assert!(done.err.contains("cipher.key"), "{}", done.err);
    assert!(
        !place.data("cipher.key").exists(),
        "a new key would make every stored secret unreadable for good"
    );
}

#[test]
fn an_admin_key_that_opens_nothing_is_named() {
    for (text, wanted) in
        [("", "is empty"), ("haft_0123_nonsense_nonsense_nonsense", "does not open this store")]
    {
        let place = Place::new();
        place.run(&["tools"]).ok();
        fs::write(place.data("admin.key"), text).unwrap();
        let done = place.run(&["tools"]).failed();
        assert!(done.err.contains("admin.key") && done.err.contains(wanted), "{}", done.err);
        fs::remove_file(place.data("admin.key")).unwrap();
        place.run(&["tools"]).ok();
    }
}

#[test]
fn a_store_that_is_none_is_named_and_kept() {
    let place = Place::new();
    fs::create_dir(place.path().join(".haft")).unwrap();
    let other = "this is a letter to my aunt, and no database at all\n".repeat(100);
    fs::write(place.data("haft.db"), &other).unwrap();
    let done = place.run(&["tools"]).failed();
    assert!(done.err.contains("haft.db"), "{}", done.err);
    assert_eq!(fs::read_to_string(place.data("haft.db")).unwrap(), other);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let place = Place::new();
    fs::write(place.path().join("file"), "x").unwrap();
    let done = place.run(&["--data", "file/below", "tools"]).failed();
    assert!(done.err.contains("file/below") && done.err.contains("--data"), "{}", done.err);
}

/// A real full disk: a small file system of the server's own.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_what_was_stored_is_still_read() {
    let place = Place::new();
    fs::create_dir(place.path().join("disk")).unwrap();
    let script =
        "mount -t tmpfs -o size=1m tmpfs disk && exec \"$0\" serve --addr 127.0.0.1:0 --data disk/data";
    let command =
        place.command("unshare", &["--map-root-user", "--mount", "sh", "-c", script, crate::support::HAFT]);
    let server = Served::start(command);
    // Inside, the directory is the small disk; the key is read where the server sees it.
    let key = format!("/proc/{}/root{}/disk/data/admin.key", server.pid(), place.path().display());
    let key = fs::read_to_string(key).unwrap();
    let client = Place::new().set("HAFT_URL", server.url.clone()).set("HAFT_API_KEY", key);
    let mut made = 0;
    let refused = loop {
        let done = client.run(&["keys", "create", &"x".repeat(100), "--json"]);
        match done.code {
            Some(0) if made < 3000 => made += 1,
            _ => break done.failed(),
        }
    };
    let failure: serde_json::Value = serde_json::from_str(&refused.err).unwrap();
    assert_eq!(failure["code"], "store_not_writable", "{failure}");
    assert!(failure["error"].as_str().unwrap().contains("haft.db"), "{failure}");
    let listed = client.run(&["keys", "list", "--json"]).ok().json();
    assert_eq!(listed["items"].as_array().unwrap().len(), made + 1);
}
