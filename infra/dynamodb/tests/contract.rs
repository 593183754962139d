//! The table's contract over moto's DynamoDB.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod support;

use contracts::{ManualClock, Subject};
use domain::ports::Table;
use infra_dynamodb::DynamoDbTable;
use moto::Moto;
use std::sync::Arc;

async fn subject() -> Subject<dyn Table> {
    let moto = Moto::shared().unwrap();
    let config = moto.config();
    let name = support::create_table(&config).await;
    let clock = Arc::new(ManualClock::default());
    let table = || Arc::new(DynamoDbTable::with_clock(&config, &name, clock.clone()));
    Subject::new(table(), table(), clock.clone(), moto)
}

mod table {
    contracts::table_contract!(super::subject());
}

mod catalog {
    contracts::catalog_contract!(super::subject());
}
