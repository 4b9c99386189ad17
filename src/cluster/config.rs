//! kubectl's connection flags and kubeconfig, made one configuration.

use super::environment::Environment;
use super::error::{Error, Place};
use crate::cli::ConnectionArgs;
use hyper_util::client::proxy::matcher::Intercept;
use kube::config::{
    AuthInfo, Cluster, Config, Context, ExecAuthCluster, Kubeconfig, KubeconfigError,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io;
use std::path::Path;
use std::time::Duration;

/// All that a client is made of.
pub(super) struct Settings {
    pub config: Config,
    pub namespace: String,
    pub place: Place,
    /// How long one request may take.
    pub timeout: Option<Duration>,
    /// Which proxy leads there, if any.
    pub proxy: Option<Intercept>,
}

/// Reads flags and kubeconfig. Flags win, as with kubectl.
pub(super) fn read(args: &ConnectionArgs, environment: &Environment) -> Result<Settings, Error> {
    let timeout = args.request_timeout.as_deref();
    let timeout = timeout.map(parse_timeout).transpose()?.flatten();
    let kubeconfig = read_kubeconfig(args, environment)?;
    let chosen = Chosen::from(&kubeconfig, args)?;
    let nothing_given = chosen.cluster.server.is_none() && chosen.name.is_none();
    let mut config = match nothing_given.then(Config::incluster).and_then(Result::ok) {
        Some(mut config) => {
            overlay_user(&mut config.auth_info, args);
            config
        }
        None => chosen.config(args)?,
    };
    let namespace = args.namespace.clone().or(chosen.context.namespace);
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
    if !super::targets::is_name(&namespace) {
        return Err(Error::usage(format!(
            "{namespace:?} is no name of a namespace"
        )));
    }
    config.default_namespace.clone_from(&namespace);
    let url = &config.cluster_url;
    let proxy = environment.proxy(chosen.cluster.proxy_url.as_deref());
    let proxy = proxy.intercept(url);
    let place = Place {
        address: host_and_port(url.host(), url.port_u16(), url.scheme_str()),
        context: chosen.name,
        proxy: proxy.as_ref().map(|proxy| {
            let uri = proxy.uri();
            host_and_port(uri.host(), uri.port_u16(), uri.scheme_str())
        }),
    };
    Ok(Settings {
        config,
        namespace,
        place,
        timeout,
        proxy,
    })
}

/// What the flags choose of a kubeconfig, the flags' own values already laid over it.
struct Chosen {
    name: Option<String>,
    context: Context,
    cluster: Cluster,
    user: AuthInfo,
}

impl Chosen {
    fn from(kubeconfig: &Kubeconfig, args: &ConnectionArgs) -> Result<Chosen, Error> {
        let missing = |kind: &str, name: &str| {
            Error::usage(format!("{kind} {name:?} does not exist"))
                .with_hint("kubectl config view shows what there is")
        };
        let name = args.context.clone().or(kubeconfig.current_context.clone());
        let name = name.filter(|name| !name.is_empty());
        let context = match &name {
            Some(name) => {
                let found = kubeconfig.contexts.iter().find(|item| item.name == *name);
                found
                    .ok_or_else(|| missing("context", name))?
                    .context
                    .clone()
            }
            None => None,
        };
        let context = context.unwrap_or_default();
        let wanted = args.cluster.as_ref().unwrap_or(&context.cluster);
        let found = kubeconfig.clusters.iter().find(|item| item.name == *wanted);
        let cluster = match found {
            Some(found) => found.cluster.clone().unwrap_or_default(),
            None if wanted.is_empty() => Cluster::default(),
            None => return Err(missing("cluster", wanted)),
        };
        let wanted = args.user.as_ref().or(context.user.as_ref());
        let found = kubeconfig
            .auth_infos
            .iter()
            .find(|item| Some(&item.name) == wanted);
        let user = match (found, &args.user) {
            (Some(found), _) => found.auth_info.clone().unwrap_or_default(),
            (None, Some(name)) => return Err(missing("auth info", name)),
            (None, None) => AuthInfo::default(),
        };
        let mut chosen = Chosen {
            name,
            context,
            cluster,
            user,
        };
        overlay_cluster(&mut chosen.cluster, args);
        overlay_user(&mut chosen.user, args);
        Ok(chosen)
    }

    fn config(&self, args: &ConnectionArgs) -> Result<Config, Error> {
        let Some(server) = self.cluster.server.as_deref().filter(|url| !url.is_empty()) else {
            return Err(no_server(self.name.as_deref()));
        };
        let unclear = || {
            Error::usage(format!("{:?} is no address of an API server", host(server)))
                .with_hint("--server https://HOST:PORT")
        };
        // kubectl takes a bare host, too, and speaks http to it.
        let url = match server.contains("://") {
            true => server.to_owned(),
            false => format!("http://{server}"),
        };
        let mut config = Config::new(url.parse().map_err(|_| unclear())?);
        config.cluster_url.host().ok_or_else(unclear)?;
        config.accept_invalid_certs = self.cluster.insecure_skip_tls_verify == Some(true);
        if config.accept_invalid_certs && args.certificate_authority.is_some() {
            let both = "--certificate-authority and --insecure-skip-tls-verify exclude each other";
            return Err(Error::usage(both));
        }
        config
            .tls_server_name
            .clone_from(&self.cluster.tls_server_name);
        config.auth_info = self.user.clone();
        let facts = ExecAuthCluster::try_from(&self.cluster).map_err(kubeconfig_error)?;
        if !config.accept_invalid_certs {
            let pem = facts.certificate_authority_data.as_deref();
            config.root_cert = pem.map(certificates).transpose()?;
        }
        if config.accept_invalid_certs || config.cluster_url.scheme_str() == Some("http") {
            // No certificate is checked: spare the client the reading of the system's.
            config.root_cert = Some(Vec::new());
        }
        if let Some(exec) = &mut config.auth_info.exec
            && exec.provide_cluster_info
        {
            exec.cluster = Some(facts);
        }
        Ok(config)
    }
}

fn overlay_cluster(cluster: &mut Cluster, args: &ConnectionArgs) {
    if let Some(server) = &args.server {
        cluster.server = Some(server.clone());
        // A name that belongs to another server's certificate must not be asked of this one.
        cluster.tls_server_name = None;
    }
    if let Some(name) = &args.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if let Some(path) = &args.certificate_authority {
        cluster.certificate_authority = Some(path.to_string_lossy().into_owned());
        cluster.certificate_authority_data = None;
        cluster.insecure_skip_tls_verify = Some(args.insecure_skip_tls_verify);
    }
    if args.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
        cluster.certificate_authority = None;
        cluster.certificate_authority_data = None;
    }
}

