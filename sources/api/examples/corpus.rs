//! Compiles every document of a folder and says what became of it.
//!
//! `cargo run --release -p source-api --example corpus -- FOLDER [--reasons] [--check]`

use source_api::{
    compile::{Options, compile},
    report::{Outcome, Totals},
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = args.iter().find(|a| !a.starts_with("--")) else {
        eprintln!("usage: corpus FOLDER [--reasons] [--check]");
        return ExitCode::FAILURE;
    };
    let mut sum = Sum::default();
    for path in documents(&PathBuf::from(folder)) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let start = Instant::now();
        let compiled = compile(&text, &Options::default());
        let took = start.elapsed();
        sum.took += took;
        if took > sum.slowest.0 {
            sum.slowest = (took, name.clone());
        }
        match compiled {
            Err(error) => {
                sum.refused += 1;
                println!("REFUSED {name}: {error}");
            }
            Ok(compiled) => {
                let totals = compiled.report.totals;
                println!("{name}: {} ({:.1} ms)", compiled.report.summary(), took.as_secs_f64() * 1e3);
                sum.add(&totals);
                for operation in &compiled.report.operations {
                    if let Outcome::Lost { reason } = &operation.outcome {
                        *sum.reasons.entry(reason.code.to_string()).or_default() += 1;
                        if args.iter().any(|a| a == "--reasons") {
                            println!(
                                "  LOST {} {}: {} [{}]",
                                operation.method, operation.path, reason.message, reason.pointer
                            );
                        }
                    }
                }
                let warnings =
                    compiled.report.operations.iter().flat_map(|o| &o.warnings).chain(&compiled.report.notes);
                for warning in warnings {
                    *sum.warnings.entry(warning.code.to_string()).or_default() += 1;
                }
                if args.iter().any(|a| a == "--check") {
                    for operation in &compiled.document.operations {
                        if let Err(error) = operation.args_schema.check() {
                            sum.bad_schemas += 1;
                            println!("  BAD SCHEMA {}: {error}", operation.name);
                        }
                    }
                }
            }
        }
    }
    println!("{sum:#?}");
    ExitCode::SUCCESS
}

#[derive(Debug, Default)]
struct Sum {
    documents: usize,
    refused: usize,
    operations: usize,
    tools: usize,
    lost: usize,
    tokens: usize,
    bad_schemas: usize,
    reasons: BTreeMap<String, usize>,
    warnings: BTreeMap<String, usize>,
    took: Duration,
    slowest: (Duration, String),
}

impl Sum {
    fn add(&mut self, totals: &Totals) {
        self.documents += 1;
        self.operations += totals.operations;
        self.tools += totals.tools;
        self.lost += totals.lost;
        self.tokens += totals.tokens;
    }
}

fn documents(folder: &PathBuf) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| ["json", "yaml", "yml"].iter().any(|x| e == *x)))
        .collect();
    found.sort();
    found
}
