//! Generates the requests of the header workloads, as the JavaScript benchmarks do.

use std::{env, path::PathBuf, process::Command};

const GENERATOR: &str = "../../scripts/lib/corpus.mjs";

/// Writes one request per line, names separated by spaces.
const SCRIPT: &str = "
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
const [generator, out] = process.argv.slice(1);
const { requests } = await import(pathToFileURL(generator));
for (const name of ['real', 'uniform', 'near']) {
  const lines = requests(name).map(({ names }) => names.join(' '));
  writeFileSync(`${out}/${name}.txt`, lines.join('\\n'));
}
";

fn main() {
    println!("cargo::rerun-if-changed={GENERATOR}");
    println!("cargo::rerun-if-changed=../../corpora/headers");
    println!("cargo::rerun-if-changed=../../tests/origin/random.mjs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let status = Command::new("node")
        .args(["--input-type=module", "--eval", SCRIPT, "--", GENERATOR])
        .arg(out)
        .status()
        .expect("node is on the PATH");
    assert!(status.success(), "{GENERATOR} failed");
}