fn overlay_user(user: &mut AuthInfo, args: &ConnectionArgs) {
    if let Some(token) = &args.token {
        user.token = Some(token.clone().into());
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
        user.username = None;
        user.password = None;
    }
    let path = |path: &Path| Some(path.to_string_lossy().into_owned());
    if let Some(certificate) = &args.client_certificate {
        user.client_certificate = path(certificate);
        user.client_certificate_data = None;
    }
    if let Some(key) = &args.client_key {
        user.client_key = path(key);
        user.client_key_data = None;
    }
    if let Some(name) = &args.impersonate {
        user.impersonate = Some(name.clone());
    }
    if let Some(uid) = &args.impersonate_uid {
        user.impersonate_uid = Some(uid.clone());
    }
    if !args.impersonate_groups.is_empty() {
        user.impersonate_groups = Some(args.impersonate_groups.clone());
    }
}

/// The kubeconfig: `--kubeconfig`, else the files of `KUBECONFIG`, else the home directory's.
/// Empty when there is none.
fn read_kubeconfig(args: &ConnectionArgs, environment: &Environment) -> Result<Kubeconfig, Error> {
    if let Some(path) = &args.kubeconfig {
        return Kubeconfig::read_from(path).map_err(kubeconfig_error);
    }
    let list = environment.kubeconfig.clone().unwrap_or_default();
    let paths: Vec<_> = std::env::split_paths(&list)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if paths.is_empty() {
        return unless_missing(Kubeconfig::read());
    }
    paths
        .iter()
        .try_fold(Kubeconfig::default(), |merged, path| {
            let next = unless_missing(Kubeconfig::read_from(path))?;
            merged.merge(next).map_err(kubeconfig_error)
        })
}

