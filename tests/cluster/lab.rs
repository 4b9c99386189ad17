//! The cluster: namespaces, manifests, kubectl, and the binary under test.

use libtest_mimic::Failed;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-startorder");
const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/cluster");

/// Longer than anything here takes, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether the cluster answers; else why not, in a sentence.
pub fn reach() -> Result<(), String> {
    let Some(config) = std::env::var_os("KUBECONFIG") else {
        return Err("KUBECONFIG is not set: these tests need a cluster of their own".to_owned());
    };
    let answer = Command::new("kubectl")
        .args(["get", "--raw", "/readyz", "--request-timeout=10s"])
        .output()
        .map_err(|error| format!("kubectl cannot be run: {error}"))?;
    match answer.status.success() {
        true => Ok(()),
        false => Err(format!(
            "the cluster of KUBECONFIG={} cannot be reached: {}",
            config.display(),
            text(&answer.stderr).trim()
        )),
    }
}

/// The folder of the kubeconfig: there the cluster keeps those of its other users and its pids.
pub fn folder() -> Result<PathBuf, Failed> {
    let config = PathBuf::from(std::env::var_os("KUBECONFIG").unwrap_or_default());
    Ok(config.parent().ok_or("KUBECONFIG names no file")?.into())
}

/// A namespace that a trial has for itself.
pub struct Namespace {
    pub name: &'static str,
}

impl Namespace {
    /// Makes it anew.
    pub fn new(name: &'static str) -> Result<Namespace, Failed> {
        let namespace = Namespace { name };
        let rest = ["delete", "namespace", name, "--ignore-not-found"];
        kubectl(&rest, "")?;
        kubectl(&["create", "namespace", name], "")?;
        // Pods are refused before it is there.
        until("the service account", || {
            Ok(namespace
                .kubectl(&["get", "serviceaccount", "default"])
                .is_ok())
        })?;
        Ok(namespace)
    }

    /// Runs kubectl in the namespace; returns what it prints.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, Failed> {
        let mut all = vec!["-n", self.name];
        all.extend(arguments);
        kubectl(&all, "")
    }

    /// Applies a manifest of `testdata/cluster/`.
    pub fn apply(&self, manifest: &str) -> Result<(), Failed> {
        let file = Path::new(MANIFESTS).join(manifest);
        self.kubectl(&["apply", "-f", &file.display().to_string()])?;
        Ok(())
    }

    /// Starts the binary in the namespace; `arguments` are words.
    pub fn start(&self, arguments: &str) -> Result<Running, Failed> {
        self.start_as(arguments, None)
    }

    /// Starts the binary with another user's kubeconfig.
    pub fn start_as(&self, arguments: &str, config: Option<&Path>) -> Result<Running, Failed> {
        let mut command = Command::new(BINARY);
        command.args(arguments.split_whitespace());
        command.args(["-n", self.name]).env("COLUMNS", "80");
        if let Some(config) = config {
            command.env("KUBECONFIG", config);
        }
        Running::of(command)
    }

    /// Runs the binary in the namespace to its end.
    pub fn run(&self, arguments: &str) -> Result<Outcome, Failed> {
        self.start(arguments)?.wait()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Whatever goes wrong here is told by the next run, which makes it anew.
        let _ = self.kubectl(&[
            "delete",
            "pods,deployments",
            "--all",
            "--grace-period=1",
            "--wait=false",
        ]);
        let _ = kubectl(&["delete", "namespace", self.name, "--wait=false"], "");
    }
}

/// The binary, running.
pub struct Running {
    child: Child,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Running {
    fn of(mut command: Command) -> Result<Running, Failed> {
        command.stdin(Stdio::null());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Running { child })
    }

    /// Ctrl-C.
    pub fn interrupt(&self) -> Result<(), Failed> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status()?;
        Ok(())
    }

    /// Waits until it ends by itself.
    pub fn wait(mut self) -> Result<Outcome, Failed> {
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            if began.elapsed() > PATIENCE {
                self.child.kill()?;
                let outcome = self.child.wait_with_output()?;
                return Err(format!("it does not end: {:?}", Outcome::of(&outcome)).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Outcome::of(&self.child.wait_with_output()?))
    }
}

impl Outcome {
    fn of(output: &Output) -> Outcome {
        Outcome {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Fails, with all that was said, unless it ended with this code.
    pub fn ends_with(self, code: i32) -> Result<Outcome, Failed> {
        match self.code == Some(code) {
            true => Ok(self),
            false => Err(format!("ends with {:?} instead of {code}: {self:#?}", self.code).into()),
        }
    }
}

/// Runs the binary without a cluster.
pub fn startorder(arguments: &str) -> Result<Outcome, Failed> {
    let mut command = Command::new(BINARY);
    command
        .args(arguments.split_whitespace())
        .env("COLUMNS", "80");
    command.env_remove("KUBECONFIG");
    Running::of(command)?.wait()
}

/// Runs the binary against the cluster, in no namespace of a trial.
pub fn startorder_at(arguments: &str) -> Result<Outcome, Failed> {
    let mut command = Command::new(BINARY);
    command
        .args(arguments.split_whitespace())
        .env("COLUMNS", "80");
    Running::of(command)?.wait()
}

/// Runs kubectl; returns what it prints.
pub fn kubectl(arguments: &[&str], input: &str) -> Result<String, Failed> {
    let mut command = Command::new("kubectl");
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).args(arguments).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no pipe")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("kubectl {}: {}", arguments.join(" "), text(&output.stderr)).into()),
    }
}

/// The minor version of the only node's kubelet.
pub fn kubelet_minor() -> Result<String, Failed> {
    let path = "jsonpath={.items[0].status.nodeInfo.kubeletVersion}";
    let version = kubectl(&["get", "nodes", "-o", path], "")?;
    let minor = version.split('.').nth(1).ok_or("no version of a kubelet")?;
    Ok(minor.to_owned())
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> Result<bool, Failed>) -> Result<(), Failed> {
    let began = Instant::now();
    while !holds()? {
        if began.elapsed() > PATIENCE {
            return Err(format!("{what} does not come").into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
