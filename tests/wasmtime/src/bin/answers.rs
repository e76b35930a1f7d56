//! `answers FILE`: whether the path filter in FILE has keys, as `edge.wasm` in Wasmtime says.
//!
//! Keys come on standard input, one a line, as bytes up to LF; for each a line with `1` or `0` goes
//! out. Anything that is wrong is told in one line, and the exit code is 2.

use std::{
    env,
    error::Error,
    fs,
    io::{BufRead, BufWriter, Write, stdin, stdout},
    process::ExitCode,
};

use hedgerow_tests_wasmtime::{EdgeModule, Filter, published};

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
    let path = env::args_os().nth(1).ok_or("expected the file of a filter, found no argument")?;
    let file = fs::read(path)?;
    let edge = EdgeModule::instantiate(&published()?)?;
    let filter = Filter::parse(&edge, &file, false)?;
    let mut answers = BufWriter::new(stdout().lock());
    for key in stdin().lock().split(b'\n') {
        writeln!(answers, "{}", u8::from(filter.has(&key?)))?;
    }
    Ok(answers.flush()?)
}
