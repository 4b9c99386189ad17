//! A client that is made for many small requests, and the connection that owns it.

use super::api::Api;
use super::config::{self, Settings};
use super::environment::Environment;
use super::error::{Error, Place};
use crate::cli::ConnectionArgs;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioExecutor;
use kube::client::middleware::AuthLayer;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::{Client, Config};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tower::{BoxError, ServiceBuilder};

/// A way to one API server. It blocks: the runtime below is its own.
pub struct Connection {
    // The order matters: the client's tasks end before their runtime does.
    pub(super) api: Api,
    pub(super) namespace: String,
    pub(super) runtime: Runtime,
}

impl Connection {
    /// Reads flags and kubeconfig and makes a client; nothing is sent yet, though a credential
    /// plugin may run.
    ///
    /// # Errors
    /// The flags or the kubeconfig cannot be understood, or there are no credentials.
    pub fn open(args: &ConnectionArgs, environment: &Environment) -> Result<Connection, Error> {
        Connection::from_settings(config::read(args, environment)?)
    }

    /// The namespace of `-n`, of the context, or `default`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The context of the kubeconfig that is in use.
    pub fn context(&self) -> Option<&str> {
        self.api.place().context.as_deref()
    }

    pub(super) fn from_settings(settings: Settings) -> Result<Connection, Error> {
        // An error means that a provider is there already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::usage(format!("no event loop: {error}")))?;
        let place = settings.place;
        let client = {
            let _inside = runtime.enter();
            client(settings.config, settings.proxy.as_ref(), &place)?
        };
        Ok(Connection {
            api: Api::new(client, Arc::new(place), settings.timeout),
            namespace: settings.namespace,
            runtime,
        })
    }

    /// A connection to a server that checks nobody, by way of a proxy if the environment says so.
    #[cfg(test)]
    pub(super) fn to(url: &str, environment: &Environment) -> Connection {
        let mut config = Config::new(url.parse().unwrap());
        config.root_cert = Some(Vec::new());
        let proxy = environment.proxy(None).intercept(&config.cluster_url);
        let address = config.cluster_url.authority().unwrap().to_string();
        let settings = Settings {
            config,
            namespace: "default".to_owned(),
            place: Place {
                address,
                context: None,
                proxy: None,
            },
            timeout: None,
            proxy,
        };
        Connection::from_settings(settings).unwrap()
    }
}

/// The connector below TLS.
///
/// Small TLS records follow one another here; with Nagle's algorithm on, each request would wait
/// some 40 ms for a delayed acknowledgement. Keep-alive finds a server that is gone without a word.
fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(30)));
    connector.set_keepalive(Some(Duration::from_secs(15)));
    connector.set_keepalive_interval(Some(Duration::from_secs(5)));
    connector.set_keepalive_retries(Some(3));
    connector
}

fn client(mut config: Config, proxy: Option<&Intercept>, place: &Place) -> Result<Client, Error> {
    let trouble = |error| Error::client(error, place);
    config.headers.push((
        "user-agent".parse().expect("a header name"),
        concat!("kubectl-startorder/", env!("CARGO_PKG_VERSION"))
            .parse()
            .expect("a header value"),
    ));
    let auth = config.auth_layer().map_err(trouble)?;
    if auth.is_some() {
        // The credential plugin gave a token; without this it would run again for a certificate.
        config.auth_info.exec = None;
    }
    let Some(proxy) = proxy else {
        let connector = config.rustls_https_connector_with_connector(tcp());
        return assemble(connector.map_err(trouble)?, auth, &config, place);
    };
    let uri = proxy.uri().clone();
    if uri
        .scheme_str()
        .is_some_and(|scheme| scheme.starts_with("socks5"))
    {
        let mut socks = SocksV5::new(uri, tcp());
        if let Some((user, password)) = proxy.raw_auth() {
            socks = socks.with_auth(user.to_owned(), password.to_owned());
        }
        let connector = config.rustls_https_connector_with_connector(socks);
        return assemble(connector.map_err(trouble)?, auth, &config, place);
    }
    let to_proxy = config.rustls_https_connector_with_connector(tcp());
    let mut tunnel = Tunnel::new(uri, to_proxy.map_err(trouble)?);
    if let Some(credentials) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(credentials.clone());
    }
    let connector = config.rustls_https_connector_with_connector(tunnel);
    assemble(connector.map_err(trouble)?, auth, &config, place)
}

fn assemble<C>(
    connector: C,
    auth: Option<AuthLayer>,
    config: &Config,
    place: &Place,
) -> Result<Client, Error>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let headers = config.extra_headers_layer();
    let headers = headers.map_err(|error| Error::client(error, place))?;
    let http: HttpClient<C, Body> = HttpClient::builder(TokioExecutor::new()).build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(auth)
        .layer(headers)
        .map_err(BoxError::from)
        .service(http);
    Ok(ClientBuilder::new(service, config.default_namespace.clone()).build())
}

#[cfg(test)]
mod tests {
    use super::super::error::Trouble;
    use super::super::fake::{Fake, Reply};
    use super::*;
    use tower::Service;

    #[test]
    fn requests_do_not_wait_for_acknowledgements() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let stream = runtime.block_on(tcp().call(url.parse().unwrap())).unwrap();
        assert!(stream.inner().nodelay().unwrap());
    }

    #[test]
    fn a_server_that_is_not_there_is_told_as_kubectl_tells_it() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let connection = Connection::to(&format!("https://{address}"), &Environment::default());
        let got = connection.runtime.block_on(connection.api.get("/version"));
        let error = got.unwrap_err();
        let refused = format!("dial tcp {address}: connection refused");
        assert_eq!(
            error.to_string(),
            format!("Unable to connect to the server: {refused}")
        );
        assert_eq!(
            error.hint(),
            Some("kubectl cluster-info tests the same way in")
        );
    }

    #[test]
    fn a_proxy_is_asked_for_the_way_to_the_server() {
        let proxy = Fake::start(|_, _| Reply::Whole(502, String::new()));
        let environment = Environment {
            https_proxy: Some(proxy.url.clone()),
            ..Environment::default()
        };
        let connection = Connection::to("https://api.test:6443", &environment);
        let got = connection.runtime.block_on(connection.api.get("/version"));
        let error = got.unwrap_err();
        assert_eq!(error.trouble(), Trouble::Unreachable, "{error}");
        assert_eq!(proxy.requests(), ["api.test:6443"], "{error}");
    }
}
