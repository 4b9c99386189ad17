//! An API server that is killed and comes back.

use crate::lab::{self, Namespace};
use crate::told::{Told, expect};
use crate::trial;
use libtest_mimic::{Failed, Trial};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

pub fn trials() -> Vec<Trial> {
    vec![trial("outage", outage)]
}

fn outage(namespace: &Namespace) -> Result<(), Failed> {
    let recording = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("outage.jsonl");
    let path = recording.display();
    let watch = namespace.start(&format!(
        "watch pod/web --until ready -o json --record {path}"
    ))?;
    namespace.apply("slow-gate.yaml")?;
    lab::until("the start of the first container", || {
        let reasons = ["get", "events", "-o", "jsonpath={.items[*].reason}"];
        Ok(namespace.kubectl(&reasons)?.contains("Started"))
    })?;
    std::thread::sleep(Duration::from_secs(1));
    let server = Server::find()?;
    server.kill()?;
    std::thread::sleep(Duration::from_secs(2));
    server.start()?;
    lab::until("the API server", || Ok(lab::reach().is_ok()))?;

    let live = watch.wait()?.ends_with(0)?;
    let told = Told::read(&live.stdout)?;
    expect(
        told.verdict("proxy", "app")? == ("held", "attempted"),
        "not held",
        &told,
    )?;
    expect(
        live.stderr.contains("warning: ") && live.stderr.contains("the server is back"),
        "the outage is not told",
        &live,
    )?;
    let lines = fs::read_to_string(&recording)?;
    expect(
        lines.contains("\"RELIST\""),
        "no gap in the recording",
        &lines,
    )?;
    let replay = lab::startorder(&format!("watch --replay {path} -o json"))?.ends_with(0)?;
    expect(
        replay.stdout == live.stdout,
        "the replay differs",
        &(replay, &told),
    )?;
    let picture = lab::startorder(&format!("watch --replay {path} -o text"))?.ends_with(0)?;
    expect(
        picture.stdout.contains('░'),
        "no gap in the picture",
        &picture,
    )
}

/// The API server's process, and how it was started.
struct Server {
    pid_file: PathBuf,
    pid: String,
    program: PathBuf,
    words: Vec<String>,
}

impl Server {
    fn find() -> Result<Server, Failed> {
        let pid_file = lab::folder()?.join("pid/apiserver");
        let pid = fs::read_to_string(&pid_file)
            .map_err(|error| format!("no API server of one's own to kill: {error}"))?;
        let pid = pid.trim().to_owned();
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline"))?;
        Ok(Server {
            program: fs::read_link(format!("/proc/{pid}/exe"))?,
            words: words.split_terminator('\0').map(str::to_owned).collect(),
            pid_file,
            pid,
        })
    }

    fn kill(&self) -> Result<(), Failed> {
        let killed = Command::new("kill").args(["-9", &self.pid]).status()?;
        match killed.success() {
            true => Ok(()),
            false => Err("the API server cannot be killed".into()),
        }
    }

    /// Starts it again as it was, in a group of its own, so that it outlives these tests.
    fn start(&self) -> Result<(), Failed> {
        let log = lab::folder()?.join("log/apiserver.log");
        let log = File::options().append(true).open(log)?;
        let mut command = Command::new(&self.program);
        command
            .args(self.words.iter().skip(1))
            .stdin(Stdio::null())
            .process_group(0);
        let child = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        fs::write(&self.pid_file, format!("{}\n", child.id()))?;
        Ok(())
    }
}
