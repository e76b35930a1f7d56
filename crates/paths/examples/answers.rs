//! Looks up the keys on standard input, one per line, in a filter. Prints a line for each: 1 if the
//! key may be present, 0 if it is absent.
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
    let name = env::args_os().nth(1).ok_or("expected a filter file, found no argument")?;
    let file = fs::read(name)?;
    let filter = PathFilter::parse(&file)?;
    let mut answers = io::BufWriter::new(io::stdout().lock());
    for key in io::stdin().lock().split(b'\n') {
        writeln!(answers, "{}", u8::from(filter.has(&key?)))?;
    }
    answers.flush()?;
    Ok(())
}