/// A file that is not there is an empty kubeconfig, as for kubectl.
fn unless_missing(read: Result<Kubeconfig, KubeconfigError>) -> Result<Kubeconfig, Error> {
    match read {
        Err(KubeconfigError::FindPath) => Ok(Kubeconfig::default()),
        Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Kubeconfig::default())
        }
        other => other.map_err(kubeconfig_error),
    }
}

fn no_server(context: Option<&str>) -> Error {
    let nowhere = Place {
        address: String::new(),
        context: None,
        proxy: None,
    };
    match context {
        Some(name) => Error::unreachable(format!("context {name:?} names no server"), &nowhere)
            .with_hint("kubectl config view shows what there is"),
        None => Error::unreachable("no kubeconfig, and no pod around this process", &nowhere)
            .with_hint("set KUBECONFIG, or give --kubeconfig, --context or --server"),
    }
}

/// Says what is wrong with a kubeconfig without a word of what stands in it.
fn kubeconfig_error(error: KubeconfigError) -> Error {
    let sentence = match error {
        KubeconfigError::ReadConfig(error, path) => {
            format!("loading kubeconfig {}: {error}", path.display())
        }
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!(
                "kubeconfig: not understood at {}:{}",
                at.line(),
                at.column()
            ),
            None => "kubeconfig: not understood".to_owned(),
        },
        KubeconfigError::LoadCertificateAuthority(error) => {
            format!("certificate authority: {error}")
        }
        KubeconfigError::LoadClientCertificate(error) => format!("client certificate: {error}"),
        KubeconfigError::LoadClientKey(error) => format!("client key: {error}"),
        KubeconfigError::KindMismatch | KubeconfigError::ApiVersionMismatch => {
            "the files of KUBECONFIG are not of one kind and version".to_owned()
        }
        _ => "kubeconfig: not understood".to_owned(),
    };
    Error::usage(sentence).with_hint("kubectl config view reads the same files")
}

fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    CertificateDer::pem_slice_iter(pem)
        .map(|certificate| certificate.map(|der| der.to_vec()))
        .collect::<Result<Vec<_>, _>>()
        .ok()
        .filter(|certificates| !certificates.is_empty())
        .ok_or_else(|| Error::usage("certificate authority: no certificate in PEM found"))
}

/// Host and port, without a user name or password that stands before them.
fn host_and_port(host: Option<&str>, port: Option<u16>, scheme: Option<&str>) -> String {
    let default = match scheme {
        Some("http") => 80,
        Some("socks5" | "socks5h") => 1080,
        Some(_) | None => 443,
    };
    format!("{}:{}", host.unwrap_or_default(), port.unwrap_or(default))
}

fn host(url: &str) -> &str {
    url.rsplit_once('@').map_or(url, |(_, host)| host)
}

