//! The scheduled refresh over all servers of all accounts.

use crate::harness::{House, HttpServer, faulty};
use domain::{
    AccountId,
    ports::{Delivery, Queue, QueueError},
};
use serde_json::{Value, json};
use source_mcp::{RefreshPass, RefreshSettings, ServerInput, ServerStatus};
use std::{sync::Mutex, time::Duration};

fn often() -> RefreshSettings {
    RefreshSettings { every: Duration::from_hours(6), ..RefreshSettings::default() }
}

#[tokio::test]
async fn servers_are_asked_when_their_time_has_come_and_not_before() {
    let house = House::new().await;
    std::fs::write(house.file("tools"), "[]").unwrap();
    let server =
        house.servers.create(&house.account, faulty(&["--tools", &house.file("tools")])).await.unwrap();
    let other = AccountId::generate();
    let http = HttpServer::start(&[]);
    house.servers.create(&other, http.input()).await.unwrap();
    assert_eq!(house.servers.refresh_due(&often()).await.unwrap(), RefreshPass::default());

    house.clock.forward(Duration::from_hours(7));
    let extra = json!([{"name": "extra_new", "inputSchema": {"type": "object"}}]);
    std::fs::write(house.file("tools"), extra.to_string()).unwrap();
    let pass = house.servers.refresh_due(&often()).await.unwrap();
    assert_eq!(pass, RefreshPass { refreshed: 2, changed: 1, ..RefreshPass::default() });
    assert!(house.descriptions(&server.id).await.iter().any(|(name, _)| name == "extra_new"));
    assert_eq!(house.servers.refresh_due(&often()).await.unwrap(), RefreshPass::default());
}

#[tokio::test]
async fn a_failing_server_keeps_its_catalog_is_marked_and_asked_again_sooner() {
    let (house, mut http) = (House::new().await, HttpServer::start(&[]));
    let input = ServerInput { timeout_s: Some(2), ..http.input() };
    let server = house.servers.create(&house.account, input).await.unwrap();
    http.stop();
    house.clock.forward(Duration::from_hours(7));
    let pass = house.servers.refresh_due(&often()).await.unwrap();
    assert_eq!(pass, RefreshPass { failed: 1, ..RefreshPass::default() });
    let view = house.servers.get(&house.account, &server.id).await.unwrap();
    assert_eq!((view.status, view.tools), (ServerStatus::Failing, server.tools));
    assert!(view.health.last_error.is_some());

    let _http = HttpServer::on_port(http.port, &[]);
    house.clock.forward(Duration::from_mins(11));
    let pass = house.servers.refresh_due(&often()).await.unwrap();
    assert_eq!(pass, RefreshPass { refreshed: 1, ..RefreshPass::default() });
    let view = house.servers.get(&house.account, &server.id).await.unwrap();
    assert_eq!(view.status, ServerStatus::Ready);
}

#[tokio::test]
async fn servers_that_nobody_uses_and_deleted_ones_are_left_in_peace() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    house.clock.forward(Duration::from_hours(24 * 8));
    let pass = house.servers.refresh_due(&often()).await.unwrap();
    assert_eq!(pass, RefreshPass { unused: 1, ..RefreshPass::default() });
    house.servers.delete(&house.account, &server.id).await.unwrap();
    house.clock.forward(Duration::from_hours(24));
    assert_eq!(house.servers.refresh_due(&often()).await.unwrap(), RefreshPass::default());
}

#[tokio::test]
async fn of_two_passes_side_by_side_one_takes_each_server() {
    let house = House::new().await;
    for name in ["a", "b", "c"] {
        let input = ServerInput { name: name.into(), ..faulty(&[]) };
        house.servers.create(&house.account, input).await.unwrap();
    }
    house.clock.forward(Duration::from_hours(7));
    let settings = often();
    let (one, two) = tokio::join!(house.servers.refresh_due(&settings), house.servers.refresh_due(&settings));
    assert_eq!(one.unwrap().refreshed + two.unwrap().refreshed, 3);
}

#[tokio::test]
async fn a_queue_takes_the_work_over() {
    let house = House::new().await;
    house.faulty(&[]).await;
    house.clock.forward(Duration::from_hours(7));
    let queue = Outbox::default();
    assert_eq!(house.servers.fan_out(&queue, &often()).await.unwrap(), 1);
    assert_eq!(house.servers.fan_out(&queue, &often()).await.unwrap(), 0);
    let job = queue.0.lock().unwrap().pop().unwrap();
    house.servers.run_job(&job, &often()).await.unwrap();
    house.clock.forward(Duration::from_hours(1));
    assert_eq!(house.servers.fan_out(&queue, &often()).await.unwrap(), 0);
    assert!(house.servers.run_job(&json!({"account": "a"}), &often()).await.is_err());
}

/// Keeps what is sent.
#[derive(Default)]
struct Outbox(Mutex<Vec<Value>>);

#[async_trait::async_trait]
impl Queue for Outbox {
    async fn send(&self, body: Value, _delay: Duration) -> Result<String, QueueError> {
        self.0.lock().unwrap().push(body);
        Ok("1".into())
    }

    async fn receive(&self, _max: usize, _wait: Duration) -> Result<Vec<Delivery>, QueueError> {
        Ok(Vec::new())
    }

    async fn done(&self, _receipt: &str) -> Result<(), QueueError> {
        Ok(())
    }

    async fn extend(&self, _receipt: &str, _visibility: Duration) -> Result<(), QueueError> {
        Ok(())
    }

    async fn dead(&self, _max: usize) -> Result<Vec<Delivery>, QueueError> {
        Ok(Vec::new())
    }
}
