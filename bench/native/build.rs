//! Generates the perfect hash table of the `phf` rival, which needs its keys at compile time.

use std::{env, fs, path::Path};

const INTERNAL: &str = "../../corpora/headers/internal.txt";

fn main() {
    println!("cargo::rerun-if-changed={INTERNAL}");
    let names = fs::read_to_string(INTERNAL).expect("the corpus of internal names");
    let mut map = phf_codegen::Map::new();
    for (number, name) in names.lines().enumerate() {
        map.entry(name, number.to_string());
    }
    let out =
        Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("internal_phf.rs");
    fs::write(out, map.build().to_string()).expect("writing the generated table");
}
