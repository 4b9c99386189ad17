use super::*;

fn hook(words: &[&str]) -> String {
    let action = Action::Exec {
        command: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let surroundings = Surroundings {
        env: &|_| None,
        may_be_set: &|_| false,
        file: &|_| None,
    };
    match read_hook(&action, surroundings) {
        Hook::Waits { waits, bound } => {
            let bound = match bound {
                Bound::Unbounded => "forever".to_owned(),
                Bound::Unknown => "unknown".to_owned(),
                Bound::Bounded { upper, then } => format!("{upper:?} {then:?}"),
            };
            format!("waits {} {bound}", waits[0].words)
        }
        Hook::SleepsOnly { duration, words } => format!("sleeps {duration:?} `{words}`"),
        Hook::SingleTry { tries, slept } => format!("tries {} {slept:?}", tries[0].words),
        Hook::ReturnsEarly { reason, words, .. } => format!("{reason:?} `{words}`"),
        Hook::Fails { words } => format!("fails `{words}`"),
        Hook::NeverEnds { .. } => "never ends".to_owned(),
        Hook::MayWait { words } => format!("may wait `{words}`"),
        Hook::NotUnderstood { words } => format!("unknown `{words}`"),
        Hook::NotAWait => "no wait".to_owned(),
        other @ (Hook::HttpGet { .. } | Hook::TcpSocket { .. }) => format!("{other:?}"),
    }
}

/// Scripts of hooks, and what they do.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "until nc -z localhost 80; do sleep 0.5; done",
        "waits localhost 80 forever",
    ),
    (
        "for i in $(seq 9); do wget -qO- http://a:80/r && { sleep 2; exit 0; }; sleep 1; done; exit 1",
        "waits a:80 Some(9s) Fails",
    ),
    (
        "i=0\nuntil nc -z a 80; do\n  echo \"waiting $i\" >> /tmp/w || true\n  i=$((i+1))\n  if [ \"$i\" -gt 60 ]; then exit 1; fi\n  sleep 1\ndone",
        "waits a 80 Some(60s) Fails",
    ),
    (
        "until curl -sf -u g:g http://b.svc:15672/api; do sleep 2; done; rabbitmqadmin declare queue name=x",
        "waits b.svc:15672 forever",
    ),
    (
        "(until nc -z localhost 70; do sleep 1; done) &",
        "BackgroundBare `done) &`",
    ),
    (
        "until nc -z a 70; do sleep 1; done >/dev/null 2>&1 &",
        "BackgroundRedirected `2>&1 &`",
    ),
    (
        "nohup sh -c 'until nc -z a 70; do sleep 1; done' >/dev/null 2>&1 &",
        "BackgroundRedirected `2>&1 &`",
    ),
    ("nohup wait-for-it a:80 &", "Nohup `a:80 &`"),
    (
        "(sleep 5; curl -s http://a:80/init) >/dev/null 2>&1 &",
        "no wait",
    ),
    ("/entrypoint wait &", "BackgroundBare `wait &`"),
    (
        "/entrypoint wait >/dev/null 2>&1 &",
        "BackgroundRedirected `2>&1 &`",
    ),
    (
        "while true; do nc -z 127.0.0.1 64 || break; sleep 1; done",
        "BreaksOnFirstFailure `127.0.0.1 64`",
    ),
    (
        "wget -q -O - http://localhost:81/h || true",
        "IgnoresFailure `|| true`",
    ),
    ("curl -s http://a:80; true", "IgnoresFailure `; true`"),
    (
        "curl -sf http://localhost:80/warm",
        "tries localhost:80 0ns",
    ),
    (
        "sleep 5; curl -sf -X POST http://localhost:80/x",
        "tries localhost:80 5s",
    ),
    ("sleep 10", "sleeps 10s `sleep 10`"),
    (
        "sleep 9; redis-cli -p 26379 sentinel reset x",
        "tries redis-cli 9s",
    ),
    ("curl -X POST http://a:80/register || true", "no wait"),
    ("echo hi; sleep 1m; touch /tmp/x", "sleeps 60s `sleep 1m`"),
    ("echo registered > /tmp/state; exit 1", "fails `exit 1`"),
    ("while true; do sleep 1; done", "never ends"),
    ("date > /tmp/started-at", "no wait"),
    ("envsubst < /t/a > /run/b", "no wait"),
    (
        "/scripts/wait-for-db.sh",
        "may wait `/scripts/wait-for-db.sh`",
    ),
    ("/app/warm-cache --pages=home", "unknown `/app/warm-cache`"),
    ("set -e; nc -z a 80; echo ok", "tries a 80 0ns"),
    (
        "if [ -z \"$H\" ]; then exit 1; fi; until nc -z \"$H\" 80; do sleep 1; done",
        "waits \"$H\" 80 forever",
    ),
];

#[test]
fn hooks_are_told_apart_by_what_they_do_to_later_containers() {
    for (script, expected) in SCRIPTS {
        assert_eq!(hook(&["/bin/sh", "-c", script]), *expected, "{script}");
    }
}

#[test]
fn hooks_without_a_shell_are_read_too() {
    for (words, expected) in [
        (&["sleep", "3"][..], "sleeps 3s `sleep`"),
        (&["/bin/false"], "fails `false`"),
        (&["/bin/true"], "no wait"),
        (
            &["/cloud-sql-proxy", "wait"],
            "waits /cloud-sql-proxy wait Some(30s) Fails",
        ),
        (&["/bin/app", "--wait-until-ready"], "may wait `/bin/app`"),
        (&["/bin/app", "--waiting"], "unknown `/bin/app`"),
        (&["/waiter"], "unknown `/waiter`"),
        (
            &[
                "timeout",
                "60",
                "sh",
                "-c",
                "until nc -z a 80; do sleep 1; done",
            ],
            "waits a 80 Some(60s) Fails",
        ),
        (&["mkdir", "-p", "/data/b"], "no wait"),
        (&["bash", "/x/ready.sh"], "may wait `bash`"),
    ] {
        assert_eq!(hook(words), expected, "{words:?}");
    }
}
