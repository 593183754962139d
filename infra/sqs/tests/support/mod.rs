//! A queue of its own, with its dead-letter queue, in moto's SQS.

use aws_config::SdkConfig;
use aws_sdk_sqs::{Client, types::QueueAttributeName};
use contracts::queue;
use domain::AccountId;
use serde_json::json;

/// Makes a queue that gives up after the contract's number of attempts, and gives its address.
pub(crate) async fn create_queue(config: &SdkConfig) -> String {
    let client = Client::new(config);
    let name = AccountId::generate().to_string();
    let dead = client.create_queue().queue_name(format!("{name}-dead")).send().await.unwrap();
    let attributes = client
        .get_queue_attributes()
        .queue_url(dead.queue_url.unwrap())
        .attribute_names(QueueAttributeName::QueueArn)
        .send()
        .await
        .unwrap();
    let arn = attributes.attributes.unwrap().remove(&QueueAttributeName::QueueArn).unwrap();
    let policy = json!({"deadLetterTargetArn": arn, "maxReceiveCount": queue::ATTEMPTS.to_string()});
    let made = client
        .create_queue()
        .queue_name(&name)
        .attributes(QueueAttributeName::RedrivePolicy, policy.to_string())
        .send()
        .await
        .unwrap();
    made.queue_url.unwrap()
}
