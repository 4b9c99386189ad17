//! A mutating webhook of the tests' own: it adds a mesh's containers to pods, refuses them, or drops
//! what an old client does not know. The API server has to run on this machine.

use crate::lab::{self, Namespace};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Failed;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// What a webhook does with a pod.
pub enum Act {
    /// Lets it be.
    Nothing,
    /// Refuses it, with a reason.
    Deny(&'static str),
    /// Takes this in its place.
    Change(Value),
}

/// A webhook for the pods of one namespace.
pub struct Webhook {
    name: &'static str,
}

impl Webhook {
    /// Serves `act`, and tells the API server about it.
    pub fn start(namespace: &Namespace, act: fn(Value) -> Act) -> Result<Webhook, Failed> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let key = PrivateKeyDer::try_from(signing_key.serialize_der())?;
        let tls = tls(cert.der().clone(), key)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let tls = Arc::clone(&tls);
                // The API server tells whoever asked about a connection that breaks.
                std::thread::spawn(move || serve(stream, tls, act));
            }
        });
        Webhook::register(namespace, &address, &cert.pem())
    }

    /// Tells the API server about a webhook that nobody serves.
    pub fn down(namespace: &Namespace) -> Result<Webhook, Failed> {
        let CertifiedKey { cert, .. } = generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        Webhook::register(namespace, "127.0.0.1:1", &cert.pem())
    }

    fn register(namespace: &Namespace, address: &str, authority: &str) -> Result<Webhook, Failed> {
        let name = namespace.name;
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [{
                "name": "pods.webhook.test",
                "clientConfig": {"url": format!("https://{address}/"), "caBundle": STANDARD.encode(authority)},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 5,
            }],
        });
        lab::kubectl(&["apply", "-f", "-"], &configuration.to_string())?;
        let webhook = Webhook { name };
        // The API server reads its configuration now and then: until it does, pods stay as they are.
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "probe", "namespace": name, "labels": {"mesh": "refused"}},
            "spec": {"containers": [{"name": "app", "image": "lab.test/app:1"}]}});
        lab::until("the webhook", || {
            let dry = ["create", "--dry-run=server", "-f", "-"];
            Ok(lab::kubectl(&dry, &pod.to_string()).is_err())
        })?;
        Ok(webhook)
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        let kind = "mutatingwebhookconfiguration";
        // The namespace that it is for goes away as well.
        let _ = lab::kubectl(&["delete", kind, self.name, "--ignore-not-found"], "");
    }
}

fn tls(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, Failed> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    Ok(Arc::new(config))
}

/// Answers the requests of one connection, one after the other.
fn serve(stream: TcpStream, tls: Arc<ServerConfig>, act: fn(Value) -> Act) -> io::Result<()> {
    let connection = ServerConnection::new(tls).map_err(io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    while let Some(body) = request(&mut stream)? {
        let review: Value = serde_json::from_slice(&body)?;
        let answer = answer(&review, act).to_string();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length";
        let stream = stream.get_mut();
        write!(stream, "{head}: {}\r\n\r\n{answer}", answer.len())?;
        stream.flush()?;
    }
    Ok(())
}

/// The body of the next request; none when the client has hung up.
fn request(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(body))
}

fn answer(review: &Value, act: fn(Value) -> Act) -> Value {
    let request = &review["request"];
    let uid = &request["uid"];
    let response = match act(request["object"].clone()) {
        Act::Nothing => json!({"uid": uid, "allowed": true}),
        Act::Deny(reason) => {
            json!({"uid": uid, "allowed": false, "status": {"code": 403, "message": reason}})
        }
        Act::Change(pod) => {
            let whole = json!([{"op": "replace", "path": "", "value": pod}]);
            let patch = STANDARD.encode(whole.to_string());
            json!({"uid": uid, "allowed": true, "patchType": "JSONPatch", "patch": patch})
        }
    };
    json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})
}

/// What the label `mesh` of a pod asks for: a proxy as one mesh or another would add it.
pub fn mesh(mut pod: Value) -> Act {
    let wanted = pod["metadata"]["labels"]["mesh"]
        .as_str()
        .unwrap_or_default();
    let mut proxy =
        json!({"name": "proxy", "image": "lab.test/gate:1", "ports": [{"containerPort": 8080}]});
    let (list, place) = match wanted {
        "bare" => ("containers", usize::MAX),
        "hold" => {
            proxy["lifecycle"] =
                json!({"postStart": {"exec": {"command": ["/entrypoint", "wait"]}}});
            ("containers", 0)
        }
        "native" => {
            proxy["restartPolicy"] = json!("Always");
            proxy["startupProbe"] =
                json!({"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1});
            ("initContainers", 0)
        }
        "refused" => return Act::Deny("pods need a team"),
        _ => return Act::Nothing,
    };
    insert(&mut pod["spec"], list, place, proxy);
    let setup = json!({"name": "proxy-init", "image": "lab.test/busybox:1", "command": ["true"]});
    insert(&mut pod["spec"], "initContainers", 0, setup);
    pod["metadata"]["annotations"]["mesh.test/status"] = json!("injected");
    Act::Change(pod)
}

/// What a client built before native sidecars makes of pods with the label `client: old`.
pub fn old_client(mut pod: Value) -> Act {
    let labels = &pod["metadata"]["labels"];
    if labels["mesh"] == "refused" {
        return Act::Deny("pods need a team");
    }
    if labels["client"] != "old" {
        return Act::Nothing;
    }
    let init = pod["spec"]["initContainers"].as_array_mut();
    for container in init.into_iter().flatten().filter_map(Value::as_object_mut) {
        container.remove("restartPolicy");
        container.remove("startupProbe");
    }
    if let Some(containers) = pod["spec"]["containers"].as_array_mut() {
        containers.reverse();
    }
    Act::Change(pod)
}

fn insert(spec: &mut Value, list: &str, place: usize, container: Value) {
    let mut all = spec[list].as_array().cloned().unwrap_or_default();
    all.insert(place.min(all.len()), container);
    spec[list] = all.into();
}
