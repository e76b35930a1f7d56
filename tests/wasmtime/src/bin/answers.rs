//! Looks up keys in path filters, with `paths.wasm` in Wasmtime.
//!
//! Each line of standard input has the path of a filter, a tab, and the path of a file of keys, one per line, as
//! bytes up to LF. Prints a line for each: a digit for each key, `1` if the key may be present and `0` if it is
//! absent, or `error: ` and a message. One process answers all lines, because the module takes longer to compile
//! than to run.

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    io::{self, Write as _, stdin, stdout},
};

use hedgerow_example_wasmtime_host::{EdgeModule, PathFilter};
use hedgerow_tests_wasmtime::published;
use wasmtime::Module;

fn main() -> Result<(), Box<dyn Error>> {
    let module = published("paths")?;
    for line in stdin().lines() {
        let answers = answer(&module, &line?).unwrap_or_else(|error| format!("error: {error}"));
        print(&answers)?;
    }
    Ok(())
}

fn answer(module: &Module, line: &str) -> Result<String, Box<dyn Error>> {
    let (filter, keys) = line.split_once('\t').ok_or("expected two paths, found no tab")?;
    let edge = EdgeModule::instantiate(module)?;
    let filter = PathFilter::parse(&edge, &fs::read(filter)?, false)?;
    let mut answers = String::new();
    for key in fs::read(keys)?.split_inclusive(|&byte| byte == b'\n') {
        let key = key.strip_suffix(b"\n").unwrap_or(key);
        write!(answers, "{}", u8::from(filter.has(key)?))?;
    }
    Ok(answers)
}

/// Prints a line at once, since the reader waits for it.
fn print(line: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}", line.replace('\n', " "))?;
    out.flush()
}
