//! Turns the catalogue into JSON, so that a run does not pay for reading YAML.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=src/catalog/sidecars.yaml");
    let yaml =
        fs::read_to_string("src/catalog/sidecars.yaml").expect("the catalogue is in the package");
    let value: serde_json::Value = serde_saphyr::from_str(&yaml).expect("the catalogue is YAML");
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let json = serde_json::to_string(&value).expect("plain data");
    fs::write(Path::new(&folder).join("sidecars.json"), json).expect("OUT_DIR can be written");
}
