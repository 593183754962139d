//! Real documents, whole and damaged. The large ones are left to the `corpus` example, which is optimised.

use serde_json::Value;
use source_api::{
    compile::{Compiled, Options, compile},
    report::{Outcome, ReasonCode},
};
use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

/// Documents up to this size are read; most are.
const MAX_BYTES: u64 = 60_000;

/// The documents, with their names.
fn documents() -> Vec<(String, String)> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/api-import/corpus.tar.xz");
    let file = BufReader::new(File::open(&archive).unwrap());
    let mut archive = tar::Archive::new(lzma_rust2::XzReader::new(file, true));
    let mut found = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let is_document = [".json", ".yaml", ".yml"].iter().any(|e| name.ends_with(e));
        if is_document && entry.size() <= MAX_BYTES {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            found.push((name, text));
        }
    }
    assert!(found.len() > 40, "only {} documents were found", found.len());
    found
}

fn check(name: &str, compiled: &Compiled) {
    for operation in &compiled.document.operations {
        operation.args_schema.check().unwrap_or_else(|e| panic!("{name} {}: {e}", operation.name));
    }
}

#[test]
fn real_documents_lose_nothing_but_what_is_not_in_them() {
    for (name, text) in documents() {
        let compiled = compile(&text, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        check(&name, &compiled);
        for operation in &compiled.report.operations {
            if let Outcome::Lost { reason } = &operation.outcome {
                assert_eq!(
                    reason.code,
                    ReasonCode::ExternalRef,
                    "{name} {}: {}",
                    operation.name,
                    reason.message
                );
            }
        }
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

#[test]
fn damaged_real_documents_end_well() {
    let mut dice = Dice(7);
    for (name, text) in documents() {
        // As text: pieces of lines are doubled, moved and lost.
        let mut lines: Vec<&str> = text.lines().collect();
        for _ in 0..12 {
            let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
            match dice.below(3) {
                0 => lines[to] = lines[from],
                1 => lines.swap(from, to),
                _ => drop(lines.remove(from)),
            }
        }
        if let Ok(compiled) = compile(&lines.join("\n"), &Options::default()) {
            check(&name, &compiled);
        }
        // As a value: parts stand where they do not belong.
        let Ok(mut value) = serde_json::from_str::<Value>(&text).or_else(|_| serde_saphyr::from_str(&text))
        else {
            continue;
        };
        let mut parts = Vec::new();
        collect(&value, &mut dice, &mut parts);
        for part in parts {
            put(&mut value, part, &mut dice);
        }
        if let Ok(compiled) = compile(&value.to_string(), &Options::default()) {
            check(&name, &compiled);
        }
    }
}

/// A few parts of a value.
fn collect(value: &Value, dice: &mut Dice, parts: &mut Vec<Value>) {
    if parts.len() < 20 && dice.below(8) == 0 {
        parts.push(value.clone());
    }
    match value {
        Value::Object(map) => map.values().for_each(|v| collect(v, dice, parts)),
        Value::Array(list) => list.iter().for_each(|v| collect(v, dice, parts)),
        _ => {}
    }
}

/// Puts a part in place of another, somewhere below.
fn put(value: &mut Value, part: Value, dice: &mut Dice) {
    let members = match value {
        Value::Object(map) => map.len(),
        Value::Array(list) => list.len(),
        _ => 0,
    };
    if members == 0 || dice.below(9) == 0 {
        *value = part;
        return;
    }
    let at = dice.below(members);
    let next = match value {
        Value::Object(map) => map.values_mut().nth(at),
        Value::Array(list) => list.get_mut(at),
        _ => None,
    };
    if let Some(next) = next {
        put(next, part, dice);
    }
}
