//! Decompresses standard input to standard output with zstd 1.4.

use std::io::{Read, Write, stdin, stdout};
use std::process::exit;

use zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

fn main() {
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes).unwrap();
    let mut decoder = zstd_safe::create_dctx();
    let mut input = InBuffer { src: &bytes, pos: 0 };
    let mut out = vec![0; DCtx::out_size()];
    while input.pos < bytes.len() {
        let mut output = OutBuffer { dst: &mut out[..], pos: 0 };
        match decoder.decompress_stream(&mut output, &mut input) {
            Ok(_) => stdout().write_all(&output.dst[..output.pos]).unwrap(),
            Err(code) => {
                eprintln!("{}", get_error_name(code));
                exit(1);
            }
        }
    }
}
