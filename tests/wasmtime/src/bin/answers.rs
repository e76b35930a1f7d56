//! `answers FILE`: looks up keys in the path filter in FILE, with `edge.wasm` in Wasmtime.
//!
//! Reads keys from standard input, one per line, as bytes up to LF. Prints a line for each: `1` if the
//! key may be present, `0` if it is absent. An error is printed in one line, with the exit code 2.

use std::{
    env,
    error::Error,
    fs,
    io::{BufRead, BufWriter, Write, stdin, stdout},
    process::ExitCode,
};

use hedgerow_example_wasmtime_host::{EdgeModule, PathFilter};
use hedgerow_tests_wasmtime::published;

fn main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("answers: {error}");
            ExitCode::from(2)
        }
    }
}

fn answer() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("expected a filter file, found no argument")?;
    let file = fs::read(path)?;
    let edge = EdgeModule::instantiate(&published()?)?;
    let filter = PathFilter::parse(&edge, &file, false)?;
    let mut answers = BufWriter::new(stdout().lock());
    for key in stdin().lock().split(b'\n') {
        writeln!(answers, "{}", u8::from(filter.has(&key?)?))?;
    }
    Ok(answers.flush()?)
}
