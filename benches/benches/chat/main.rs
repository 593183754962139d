//! What Haft adds to a chat: to the time of the first token with 50 tools bound, and to each token of many chats at once.
//!
//! The model is a server in this process that writes the time into each token, so that a token's way is measured whole.
//! `cargo bench -p benches --bench chat` prints the figures; docs/performance.md keeps them.
#![allow(clippy::print_stdout, reason = "its figures are what it is for")]

mod installation;
mod model;

use anyhow::{Context as _, ensure};
use futures::{StreamExt as _, future::join_all};
use installation::Installation;
use model::Model;
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;
const CHATS: usize = 200;
const TOKENS: usize = 50;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let model = Model::start(TOKENS).await?;
    let installation = Installation::new(model.url(), 50).await?;
    first_token(&model, &installation).await?;
    many_chats(&model, &installation).await
}

/// The first token, one chat after the other: straight from the model, and through an app.
async fn first_token(model: &Model, installation: &Installation) -> anyhow::Result<()> {
    let (mut direct, mut through) = (Vec::new(), Vec::new());
    let body = installation.body()?;
    for round in 0..ROUNDS {
        // Both kinds take turns, so that neither has the warmer machine.
        direct.push(model.first_token(&body).await?);
        let started = Instant::now();
        let mut events = Box::pin(installation.ask("hello").await?.events());
        let first = events.next().await.context("a chat without events")?;
        through.push(started.elapsed());
        ensure!(!first.event.answer.is_empty(), "round {round}: {:?}", first.event);
    }
    let (direct, through) = (Figures::of(direct), Figures::of(through));
    println!("first token, 50 tools bound, {ROUNDS} rounds");
    println!("  direct        p50 {:>9.3?}  p99 {:>9.3?}", direct.p50, direct.p99);
    println!("  through Haft  p50 {:>9.3?}  p99 {:>9.3?}", through.p50, through.p99);
    println!("  added         p50 {:>9.3?}", through.p50.saturating_sub(direct.p50));
    Ok(())
}

/// Many chats at once: how long each token takes from the model's hand to a channel's.
async fn many_chats(model: &Model, installation: &Installation) -> anyhow::Result<()> {
    let body = installation.body()?;
    let before = memory();
    let direct = join_all((0..CHATS).map(|_| model.delays(&body))).await;
    let direct: Vec<Duration> = direct.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    let through = join_all((0..CHATS).map(|_| installation.delays())).await;
    let through: Vec<Duration> = through.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    let (direct, through) = (Figures::of(direct), Figures::of(through));
    println!("{CHATS} chats at once, {TOKENS} tokens each, on 2 threads: a token's way");
    println!("  direct        p50 {:>9.3?}  p99 {:>9.3?}", direct.p50, direct.p99);
    println!("  through Haft  p50 {:>9.3?}  p99 {:>9.3?}", through.p50, through.p99);
    println!("  added         p99 {:>9.3?}", through.p99.saturating_sub(direct.p99));
    println!("  memory        {} MiB before, {} MiB after", before, memory());
    Ok(())
}

struct Figures {
    p50: Duration,
    p99: Duration,
}

impl Figures {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
        Self { p50: at(50), p99: at(99) }
    }
}

/// The resident memory of this process, in MiB; 0 where the system does not tell.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or_default()
        / 1024
}
