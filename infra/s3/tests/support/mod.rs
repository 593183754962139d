//! A bucket of its own in moto's S3.

use aws_config::SdkConfig;
use aws_sdk_s3::{
    Client,
    types::{BucketLocationConstraint, CreateBucketConfiguration},
};
use domain::AccountId;

/// Makes a bucket, and gives its name.
pub(crate) async fn create_bucket(config: &SdkConfig) -> String {
    let bucket = AccountId::generate().as_str().replace('_', "-");
    let region =
        CreateBucketConfiguration::builder().location_constraint(BucketLocationConstraint::EuCentral1);
    let config = aws_sdk_s3::config::Builder::from(config).force_path_style(true).build();
    Client::from_conf(config)
        .create_bucket()
        .bucket(&bucket)
        .create_bucket_configuration(region.build())
        .send()
        .await
        .unwrap();
    bucket
}
