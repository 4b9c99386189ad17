//! What can go wrong with a cluster, in kubectl's words.

use kube::core::Status;
use std::error::Error as StdError;
use std::fmt;
use std::io;

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A flag, a target or the kubeconfig cannot be understood.
    Usage,
    /// Nobody answers, or not as a Kubernetes API server does.
    Unreachable,
    /// The server does not know who asks.
    Unauthorized,
    /// The server knows who asks, and refuses.
    Forbidden,
    /// There is no such object.
    NotFound,
    /// The resource version of a watch is too old to go on from (410).
    Gone,
    /// Any other refusal, such as an overloaded server's.
    Refused,
}

/// Why the cluster could not be asked: one sentence and perhaps a hint.
///
/// `Display` is the whole first line as kubectl prints it: some begin with `error: `, some with
/// `Error from server (…): `. Neither it nor the hint holds a token, the output of a credential
/// plugin, or a line of a kubeconfig.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct Error {
    trouble: Trouble,
    sentence: String,
    hint: Option<String>,
}

/// Whom a connection speaks to; every sentence about trouble on the way names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Host and port of the API server.
    pub address: String,
    /// The context of the kubeconfig, if there is one.
    pub context: Option<String>,
    /// Host and port of the proxy on the way, if there is one.
    pub proxy: Option<String>,
}

impl Place {
    /// What is dialled, in the words of Go's network library.
    fn dial(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("proxyconnect tcp: dial tcp {proxy}"),
            None => format!("dial tcp {}", self.address),
        }
    }
}

impl Error {
    /// What kind of trouble it is.
    pub fn trouble(&self) -> Trouble {
        self.trouble
    }

    /// What the user could do next.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The same trouble with another hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// A flag, a target or the kubeconfig cannot be understood.
    pub(super) fn usage(message: impl fmt::Display) -> Error {
        Error::new(Trouble::Usage, format!("error: {message}"))
    }

    /// Nobody answers.
    pub(super) fn unreachable(reason: impl fmt::Display, place: &Place) -> Error {
        let error = Error::new(
            Trouble::Unreachable,
            format!("Unable to connect to the server: {reason}"),
        );
        let same = "kubectl cluster-info tests the same way in";
        error.with_hint(match &place.context {
            Some(context) => format!("context {context:?}; {same}"),
            None => same.to_owned(),
        })
    }

    /// `Error from server (NotFound): pods "sample" not found`.
    pub(super) fn not_found(resource: &str, name: &str) -> Error {
        Error::new(
            Trouble::NotFound,
            format!("Error from server (NotFound): {resource} {name:?} not found"),
        )
    }

    /// No answer in the time that `--request-timeout` gives.
    pub(super) fn timed_out(limit: std::time::Duration, place: &Place) -> Error {
        let address = &place.address;
        Error::unreachable(format!("{address}: no answer within {limit:?}"), place)
            .with_hint("--request-timeout gives it more time")
    }

    /// What a server answered instead of what it was asked for.
    pub(super) fn status(status: &Status) -> Error {
        let message = printable(&status.message);
        let trouble = match (status.code, status.reason.as_str()) {
            (401, _) | (_, "Unauthorized") => Trouble::Unauthorized,
            (403, _) | (_, "Forbidden") => Trouble::Forbidden,
            (404, _) | (_, "NotFound") => Trouble::NotFound,
            (410, _) | (_, "Expired" | "Gone") => Trouble::Gone,
            _ => Trouble::Refused,
        };
        if trouble == Trouble::Unauthorized {
            let sentence = "error: You must be logged in to the server (Unauthorized)";
            return Error::new(trouble, sentence.to_owned());
        }
        let reason = printable(&status.reason);
        let sentence = match reason.chars().any(char::is_whitespace) || reason.is_empty() {
            true => format!("Error from server: {message}"),
            false => format!("Error from server ({reason}): {message}"),
        };
        Error::new(trouble, sentence)
    }

