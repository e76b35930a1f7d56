//! Reads files on standard input, each as a line of hexadecimal digits. Prints a line for each: `ok` and the
//! depth of its wildcards if it is a path filter, else the error.
//!
//! ```sh
//! xxd -p paths.filter | tr -d '\n' | cargo run --example check
//! ```

use std::io::{self, BufRead, Write};

use hedgerow_paths::PathFilter;

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        match PathFilter::parse(&bytes_of(&line?)) {
            Ok(filter) => writeln!(out, "ok {}", filter.wildcards())?,
            Err(error) => writeln!(out, "{error}")?,
        }
    }
    out.flush()
}

/// Returns the bytes that hexadecimal digits stand for.
fn bytes_of(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(String::from_utf8_lossy);
    pairs.map(|pair| u8::from_str_radix(&pair, 16).unwrap_or_default()).collect()
}
