//! `email/send`: mail through the author's own SMTP server.
//!
//! The library opens the connection itself, so the server's name is resolved and judged by the egress guard first,
//! and the connection goes to exactly the address that was judged; TLS still checks the server's name.

use std::net::SocketAddr;
use std::time::Duration;

use lettre::address::AddressError;
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials as Login;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::json;

use super::{SendParams, SendSecurity};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, invalid_argument, request_failed,
};
use crate::upstream::{Vendor, excerpt};

/// The most people one mail goes to.
const MOST_PEOPLE: usize = 50;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendArgs {
    /// The addresses it goes to, as `ada@example.com` or `Ada <ada@example.com>`.
    #[schemars(length(min = 1, max = 50))]
    pub to: Vec<String>,
    /// The addresses that get a copy.
    #[schemars(length(max = 50))]
    #[serde(default)]
    pub cc: Vec<String>,
    /// The subject, in one line.
    #[schemars(length(min = 1, max = 300))]
    pub subject: String,
    /// The mail as plain text.
    #[schemars(length(min = 1, max = 200_000))]
    pub text: String,
    /// The same mail as HTML, for readers that show it.
    #[schemars(length(max = 500_000))]
    pub html: Option<String>,
}

/// Builds the tool.
pub fn send(params: SendParams, deps: &ToolDeps) -> Result<impl CallTool<Args = SendArgs>, BuildError> {
    let host = params.host.trim().trim_end_matches('.').to_ascii_lowercase();
    if url::Host::parse(&host).is_err() {
        return Err(BuildError::invalid_param("host", "is no host name: leave out scheme and port"));
    }
    let from = params.from.parse().map_err(|error: AddressError| {
        BuildError::invalid_param("from", format!("is no mail address ({error})"))
    })?;
    let port = u16::try_from(params.port).map_err(|_| BuildError::invalid_param("port", "is no port"))?;
    let allowed = params.allowed_recipients.unwrap_or_default();
    let allowed =
        allowed.split(',').map(|rule| rule.trim().to_ascii_lowercase()).filter(|rule| !rule.is_empty());
    Ok(Send {
        vendor: Vendor::new("email", "the mail server", deps),
        host,
        port,
        security: params.security,
        from,
        allowed: allowed.collect(),
    })
}

struct Send {
    vendor: Vendor,
    host: String,
    port: u16,
    security: SendSecurity,
    from: Mailbox,
    allowed: Vec<String>,
}

impl CallTool for Send {
    type Args = SendArgs;

    async fn call(&self, args: Self::Args, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let message = self.message(&args)?;
        let people: Vec<_> = message.envelope().to().iter().map(ToString::to_string).collect();
        let mut stored = self.vendor.stored(cx).await?;
        let login = match (stored.remove("username"), stored.remove("password")) {
            (Some(user), Some(password)) => {
                Some(Login::new(user.expose_secret().to_owned(), password.expose_secret().to_owned()))
            }
            (None, None) => None,
            (Some(_), None) => return Err(self.vendor.missing("password")),
            (None, Some(_)) => return Err(self.vendor.missing("username")),
        };
        let limit = cx.remaining();
        let addresses = self.vendor.http.resolve(&self.host, self.port);
        let addresses = within(limit, addresses).await?.map_err(|error| request_failed(&error))?;
        let address = addresses.first().ok_or_else(|| ToolError::internal("a name without an address"))?;
        let transport = self.transport(*address, login, limit)?;
        match within(cx.remaining(), transport.send(message)).await? {
            Ok(_) => Ok(ToolOutput::structured(
                format!("The mail was handed to the mail server for {}.", people.join(", ")),
                json!({"sent": true, "recipients": people}),
            )),
            Err(error) => Err(judged(&error, limit)),
        }
    }
}

