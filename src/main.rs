//! `kubectl-startorder`.

fn main() {}
