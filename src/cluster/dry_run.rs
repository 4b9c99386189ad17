//! Pods created for trial: what the server and its webhooks would make of them.

use super::api::Api;
use super::client::Connection;
use super::error::{Error, Trouble};
use super::targets::BuiltIn;
use futures_util::StreamExt;
use serde_json::Value;

/// How many pods are tried at the same time.
const AT_ONCE: usize = 8;

/// What came of a pod that was created with `dryRun=All`.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// The pod as the server would keep it.
    Made(Value),
    /// The server, a webhook or a policy refuses this pod, in its own words.
    Refused(String),
    /// Nobody could say what would become of it, with the reason in the server's own words.
    Unanswered(String),
}

impl Connection {
    /// Creates pods for trial, each in its namespace; nothing is kept. The answers come in the order
    /// of the pods.
    ///
    /// # Errors
    /// The server cannot be reached, or does not know who asks.
    pub fn try_pods(&self, pods: &[(&str, &Value)]) -> Result<Vec<Trial>, Error> {
        self.runtime.block_on(async {
            let trials = futures_util::stream::iter(pods)
                .map(|(namespace, pod)| try_pod(&self.api, namespace, pod))
                .buffered(AT_ONCE);
            let trials: Vec<Result<Trial, Error>> = trials.collect().await;
            trials.into_iter().collect()
        })
    }
}

async fn try_pod(api: &Api, namespace: &str, pod: &Value) -> Result<Trial, Error> {
    let collection = BuiltIn::Pod.resource().collection(Some(namespace));
    match api.try_to_create(&collection, pod).await {
        Ok(pod) => Ok(Trial::Made(pod)),
        Err(error) => match error.trouble() {
            Trouble::Usage | Trouble::Unreachable | Trouble::Unauthorized => Err(error),
            Trouble::NotFound | Trouble::Gone => Ok(Trial::Unanswered(error.to_string())),
            Trouble::Forbidden | Trouble::Refused => {
                let words = error.to_string();
                Ok(match is_about_the_pod(&words) {
                    true => Trial::Refused(words),
                    false => Trial::Unanswered(words),
                })
            }
        },
    }
}

/// Whether a refusal is a word about the pod itself, rather than about who asks, about a webhook
/// that does not answer, or about the server.
fn is_about_the_pod(words: &str) -> bool {
    const NOT: [&str; 7] = [
        // The authorizer.
        "cannot create resource",
        // The API server about its webhooks.
        "failed calling webhook",
        "does not support dry run",
        "failed to call webhook",
        // The API server about itself.
        "(InternalError)",
        "(ServiceUnavailable)",
        "(TooManyRequests)",
    ];
    !NOT.iter().any(|sign| words.contains(sign)) && !words.contains("Timeout)")
}

#[cfg(test)]
mod tests {
    use super::super::environment::Environment;
    use super::super::fake::{Fake, Reply};
    use super::*;
    use serde_json::json;

    fn answer(code: u16, reason: &str, message: &str) -> Trial {
        let status = json!({"kind": "Status", "status": "Failure", "code": code,
            "reason": reason, "message": message});
        let fake = Fake::start(move |path, _| match path {
            "/api/v1/namespaces/shop/pods?&dryRun=All&fieldManager=kubectl-startorder" => {
                Reply::Whole(code, status.to_string())
            }
            other => Reply::Whole(400, other.to_owned()),
        });
        let pod = json!({"kind": "Pod"});
        let connection = Connection::to(&fake.url, &Environment::default());
        connection.try_pods(&[("shop", &pod)]).unwrap().remove(0)
    }

    #[test]
    fn a_refusal_of_the_pod_is_told_from_one_of_the_question() {
        let about_the_pod = [
            (
                400,
                "",
                "admission webhook \"a.test\" denied the request: no",
            ),
            (
                403,
                "Forbidden",
                "pods \"web-x\" is forbidden: exceeded quota: small",
            ),
            (
                422,
                "Invalid",
                "Pod \"web-x\" is invalid: spec.containers[0].image: Required value",
            ),
        ];
        for (code, reason, message) in about_the_pod {
            let trial = answer(code, reason, message);
            assert!(matches!(trial, Trial::Refused(_)), "{trial:?}");
        }
        let about_the_question = [
            (
                403,
                "Forbidden",
                "pods is forbidden: User \"viewer\" cannot create resource \"pods\"",
            ),
            (404, "NotFound", "namespaces \"shop\" not found"),
            (
                400,
                "BadRequest",
                "admission webhook \"a.test\" does not support dry run",
            ),
            (
                500,
                "InternalError",
                "Internal error occurred: failed calling webhook \"a.test\"",
            ),
            (
                504,
                "Timeout",
                "Timeout: request did not complete within requested timeout",
            ),
        ];
        for (code, reason, message) in about_the_question {
            let trial = answer(code, reason, message);
            assert!(matches!(trial, Trial::Unanswered(_)), "{trial:?}");
        }
    }
}