impl Send {
    fn message(&self, args: &SendArgs) -> Result<Message, ToolError> {
        if args.to.len() + args.cc.len() > MOST_PEOPLE {
            return Err(invalid_argument(
                "to",
                format!("and `cc` hold more than {MOST_PEOPLE} addresses together"),
            ));
        }
        if args.subject.chars().any(char::is_control) {
            return Err(invalid_argument("subject", "must be one line"));
        }
        let mut builder = Message::builder().from(self.from.clone()).subject(&args.subject);
        for to in &args.to {
            builder = builder.to(self.mailbox("to", to)?);
        }
        for cc in &args.cc {
            builder = builder.cc(self.mailbox("cc", cc)?);
        }
        let plain = SinglePart::plain(args.text.clone());
        let message = match args.html.clone().filter(|html| !html.trim().is_empty()) {
            Some(html) => builder
                .multipart(MultiPart::alternative().singlepart(plain).singlepart(SinglePart::html(html))),
            None => builder.singlepart(plain),
        };
        message.map_err(ToolError::internal)
    }

    fn mailbox(&self, argument: &str, text: &str) -> Result<Mailbox, ToolError> {
        let mailbox: Mailbox = text.trim().parse().map_err(|error| {
            invalid_argument(
                argument,
                format!("holds `{}`, which is no mail address ({error})", excerpt(text)),
            )
        })?;
        let address = mailbox.email.to_string().to_ascii_lowercase();
        let allows = |rule: &String| {
            if rule.starts_with('@') { address.ends_with(rule.as_str()) } else { address == *rule }
        };
        if self.allowed.is_empty() || self.allowed.iter().any(allows) {
            return Ok(mailbox);
        }
        let allowed = self.allowed.join(", ");
        Err(invalid_argument(argument, format!("holds `{address}`; this app allows mail to {allowed} only")))
    }

    fn transport(
        &self,
        address: SocketAddr,
        login: Option<Login>,
        limit: Duration,
    ) -> Result<AsyncSmtpTransport<Tokio1Executor>, ToolError> {
        let tls = || TlsParameters::new(self.host.clone()).map_err(ToolError::internal);
        let tls = match self.security {
            SendSecurity::Tls => Tls::Wrapper(tls()?),
            SendSecurity::Starttls => Tls::Required(tls()?),
            SendSecurity::None => Tls::None,
        };
        // "Dangerous" means that nothing is set of itself; encryption is set in the same breath.
        let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(address.ip().to_string())
            .port(address.port())
            .tls(tls)
            .timeout(Some(limit));
        Ok(match login {
            Some(login) => builder.credentials(login).build(),
            None => builder.build(),
        })
    }
}

async fn within<F: Future>(limit: Duration, work: F) -> Result<F::Output, ToolError> {
    if limit.is_zero() {
        // Else the work would be begun before the time is looked at.
        return Err(ToolError::Timeout { after: limit });
    }
    tokio::time::timeout(limit, work).await.map_err(|_| ToolError::Timeout { after: limit })
}

/// What the library's error means. Its words hold what the server said, never the login.
fn judged(error: &lettre::transport::smtp::Error, limit: Duration) -> ToolError {
    let words = excerpt(&said(error));
    match error.status().map(u16::from) {
        Some(530 | 534 | 535 | 538) => ToolError::MissingCredential {
            what: format!(
                "the mail server refused the login of `email` ({words}); store a valid user name and password"
            ),
        },
        Some(421 | 450..=452) => ToolError::RateLimited { retry_after: None },
        Some(status) => ToolError::Upstream { status, body: words },
        None if error.is_timeout() => ToolError::Timeout { after: limit },
        None if error.is_response() || error.is_client() => ToolError::Upstream { status: 0, body: words },
        None => ToolError::Unreachable { reason: format!("the mail server: {words}") },
    }
}

/// The error and its causes.
fn said(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut words: Vec<String> = causes.map(ToString::to_string).collect();
    words.dedup();
    words.join(": ")
}