    /// Trouble of the client library.
    pub(super) fn client(error: kube::Error, place: &Place) -> Error {
        match error {
            kube::Error::Api(status) => Error::status(&status),
            kube::Error::Auth(error) => Error::credentials(&error),
            kube::Error::Service(error) => match error.downcast_ref() {
                Some(error) => Error::credentials(error),
                None => Error::unreachable(reason(error.as_ref(), place), place),
            },
            kube::Error::RustlsTls(error) => Error::usage(format!("TLS: {error}")),
            kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => {
                let answer = format!("{} answers, but not as Kubernetes does", place.address);
                Error::unreachable(answer, place)
            }
            other => Error::unreachable(reason(&other, place), place),
        }
    }

    /// Trouble with a credential plugin; what it printed may be a secret and is not repeated.
    fn credentials(error: &kube::client::AuthError) -> Error {
        use kube::client::AuthError;
        let reason = match error {
            AuthError::AuthExecStart(error) => {
                format!("the credential plugin cannot be started: {error}")
            }
            AuthError::AuthExecRun { out, .. } => {
                format!("the credential plugin failed: {}", out.status)
            }
            AuthError::ReadTokenFile(error, path) => {
                format!("the token file {} cannot be read: {error}", path.display())
            }
            AuthError::MissingCommand => "the credential plugin has no command".to_owned(),
            AuthError::Oidc(_) => "the OIDC token cannot be refreshed".to_owned(),
            AuthError::OAuth(_) => "no token from Google's application credentials".to_owned(),
            _ => "the credential plugin's answer is not understood".to_owned(),
        };
        Error::usage(format!("getting credentials: {reason}"))
            .with_hint("kubectl auth whoami uses the same credentials")
    }

    fn new(trouble: Trouble, sentence: String) -> Error {
        Error {
            trouble,
            sentence,
            hint: None,
        }
    }
}

/// Why nothing came back, as Go's network library says it: that is what people search for.
fn reason(error: &(dyn StdError + 'static), place: &Place) -> String {
    let address = &place.address;
    let mut link = Some(error);
    let mut last = error.to_string();
    while let Some(error) = link {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return io_reason(error, place);
        }
        if error.to_string() == "dns error" {
            let dialled = place.proxy.as_ref().unwrap_or(address);
            let host = dialled
                .rsplit_once(':')
                .map_or(&**dialled, |(host, _)| host);
            return format!("dial tcp: lookup {host}: no such host");
        }
        last = error.to_string();
        link = error.source();
    }
    format!("{address}: {}", printable(&last))
}

fn io_reason(error: &io::Error, place: &Place) -> String {
    let address = &place.address;
    let inner = error.get_ref();
    if let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return tls_reason(tls, address);
    }
    let dial = place.dial();
    match error.kind() {
        io::ErrorKind::ConnectionRefused => format!("{dial}: connection refused"),
        io::ErrorKind::TimedOut => format!("{dial}: i/o timeout"),
        io::ErrorKind::HostUnreachable => format!("{dial}: no route to host"),
        io::ErrorKind::NetworkUnreachable => format!("{dial}: network is unreachable"),
        io::ErrorKind::ConnectionReset => format!("{address}: connection reset by peer"),
        io::ErrorKind::UnexpectedEof => format!("{address}: EOF"),
        _ => match inner {
            Some(inner) => reason(inner, place),
            None => format!("{address}: {}", printable(&error.to_string())),
        },
    }
}

fn tls_reason(error: &rustls::Error, address: &str) -> String {
    use rustls::CertificateError::{Expired, NotValidForName, UnknownIssuer};
    let rustls::Error::InvalidCertificate(why) = error else {
        return format!("{address}: tls: {}", printable(&error.to_string()));
    };
    let why = match why {
        UnknownIssuer => "x509: certificate signed by unknown authority".to_owned(),
        Expired => "x509: certificate has expired or is not yet valid".to_owned(),
        NotValidForName => format!("x509: certificate is not valid for {address}"),
        other => printable(&other.to_string()),
    };
    format!("tls: failed to verify certificate: {why}")
}

/// Text of others without what could drive a terminal.
fn printable(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.trim().chars().map(plain).collect()
}
