# Everything that CI checks.
ready: fmt lint test docs

# Format is rustfmt's default.
fmt:
    cargo fmt --check

# Warnings are errors, with and without the cluster.
lint:
    cargo clippy --all-targets --features cluster-tests -- -D warnings
    cargo clippy --all-targets --no-default-features -- -D warnings

test:
    cargo test

# Expected files are rewritten; read the diff before you commit it.
bless:
    SNAPSHOTS=overwrite cargo test

# How `lint` compares with a bare loop over the parser's events, on the manifests of these folders.
bench *FOLDERS:
    cargo bench --no-default-features --bench lint -- {{FOLDERS}}

docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# End to end, on a real API server and kubelet.
test-cluster:
    cargo test --features cluster-tests --test cluster
