use super::*;

fn shown(text: &str) -> Vec<String> {
    mentions(text)
        .into_iter()
        .map(|mention| match mention.target {
            Target::Address(address) => {
                let port = address
                    .port
                    .map_or(String::new(), |port| format!(":{port}"));
                let path = address.path.unwrap_or_default();
                format!("{}{port}{path} [{}]", address.host, mention.words)
            }
            Target::File { path } => path,
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn addresses_are_found_in_the_forms_that_people_write() {
    for (text, expected) in [
        (
            "http://127.0.0.1:8080/ready",
            "127.0.0.1:8080/ready [127.0.0.1:8080]",
        ),
        (
            "jdbc:postgresql://localhost:5432/x",
            "localhost:5432/x [localhost:5432]",
        ),
        (
            "--docker=tcp://localhost:2375",
            "localhost:2375 [localhost:2375]",
        ),
        ("unix:///run/x.sock", "/run/x.sock"),
        ("--listen=unix:/run/y.sock", "/run/y.sock"),
        (
            "user:pw@tcp(127.0.0.1:3306)/db",
            "127.0.0.1:3306 [127.0.0.1:3306]",
        ),
        ("[::1]:80", "::1:80 [[::1]:80]"),
        (
            "host=127.0.0.1 port=5432 user=x",
            "127.0.0.1:5432 [127.0.0.1]",
        ),
        ("--host localhost --port 6379", "localhost:6379 [localhost]"),
        (
            "postgres://crm:s3c@127.0.0.1:5432/crm",
            "127.0.0.1:5432/crm [127.0.0.1:5432]",
        ),
        (
            "http://$(POD_IP):8080/x",
            "$(POD_IP):8080/x [$(POD_IP):8080]",
        ),
        ("{\"url\":\"http://web/health\"}", "web/health [web]"),
        (
            "{{ .Values.x }}:80 redis.data.svc:6379",
            "redis.data.svc:6379 [redis.data.svc:6379]",
        ),
    ] {
        assert_eq!(shown(text), [expected], "{text}");
    }
    assert_eq!(shown("mongodb://a:27017,b:27018/db").len(), 2);
}

#[test]
fn other_texts_with_colons_name_no_address() {
    for text in [
        "chown 1000:1000 /data",
        "redis:7",
        "12:30",
        ":8080",
        "registry.example.com/shop/orders:1.9.0",
        "a::b",
        "key: value",
        "",
    ] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
}
