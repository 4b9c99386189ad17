//! What the environment says of the way to a cluster.

use hyper_util::client::proxy::matcher::Matcher;
use std::ffi::OsString;

/// The environment variables that say where the cluster is.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `KUBECONFIG`: a list of files.
    pub kubeconfig: Option<OsString>,
    /// `HTTPS_PROXY`.
    pub https_proxy: Option<String>,
    /// `HTTP_PROXY`.
    pub http_proxy: Option<String>,
    /// `NO_PROXY`.
    pub no_proxy: Option<String>,
}

impl Environment {
    /// Looks them up; `variable` is `std::env::var_os` but for tests.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Environment {
        let text = |name: &str| {
            let found = variable(name).or_else(|| variable(&name.to_lowercase()));
            found.and_then(|value| value.into_string().ok())
        };
        Environment {
            kubeconfig: variable("KUBECONFIG"),
            https_proxy: text("HTTPS_PROXY"),
            http_proxy: text("HTTP_PROXY"),
            no_proxy: text("NO_PROXY"),
        }
    }

    /// Which proxy leads to which server; the kubeconfig's `proxy-url` wins.
    pub(super) fn proxy(&self, kubeconfig: Option<&str>) -> Matcher {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        if let Some(url) = kubeconfig.filter(|url| !url.is_empty()) {
            return Matcher::builder().all(url.to_owned()).build();
        }
        // Go never asks a proxy for the machine itself, so kubectl does not either.
        let no = format!("{},localhost,127.0.0.0/8,::1", text(&self.no_proxy));
        Matcher::builder()
            .https(text(&self.https_proxy))
            .http(text(&self.http_proxy))
            .no(no)
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_left_out_for_hosts_of_no_proxy() {
        let environment = Environment {
            https_proxy: Some("http://proxy.test:3128".into()),
            no_proxy: Some("10.0.0.0/8,.internal".into()),
            ..Environment::default()
        };
        let matcher = environment.proxy(None);
        let goes_by = |url: &str| matcher.intercept(&url.parse().unwrap()).is_some();
        assert!(goes_by("https://192.0.2.1:6443"));
        assert!(!goes_by("https://10.1.2.3:6443"));
        assert!(!goes_by("https://127.0.0.1:6443"));
        assert!(!goes_by("https://api.internal"));
        let matcher = environment.proxy(Some("socks5://127.0.0.1:1080"));
        assert!(
            matcher
                .intercept(&"https://10.1.2.3".parse().unwrap())
                .is_some()
        );
    }
}
