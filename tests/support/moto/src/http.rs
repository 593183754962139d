//! One request, one answer, over plain HTTP.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A response with its whole body.
pub type Reply = Response<Bytes>;

/// Sends a request and reads the whole answer. `uri` names host and port.
pub async fn send(
    method: &str,
    uri: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Result<Reply> {
    let uri: Uri = uri.parse()?;
    let authority = uri.authority().context("the address has no host")?.clone();
    let path = uri.path_and_query().map_or("/", |p| p.as_str());
    let mut request = Request::builder().method(method).uri(path).header("host", authority.as_str());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    forward(authority.as_str(), request.body(Full::new(body.into()))?).await
}

/// Sends a request to a host and port.
pub(crate) async fn forward(host: &str, request: Request<Full<Bytes>>) -> Result<Reply> {
    let stream = TcpStream::connect(host).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    connection.abort();
    Ok(Response::from_parts(head, body))
}
