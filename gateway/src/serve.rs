//! The server: takes the data directory, listens, and ends without losing anything.

use crate::{app::App, data::DataDir};
use anyhow::Context as _;
use axum::serve::ListenerExt as _;
use boot::{Config, Defaults, Environment};
use std::{future::Future, net::SocketAddr, time::Duration};
use tokio::net::TcpListener;

/// How long requests may go on after the server was told to end.
const DRAIN: Duration = Duration::from_secs(10);

/// A server that is bound and opened, and not yet accepting.
pub struct Server {
    listener: TcpListener,
    app: App,
    url: String,
    // Given back last.
    _lock: crate::data::Lock,
}

impl Server {
    /// Takes the directory, binds the address and opens everything.
    pub async fn bind(
        addr: SocketAddr,
        data: &DataDir,
        environment: &dyn Environment,
    ) -> anyhow::Result<Self> {
        data.create()?;
        let lock = data.lock()?;
        let defaults =
            Defaults { data: data.path().to_owned(), loopback_only: addr.ip().is_loopback(), log: "info" };
        let mut config = Config::read(environment, &defaults)?;
        let listener = TcpListener::bind(addr)
            .await
            .with_context(|| format!("cannot listen on {addr}: choose another address with --addr"))?;
        let url = format!("http://{}", listener.local_addr()?);
        if config.public_url.is_none() {
            config.public_url = Some(url.parse()?);
        }
        let app = App::open(&config, data).await?;
        lock.announce(&url)?;
        Ok(Self { listener, app, url, _lock: lock })
    }

    /// Where it listens: `http://ADDR`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it serves.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Serves until `shutdown` is ready; then lets requests end, for 10 seconds at most, and closes everything.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
        let listener = self.listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY was not set");
            }
        });
        let serving = axum::serve(listener, self.app.router.clone()).with_graceful_shutdown(async move {
            shutdown.await;
            tracing::info!("ending: waiting for requests that are being served");
            let _ = stopping.send(());
        });
        let drained = async {
            let _ = stopped.await;
            tokio::time::sleep(DRAIN).await;
        };
        let result = tokio::select! {
            result = async { serving.await } => result.context("the server failed"),
            () = drained => {
                tracing::warn!("requests were still being served after {} s and were given up", DRAIN.as_secs());
                Ok(())
            }
            () = self.app.services.keep_catalogs_fresh() => Ok(()),
        };
        self.app.close().await;
        result
    }
}

/// Ready when the process is told to end (SIGTERM, SIGINT). It listens from the call on, not from the first poll:
/// call it before anyone is told that the server accepts.
pub fn told_to_end() -> impl Future<Output = ()> + Send + 'static {
    use tokio::signal::unix::{Signal, SignalKind, signal};
    let listen =
        |kind| signal(kind).inspect_err(|error| tracing::error!(%error, "a signal cannot be waited for"));
    let (terminate, interrupt) = (listen(SignalKind::terminate()).ok(), listen(SignalKind::interrupt()).ok());
    let wait = async |signal: Option<Signal>| match signal {
        Some(mut signal) => {
            signal.recv().await;
        }
        None => std::future::pending::<()>().await,
    };
    async move {
        tokio::select! {
            () = wait(terminate) => {}
            () = wait(interrupt) => {}
        }
    }
}
