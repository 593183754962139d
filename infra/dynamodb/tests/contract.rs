//! The table's contract over moto's DynamoDB.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod support;

use contracts::{ManualClock, Subject};
use domain::ports::Table;
use infra_dynamodb::DynamoDbTable;
use moto::{FaultProxy, Moto};
use std::sync::Arc;

async fn subject() -> Subject<dyn Table> {
    let moto = Moto::shared().unwrap();
    let proxy = FaultProxy::start_serial(moto.url()).await.unwrap();
    let config = moto::config(proxy.url());
    let name = support::create_table(&config).await;
    let clock = Arc::new(ManualClock::default());
    let table = || Arc::new(DynamoDbTable::with_clock(&config, &name, clock.clone()));
    let subject: Subject<dyn Table> = Subject::new(table(), table(), clock.clone(), (moto, proxy));
    subject.slow()
}

mod table {
    contracts::table_contract!(super::subject());
}

mod catalog {
    contracts::catalog_contract!(super::subject());
}