/// Reads `10s`, `1m30s`, or seconds without a unit; nothing for zero.
fn parse_timeout(text: &str) -> Result<Option<Duration>, Error> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let limit = seconds.or_else(|| {
        let duration = text.parse::<jiff::SignedDuration>().ok()?;
        Duration::try_from(duration).ok()
    });
    let limit = limit.ok_or_else(|| {
        Error::usage(format!("--request-timeout={text}: not a time"))
            .with_hint("--request-timeout=10s; 0 sets no limit")
    })?;
    Ok(Some(limit).filter(|limit| !limit.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Files that go with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Folder {
            let name = format!("startorder-{test}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const ONE: &str = "\
apiVersion: v1
kind: Config
clusters:
- {name: one, cluster: {server: \"https://10.0.0.1:6443\", tls-server-name: one.test}}
users:
- {name: ann, user: {token: secret-of-ann}}
contexts:
- {name: first, context: {cluster: one, user: ann, namespace: shop}}
current-context: first
";
    const TWO: &str = "\
apiVersion: v1
kind: Config
clusters: [{name: two, cluster: {server: \"http://10.0.0.2\"}}]
contexts: [{name: second, context: {cluster: two}}]
current-context: second
";

    fn settings(args: &ConnectionArgs, files: &[&Path]) -> Result<Settings, Error> {
        let environment = Environment {
            kubeconfig: Some(std::env::join_paths(files).unwrap()),
            ..Environment::default()
        };
        read(args, &environment)
    }

    #[test]
    fn files_of_the_list_are_merged_and_missing_ones_left_out() {
        let folder = Folder::new("list");
        let (one, two) = (folder.file("one", ONE), folder.file("two", TWO));
        let missing = Path::new("/nowhere/kubeconfig");
        let read = settings(&ConnectionArgs::default(), &[missing, &one, &two]).unwrap();
        assert_eq!(read.namespace, "shop");
        assert_eq!(read.place.context.as_deref(), Some("first"));
        assert_eq!(read.place.address, "10.0.0.1:6443");
        let args = ConnectionArgs {
            context: Some("second".into()),
            ..ConnectionArgs::default()
        };
        let read = settings(&args, &[&one, &two]).unwrap();
        assert_eq!(
            (read.namespace.as_str(), read.place.address.as_str()),
            ("default", "10.0.0.2:80")
        );
    }

    #[test]
    fn flags_win_over_the_kubeconfig() {
        let args = ConnectionArgs {
            namespace: Some("other".into()),
            server: Some("https://10.0.0.9".into()),
            impersonate: Some("bob".into()),
            impersonate_groups: vec!["a".into(), "b".into()],
            request_timeout: Some("1m30s".into()),
            ..ConnectionArgs::default()
        };
        let read = settings(&args, &[&Folder::new("flags").file("one", ONE)]).unwrap();
        assert_eq!(read.namespace, "other");
        assert_eq!(read.place.address, "10.0.0.9:443");
        assert_eq!(read.config.tls_server_name, None);
        assert_eq!(read.config.auth_info.impersonate.as_deref(), Some("bob"));
        assert_eq!(
            read.config
                .auth_info
                .impersonate_groups
                .map(|groups| groups.len()),
            Some(2)
        );
        assert_eq!(read.timeout, Some(Duration::from_secs(90)));
    }

    #[test]
    fn trouble_with_a_kubeconfig_is_told_without_its_contents() {
        let args = |context: Option<&str>, user: Option<&str>| ConnectionArgs {
            context: context.map(Into::into),
            user: user.map(Into::into),
            ..ConnectionArgs::default()
        };
        let folder = Folder::new("trouble");
        let one = folder.file("one", ONE);
        let error = |args: &ConnectionArgs, path: &Path| {
            settings(args, &[path])
                .err()
                .map(|error| error.to_string())
                .unwrap()
        };
        assert_eq!(
            error(&args(Some("x"), None), &one),
            "error: context \"x\" does not exist"
        );
        assert_eq!(
            error(&args(None, Some("x")), &one),
            "error: auth info \"x\" does not exist"
        );
        let broken = folder.file(
            "broken",
            "users:\n- {name: ann, user: {token: [secret-of-ann}}\n",
        );
        let told = error(&args(None, None), &broken);
        assert!(
            told.starts_with("error: kubeconfig: not understood at 2:"),
            "{told}"
        );
        let wrong = folder.file(
            "wrong",
            "users:\n- {name: ann, user: {token: {secret-of-ann: 1}}}\n",
        );
        let told = error(&args(None, None), &wrong);
        assert!(!told.contains("secret"), "{told}");
    }
}
