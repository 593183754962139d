//! A DynamoDB, KMS, S3 and SQS for tests: moto's server, started when needed and stopped when nobody holds it.
//!
//! [`Moto`] is the server, [`FaultProxy`] stands before it and fails when a test says so, [`http`] sends what
//! a stranger with a link would send. For tests alone.

mod http;
mod proxy;
mod venv;

pub use http::{Reply, send};
pub use proxy::{Fault, FaultProxy};

use anyhow::{Context as _, Result, bail};
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak, mpsc},
    time::Duration,
};

/// How long the server may take to come up.
const START: Duration = Duration::from_mins(1);

/// A running server. It ends with the last [`Arc`] of it.
#[derive(Debug)]
pub struct Moto {
    child: Mutex<Child>,
    url: String,
}

impl Moto {
    /// The server that all tests of this process share, started by the first.
    pub fn shared() -> Result<Arc<Self>> {
        static SHARED: Mutex<Weak<Moto>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let started = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&started);
        Ok(started)
    }

    fn start() -> Result<Self> {
        let program = venv::moto_server()?;
        let mut child = venv::command(&program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", program.display()))?;
        let stderr = child.stderr.take().context("the server has no stderr")?;
        let (send, receive) = mpsc::channel();
        // Goes on reading to the end, so that the server never waits for somebody to read its log.
        std::thread::spawn(move || {
            let mut said = String::new();
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once("Running on ") {
                    let _ = send.send(Ok(url.trim().to_owned()));
                    said.clear();
                } else if said.len() < 4000 {
                    said.push_str(&line);
                    said.push('\n');
                }
            }
            let _ = send.send(Err(said));
        });
        match receive.recv_timeout(START) {
            Ok(Ok(url)) => Ok(Self { child: Mutex::new(child), url }),
            other => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("moto's server did not come up: {other:?}")
            }
        }
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A configuration whose clients talk to the server.
    pub fn config(&self) -> SdkConfig {
        config(&self.url)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A configuration whose clients talk to `url`.
pub fn config(url: &str) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "tests");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("eu-central-1"))
        .endpoint_url(url)
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}
