//! Asks a filter for the keys on standard input, one a line, and prints 1 or 0 for each: may be
//! present, or certainly absent.
//!
//! ```sh
//! cargo run --example answers -- paths.filter < keys.txt
//! ```

use std::{
    env, fs,
    io::{self, BufRead, Write},
};

use hedgerow_paths::PathFilter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = env::args_os().nth(1).ok_or("expected the file of a filter")?;
    let file = fs::read(name)?;
    let filter = PathFilter::parse(&file)?;
    let mut answers = io::BufWriter::new(io::stdout().lock());
    for key in io::stdin().lock().split(b'\n') {
        writeln!(answers, "{}", u8::from(filter.has(&key?)))?;
    }
    answers.flush()?;
    Ok(())
}
