use super::*;
use proptest::prelude::*;

fn words(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

fn read_words(words: &[String]) -> Arc<Reading> {
    let env = |name: &str| match name {
        "DB_HOST" => Some("127.0.0.1".to_owned()),
        "DB_PORT" => Some("5432".to_owned()),
        "ENVOY_ADMIN_API" => Some("http://127.0.0.1:15000".to_owned()),
        _ => None,
    };
    let file = |path: &str| {
        (path == "/scripts/wait.sh").then(|| "until nc -z $1 80; do sleep 1; done".to_owned())
    };
    read(
        words,
        Surroundings {
            env: &env,
            may_be_set: &|_| false,
            file: &file,
        },
    )
}

fn shown(wait: &Wait) -> String {
    let target = match &wait.target {
        Target::Address(address) => {
            let port = address
                .port
                .map_or(String::new(), |port| format!(":{port}"));
            format!("{}{port}", address.host)
        }
        Target::Dns { name } => format!("dns {name}"),
        Target::File { path } => path.clone(),
        Target::Kubernetes { what } => format!("k8s {what}"),
        Target::Opaque => "?".to_owned(),
    };
    let bound = match wait.bound {
        Bound::Unbounded => "forever".to_owned(),
        Bound::Unknown => "unknown".to_owned(),
        Bound::Bounded { upper, then } => {
            let time = upper.map_or("?".to_owned(), |time| time.as_secs().to_string());
            let then = match then {
                AtBound::Fails => "fails",
                AtBound::GoesOn => "goes on",
            };
            format!("{time} {then}")
        }
    };
    let place = match wait.background {
        Background::No => "",
        Background::Bare => " &",
        Background::Redirected => " >&",
    };
    format!("{target} {bound}{place}")
}

/// Scripts with one wait each, its target and its bound.
const LOOPS: &[(&str, &str)] = &[
    (
        "until nc -z localhost 8080; do sleep 1; done",
        "localhost:8080 forever",
    ),
    (
        "while ! nc -z -w 2 db 5432; do echo no; sleep 2; done; exec /app",
        "db:5432 forever",
    ),
    (
        "while true; do curl -fs http://a:9/x && break; sleep 2; done",
        "a:9 forever",
    ),
    (
        "while :; do if wget -qO- http://a:99/; then exit 0; fi; sleep 1; done",
        "a:99 forever",
    ),
    (
        "for i in $(seq 60); do nc -z localhost 80 && exit 0; sleep 1; done; exit 1",
        "localhost:80 60 fails",
    ),
    (
        "for i in {1..30}; do nc -z a 80 && break; sleep 2; done",
        "a:80 60 goes on",
    ),
    (
        "for i in 1 2 3; do nc -z a 80 && exit 0; sleep 2; done; exit 1",
        "a:80 6 fails",
    ),
    (
        "n=0; until nc -z a 80; do n=$((n+1)); [ $n -ge 60 ] && exit 1; sleep 1; done",
        "a:80 59 fails",
    ),
    (
        "i=0\nuntil nc -z a 80; do\n i=`expr $i + 1`\n if [ \"$i\" -gt 60 ]; then exit 1; fi\n sleep 1\ndone",
        "a:80 60 fails",
    ),
    (
        "timeout 60 sh -c 'until nc -z a 80; do sleep 1; done'",
        "a:80 60 fails",
    ),
    (
        "timeout 1m sh -c 'until nc -z a 80; do sleep 1; done'; exec /app",
        "a:80 60 goes on",
    ),
    (
        "END=$(( $(date +%s) + 180 )); while [ $(date +%s) -lt $END ]; do nc -z a 80 && exit 0; sleep 5; done; exit 1",
        "a:80 180 fails",
    ),
    (
        "SECONDS=0; until nc -z a 80; do (( SECONDS > 30 )) && exit 1; sleep 1; done",
        "a:80 31 fails",
    ),
    (
        "until nc -z a 80; do if [ $((N++)) -ge $MAX ]; then exit 1; fi; sleep 1; done",
        "a:80 unknown",
    ),
    (
        "for ((i=0; i<10; i++)); do nc -z a 80 && break; sleep 3; done",
        "a:80 30 goes on",
    ),
    (
        "while [ \"$(curl -s -o /dev/null -w '%{http_code}' http://a:80/x)\" != 200 ]; do sleep 1; done",
        "a:80 forever",
    ),
    (
        "until [ \"$(curl -m 1 -s -o /dev/null -w \"%{http_code}\" http://a:95/v1)\" = \"200\" ]; do sleep 2; done",
        "a:95 forever",
    ),
    (
        "until curl -s http://a:80/h | grep -q UP; do sleep 1; done",
        "a:80 forever",
    ),
    (
        "for i in $(seq 3); do code=$(curl -s -w x http://a:80); if [ $code = 200 ]; then exit 0; fi; sleep 1; done; exit 1",
        "a:80 3 fails",
    ),
    (
        "while true; do nc -z a 80; if [ $? -eq 0 ]; then break; fi; sleep 1; done",
        "a:80 forever",
    ),
    (
        "until nslookup db.default.svc; do sleep 2; done",
        "dns db.default.svc forever",
    ),
    (
        "while [ -z \"$(dig +short db)\" ]; do sleep 1; done",
        "dns db forever",
    ),
    (
        "while [ ! -S /run/x.sock ]; do sleep 1; done",
        "/run/x.sock forever",
    ),
    (
        "until test -s /run/c; do sleep 1; done; . /run/c",
        "/run/c forever",
    ),
    ("while ! ls /run/c; do sleep 1; done", "/run/c forever"),
    (
        "until (echo > /dev/tcp/a/80) 2>/dev/null; do sleep 1; done",
        "a:80 forever",
    ),
    (
        "until pg_isready -h db -U x; do sleep 1; done",
        "db:5432 forever",
    ),
    (
        "until mysqladmin ping -h127.0.0.1 --silent; do sleep 1; done",
        "127.0.0.1:3306 forever",
    ),
    (
        "until mysql -h 127.0.0.1 -e 'SELECT 1'; do sleep 1; done",
        "127.0.0.1:3306 forever",
    ),
    (
        "until redis-cli -p 6380 ping | grep PONG; do sleep 1; done",
        "localhost:6380 forever",
    ),
    (
        "until docker info; do sleep 1; done",
        "/var/run/docker.sock forever",
    ),
    (
        "until vault status; do sleep 5; done",
        "localhost:8200 forever",
    ),
    (
        "until ss -ltn | grep -q ':8080'; do sleep 1; done",
        "localhost:8080 forever",
    ),
    ("until ./check; do sleep 1; done", "? forever"),
    (
        "until curl --unix-socket /run/d.sock http://x/y; do sleep 1; done",
        "/run/d.sock forever",
    ),
    (
        "w() { until nc -z $1 $2; do sleep 1; done; }; w a 80",
        "a:80 forever",
    ),
    (
        "H=localhost; P=80; until nc -z \"$H\" \"$P\"; do sleep 1; done",
        "localhost:80 forever",
    ),
    (
        "until nc -z ${X:-a} ${DB_PORT}; do sleep 1; done",
        "a:5432 forever",
    ),
    ("bash /scripts/wait.sh db && exec /app", "db:80 forever"),
    (
        "until kubectl get pod x; do sleep 1; done",
        "k8s pod x forever",
    ),
    (
        "w() { local h=$1 p=$2 n=0; while ! nc -z \"$h\" \"$p\" >/dev/null 2>&1; do n=$((n+1)); if [ $n -gt 30 ]; then echo late >&2; return 1; fi; sleep 1; done; }; w db 5432 || exit 1; exec app",
        "db:5432 30 fails",
    ),
    (
        "until printf '' 2>>/dev/null >>/dev/tcp/db/5432; do sleep 1; done",
        "db:5432 forever",
    ),
    (
        "timeout 22 sh -c 'until nc -z $0 $1; do sleep 1; done' db 5432",
        "db:5432 22 fails",
    ),
    (
        "while ! timeout 1 bash -c 'cat < /dev/null > /dev/tcp/db/5432'; do sleep 1; done",
        "db:5432 forever",
    ),
    (
        "until psql -h \"$DB_HOST\" -U u -c '\\q'; do >&2 echo waiting; sleep 1; done",
        "127.0.0.1:5432 forever",
    ),
    (
        "for i in $(seq 1 10); do wget -q --spider http://x:80/ && break || sleep 3; done",
        "x:80 30 goes on",
    ),
    (
        "n=0; max=30; while [ $n -lt $max ]; do if curl -sf http://a:80; then exit 0; fi; n=$((n+1)); sleep 2; done; exit 1",
        "a:80 60 fails",
    ),
    (
        "retry() { for i in 1 2 3; do \"$@\" && return 0; sleep 1; done; return 1; }; retry nc -z a 80",
        "a:80 3 fails",
    ),
    (
        "while [[ \"$(curl -s -o /dev/null -w ''%{http_code}'' localhost:9200)\" != \"200\" ]]; do sleep 5; done",
        "localhost:9200 forever",
    ),
    (
        "until [ $(curl -s localhost:90/h | jq -r .status) = \"UP\" ]; do sleep 1; done",
        "localhost:90 forever",
    ),
    (
        "while ! echo ruok | nc zk 2181 | grep imok; do sleep 1; done",
        "zk:2181 forever",
    ),
    (
        "while nc -z a 80; [ $? -ne 0 ]; do sleep 1; done",
        "a:80 forever",
    ),
    (
        "while true; do sleep 1; nc -z a 80 || continue; break; done",
        "a:80 forever",
    ),
    (
        "N=30; until pg_isready -h db > /dev/null 2>&1 || [ $N -eq 0 ]; do N=$((N-=1)); sleep 1; done",
        "db:5432 30 goes on",
    ),
    (
        "i=0; while [ $i -lt 10 ] && ! nc -z a 80; do i=$((i+1)); sleep 1; done",
        "a:80 10 goes on",
    ),
    (
        "i=0; until nc -z a 80; do echo $((i++)); sleep 1; done",
        "a:80 forever",
    ),
    (
        "i=0; until nc -z a 80; do case $((i++)) in 5) exit 1;; esac; sleep 1; done",
        "a:80 5 fails",
    ),
    (
        "set -eu; for i in $(seq 4); do nc -z a 80 && break; sleep 1; done; nc -z a 80",
        "a:80 4 fails",
    ),
    (
        "until curl -fs http://a:80/x; do sleep $PAUSE; i=$((i+1)); test $i -gt 3 && exit 1; done",
        "a:80 ? fails",
    ),
    (
        "trap 'exit 0' TERM; until nc -z a 80; do sleep 1 & wait $!; done",
        "a:80 forever",
    ),
    (
        "until bash -c 'exec 3<>/dev/tcp/db/80'; do sleep 1; done",
        "db:80 forever",
    ),
    ("eval 'until nc -z a 80; do sleep 1; done'", "a:80 forever"),
    (
        "if [ -n \"$X\" ]; then until nc -z a 80; do sleep 1; done; fi",
        "a:80 forever",
    ),
    (
        "until python -c 'import socket; socket.create_connection((\"db\", 5432))'; do sleep 1; done",
        "db:5432 forever",
    ),
    (
        "while ! lsof -i :8080; do sleep 1; done",
        "localhost:8080 forever",
    ),
    (
        "until rabbitmq-diagnostics -q ping; do sleep 1; done",
        "localhost:5672 forever",
    ),
    (
        "until etcdctl endpoint health; do sleep 1; done",
        "localhost:2379 forever",
    ),
    (
        "until mongosh --host m --eval 'db.ping'; do sleep 1; done",
        "m:27017 forever",
    ),
    (
        "until grpc_health_probe -addr=:5000; do sleep 1; done",
        "localhost:5000 forever",
    ),
    (
        "until kafka-topics.sh --bootstrap-server k:9092,l:9092 --list; do sleep 1; done",
        "k:9092 forever",
    ),
];

fn waits(script: &str) -> Vec<String> {
    read_words(&words(script)).waits.iter().map(shown).collect()
}

#[test]
fn loops_that_end_on_success_are_waits_with_their_bound() {
    for (script, expected) in LOOPS {
        assert_eq!(waits(script), [*expected], "{script}");
    }
}

#[test]
fn several_waits_are_seen_each_with_its_own_bound() {
    for (script, expected) in [
        (
            "until nc -z a 80; do sleep 1; done; for i in $(seq 5); do nc -z b 81 && exit 0; sleep 1; done; exit 1",
            vec!["a:80 forever", "b:81 5 fails"],
        ),
        (
            "until nc -z a 80 && nc -z b 81; do sleep 1; done",
            vec!["a:80 forever", "b:81 forever"],
        ),
        (
            "until nc -z a 80 || nc -z b 81; do sleep 1; done",
            vec!["a:80 forever", "b:81 forever"],
        ),
        (
            "for s in a:80 b:81; do until nc -z ${s%:*} ${s#*:}; do sleep 1; done; done",
            vec!["a:80 forever", "b:81 forever"],
        ),
        (
            "(until nc -z a 80; do sleep 1; done) & until nc -z b 81; do sleep 1; done >/dev/null 2>&1 &",
            vec!["a:80 forever &", "b:81 forever >&"],
        ),
        (
            "until nc -z a 80; do sleep 1; done & wait",
            vec!["a:80 forever"],
        ),
    ] {
        assert_eq!(waits(script), expected, "{script}");
    }
}

#[test]
fn tools_that_wait_by_themselves_need_no_loop() {
    for (line, expected) in [
        (
            "curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://localhost:70/r",
            "localhost:70 60 fails",
        ),
        (
            "wget --retry-connrefused --tries=3 http://a:80",
            "a:80 3 fails",
        ),
        (
            "/usr/local/bin/wait-for-it.sh localhost:6432 --timeout=60 --strict -- /app/server",
            "localhost:6432 60 fails",
        ),
        ("wait-for-it a:80 -t 0", "a:80 forever"),
        ("./wait-for db:5432 -- node x.js", "db:5432 15 fails"),
        (
            "wait4x tcp localhost:6432 --timeout 60s -- /app",
            "localhost:6432 60 fails",
        ),
        (
            "dockerize -wait http://localhost:8181/h -timeout 60s /app/x",
            "localhost:8181 60 fails",
        ),
        (
            "/l/linkerd-await --timeout=2m --port=4191",
            "localhost:4191 120 fails",
        ),
        ("scuttle /app", "127.0.0.1:15000 forever"),
        ("pilot-agent wait", "localhost:15021 60 fails"),
        ("/cloud-sql-proxy wait", "localhost:9090 30 fails"),
        (
            "kuma-dp wait --url http://localhost:9902/ready",
            "localhost:9902 180 fails",
        ),
        (
            "kubectl wait --for=condition=Ready pod -l app=db --timeout=60s",
            "k8s pod -l app=db 60 fails",
        ),
        ("kubectl rollout status deploy/db", "k8s deploy/db forever"),
        (
            "timeout 20 kubectl rollout status deploy/db",
            "k8s deploy/db 20 fails",
        ),
        (
            "/tekton/bin/entrypoint -wait_file /t/ready -- cmd",
            "/t/ready forever",
        ),
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found: Vec<String> = read_words(&words).waits.iter().map(shown).collect();
        assert_eq!(found, [expected], "{line}");
    }
}

#[test]
fn what_does_not_wait_is_no_wait() {
    for script in [
        "nc -z a 80",
        "curl -fsS http://a:80/ > /dev/null",
        "for h in a b c; do nc -z $h 80 || exit 1; done",
        "while true; do /app/work; sleep 5; done",
        "while nc -z a 80; do sleep 1; done",
        "for i in 1 2 3; do curl -X POST http://a:80; done",
        "nginx -s quit; while killall -0 nginx; do sleep 1; done",
        "echo 'until nc -z a 80; do sleep 1; done'",
        "curl --retry 3 http://a:80",
        "for f in /d/*.sql; do psql -f $f; done",
        "until [ -d /sys/class/infiniband/mlx5_0 ]; do sleep 1; done",
        "until grep -q up /sys/kernel/state; do sleep 1; done",
    ] {
        assert_eq!(waits(script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn the_words_to_mark_stand_in_the_script() {
    for (script, expected) in [
        ("until nc -z localhost 8080; do :; done", "localhost 8080"),
        (
            "until curl -s http://u:p@127.0.0.1:80/x; do :; done",
            "127.0.0.1:80",
        ),
        ("until nc -z \"$H\" 80; do :; done", "\"$H\" 80"),
        (
            "until curl http://$DB_HOST:$DB_PORT/; do :; done",
            "$DB_HOST:$DB_PORT",
        ),
        ("until [ -e /run/x ]; do :; done", "/run/x"),
        (
            "until [ -e /sys/class/net/tun0 ]; do :; done",
            "/sys/class/net/tun0",
        ),
    ] {
        let reading = read_words(&words(script));
        assert_eq!(reading.waits[0].words, expected, "{script}");
        assert!(script.contains(&reading.waits[0].words), "{script}");
    }
}

#[test]
fn files_are_read_or_written_or_waited_for() {
    let reading = read_words(&words(
        ". /a/env; cat /b/in > /c/out; until [ -s /d/x ]; do sleep 1; done; cat /d/x; cp /e/f /g/; tail -F /h/log",
    ));
    assert_eq!(reading.reads, ["/a/env", "/b/in", "/e/f"]);
    assert_eq!(reading.writes, ["/c/out", "/g", "/g/f"]);
}

#[test]
fn offline_and_endless_commands_are_seen() {
    for (script, offline, forever) in [
        ("chown -R 1:1 /d && chmod 700 /d", Some(true), false),
        ("sysctl -w x=1; sleep 2", Some(true), false),
        ("curl http://a:80", Some(false), false),
        ("/app/migrate", None, false),
        ("/app/migrate --db=postgres://a:5432/x", Some(false), false),
        ("while true; do echo x; sleep 5; done", Some(true), true),
        (
            "while true; do x=; x=$(cat /a); date; sleep 5; done",
            Some(true),
            true,
        ),
        (
            "end=$(($(date +%s) + 9)); while [ $(date +%s) -lt $end ]; do sleep 1; done",
            Some(true),
            false,
        ),
        ("sleep infinity", Some(true), true),
        ("tail -f /dev/null", Some(true), true),
        ("until nc -z a 80; do sleep 1; done", Some(false), false),
    ] {
        let reading = read_words(&words(script));
        assert_eq!(reading.is_offline(), offline, "{script}");
        assert_eq!(reading.runs_forever(), forever, "{script}");
    }
}

#[test]
fn broken_and_hostile_scripts_are_read_in_bounded_work() {
    let deep = "$(".repeat(5000);
    let nested = "if true; then ".repeat(5000);
    let braces = "${a:-".repeat(5000);
    for script in [
        deep.as_str(),
        &nested,
        &braces,
        "f() { f; f; }; f",
        "x=a; while true; do x=$x$x; done",
        "until",
        "for i in $(seq 100000000); do nc -z a 80; done",
        "eval \"$(echo eval)\"",
        "f() { sh -c 'sh -c \"$0\"'; }; while f; do f; done",
        "((((((((((((((((((((((((((",
        "case x in",
        "cat <<EOF",
        "[ ! ! ! ! ! ( ( (",
    ] {
        read_words(&words(script));
    }
}

proptest! {
    #[test]
    fn every_mix_of_words_is_read(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "if ", "then ", "fi;", "while ", "until ", "do ", "done ", "for i in ", "$(seq 9)",
                "{1..4}", ";", "&", "&&", "||", "|", "! ", "(", ")", "{ ", "}", "$(", "`", "\"", "'",
                "sleep 1;", "nc -z a 80 ", "curl http://a:80 ", "[ -f /x ]", "[ $i -ge 3 ]",
                "i=$((i+1));", "break", "exit 1;", "f() ", "f ", "timeout 9 ", "sh -c ", "wait ",
                "case $i in ", "esac ", "x=$x$x;", "${x%", "${x:-", "eval ", "exec ", "set -e;",
                "dockerize -wait ", "tcp://b:81 ", "> /dev/tcp/a/80 ", "<<E\n", "E\n", "kubectl wait ",
                "-", "--", "é", "\n",
            ]),
            0..40,
        )
    ) {
        let script = pieces.concat();
        read_words(&words(&script));
        read_words(&script.split(' ').map(str::to_owned).collect::<Vec<_>>());
        crate::plan::mentions(&script);
    }
}
