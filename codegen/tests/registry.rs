//! The compiler against whole registry folders: what it writes, what it refuses, and what it scaffolds.
//!
//! `UPDATE_GOLDEN=1 cargo test -p codegen` writes the expected files anew. The generated files of `golden/`
//! are also compiled and run, by the tests of the crate `providers`.

#![expect(clippy::unwrap_used, reason = "a test's helpers end the test")]

use std::fs;
use std::path::{Path, PathBuf};

use codegen::{Output, generate, scaffold};

#[test]
fn the_generated_files_are_the_golden_ones() {
    for folder in folders("golden") {
        let generated = generate(&folder, Output::InRegistry).unwrap_or_else(|report| panic!("{report}"));
        compare(&folder.join("generated.rs"), &generated.source);
    }
}

#[test]
fn every_kind_of_mistake_is_reported_in_the_expected_words() {
    let base = root().join("compile-fail/_base");
    generate(&base, Output::InRegistry)
        .unwrap_or_else(|report| panic!("without a mistake it compiles: {report}"));
    let cases = folders("compile-fail");
    assert!(cases.len() > 30, "the cases were found");
    for case in cases {
        let folder = assembled(&case);
        let report = match generate(folder.path(), Output::InRegistry) {
            Ok(_) => panic!("{} compiled, but must not", case.display()),
            Err(report) => format!("{report}\n"),
        };
        assert!(
            !report.contains(folder.path().to_str().unwrap()),
            "a report names files of the registry only"
        );
        compare(&case.join("expected.txt"), &report);
    }
}

#[test]
fn files_are_named_absolutely_when_the_output_lies_elsewhere() {
    let folder = root().join("golden/small");
    let generated = generate(&folder, Output::Elsewhere).unwrap();
    let tool = folder.join("greet/hello.rs");
    assert!(generated.source.contains(&format!("#[path = {:?}]", tool.to_str().unwrap())));
    assert!(generated.inputs.contains(&tool));
    assert!(generated.inputs.contains(&folder.join("icons/tool.svg")));
}

#[test]
fn what_is_scaffolded_is_the_golden_registry_that_is_compiled() {
    let empty = empty_registry();
    for tool in ["weather/forecast", "weather/past_days", "other_place/look_around"] {
        scaffold::new_tool(empty.path(), tool).unwrap();
    }
    let golden = root().join("golden/scaffold");
    for file in files(empty.path(), Path::new("")) {
        compare(&golden.join(&file), &fs::read_to_string(empty.path().join(&file)).unwrap());
    }
    assert_eq!(generate(empty.path(), Output::InRegistry).unwrap_or_else(|r| panic!("{r}")).inputs.len(), 13);
}

#[test]
fn scaffolding_refuses_what_exists_and_then_writes_nothing() {
    let folder = empty_registry();
    scaffold::new_tool(folder.path(), "weather/forecast").unwrap();
    fs::write(folder.path().join("weather/stray.rs"), "").unwrap();
    let before = files(folder.path(), Path::new(""));
    let table = [
        ("weather", "is not of the form"),
        ("weather/forecast", "exists already"),
        ("weather/stray", "exists already"),
        ("Weather/x", "must begin with a lower-case letter"),
        ("weather/../x", "must begin with a lower-case letter"),
        ("weather/type", "keyword of Rust"),
    ];
    for (name, expected) in table {
        let error = scaffold::new_tool(folder.path(), name).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    assert_eq!(files(folder.path(), Path::new("")), before);
    fs::write(folder.path().join("weather/positions.yaml"), "[forecast]\n").unwrap();
    let error = scaffold::new_tool(folder.path(), "weather/tides").unwrap_err().to_string();
    assert!(error.contains("in brackets"), "{error}");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The sorted folders in one of this crate's folders.
fn folders(name: &str) -> Vec<PathBuf> {
    let mut folders: Vec<_> = fs::read_dir(root().join(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|p| p.is_dir())
        .collect();
    folders.retain(|path| !path.ends_with("_base"));
    folders.sort();
    folders
}

/// Every file below a folder, relative to it and sorted.
fn files(folder: &Path, below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        if folder.join(&path).is_dir() {
            found.extend(files(folder, &path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A case: the smallest good registry, with the case's own files laid over it. `remove.txt` lists files of
/// the good registry that the case has not.
fn assembled(case: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for source in [root().join("compile-fail/_base"), case.to_owned()] {
        for file in files(&source, Path::new("")) {
            let target = folder.path().join(&file);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(source.join(&file), target).unwrap();
        }
    }
    let list = fs::read_to_string(case.join("remove.txt")).unwrap_or_default();
    for file in list.lines().chain(["remove.txt", "expected.txt"]) {
        let _ = fs::remove_file(folder.path().join(file));
    }
    folder
}

/// A registry with one category and no provider.
fn empty_registry() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    fs::create_dir(folder.path().join("icons")).unwrap();
    write("icons/other.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\"/>\n");
    write("providers.yaml", "# No provider yet.\n[]\n");
    let category = "- category: other\n  name: {en_US: Other, zh_Hans: 其他}\n  icon: other.svg\n";
    write("categories.yaml", category);
    folder
}

fn compare(expected: &Path, actual: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(expected.parent().unwrap()).unwrap();
        fs::write(expected, actual).unwrap();
        return;
    }
    let text = fs::read_to_string(expected).unwrap_or_default();
    assert!(
        text == actual,
        "{} differs (UPDATE_GOLDEN=1 writes it anew). Expected:\n{text}\nActual:\n{actual}",
        expected.display()
    );
}
