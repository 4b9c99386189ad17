//! End to end: the binary against a real API server and kubelet, that of `$KUBECONFIG`.
//!
//! The pods of `testdata/cluster/` need images that serve, wait and sleep as theirs do. Trials run side
//! by side, each in a namespace of its own; those that disturb the API server come last, alone.

mod fleet;
mod lab;
mod live;
mod outage;
mod recordings;
mod rights;
mod server;
mod starts;
mod told;
mod webhook;

use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use std::io::{self, Write};
use std::process::ExitCode;

/// Trials mostly wait for pods.
const SIDE_BY_SIDE: usize = 5;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if !arguments.list
        && let Err(why) = lab::reach()
    {
        // Nothing is left to be done when standard error is closed.
        let _ = writeln!(io::stderr(), "{why}");
        return ExitCode::FAILURE;
    }
    let first = Arguments {
        test_threads: arguments.test_threads.or(Some(SIDE_BY_SIDE)),
        ..arguments.clone()
    };
    let side_by_side = [
        starts::trials(),
        rights::trials(),
        live::trials(),
        recordings::trials(),
        server::trials(),
        fleet::trials(),
    ];
    let alone = Arguments {
        test_threads: Some(1),
        ..arguments
    };
    let outcomes: [Conclusion; 2] = [
        libtest_mimic::run(&first, side_by_side.into_iter().flatten().collect()),
        libtest_mimic::run(&alone, outage::trials()),
    ];
    match outcomes.iter().any(Conclusion::has_failed) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// A trial in a namespace of its own, which has its name.
fn trial(name: &'static str, run: fn(&lab::Namespace) -> Result<(), Failed>) -> Trial {
    Trial::test(name, move || {
        let namespace = lab::Namespace::new(name)?;
        run(&namespace)
    })
}
