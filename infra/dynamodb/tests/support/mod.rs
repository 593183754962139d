//! A table of its own in moto's DynamoDB.

use aws_config::SdkConfig;
use aws_sdk_dynamodb::{
    Client,
    types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType},
};

/// Makes a table with the product's shape, and gives its name.
pub(crate) async fn create_table(config: &SdkConfig) -> String {
    create_table_keyed(&Client::new(config), "pk", "sk").await
}

/// Makes a table with these keys, and gives its name.
pub(crate) async fn create_table_keyed(client: &Client, hash: &str, range: &str) -> String {
    let name = format!("haft-{}", uuid::Uuid::new_v4());
    let attribute = |name: &str| {
        let definition = AttributeDefinition::builder().attribute_name(name);
        definition.attribute_type(ScalarAttributeType::S).build().unwrap()
    };
    let part = |name: &str, kind: KeyType| {
        KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap()
    };
    client
        .create_table()
        .table_name(&name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute(hash))
        .attribute_definitions(attribute(range))
        .key_schema(part(hash, KeyType::Hash))
        .key_schema(part(range, KeyType::Range))
        .send()
        .await
        .unwrap();
    name
}
