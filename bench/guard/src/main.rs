//! Runs the cases under `callgrind`, which counts the instructions inside [`counted`].
//!
//! Prints the instruction set of the processor, then a line per case with the number of its operations.
//! With `--slow`, each case does more work than it reports.

use hedgerow_guard::{Prepared, cases};

/// The function that callgrind counts, by its name. It writes a file after each call.
#[inline(never)]
fn counted(prepared: &mut Prepared, slowed: bool) {
    prepared.run(slowed);
}

/// Returns the instruction set by which BLAKE3 and the C library choose their code.
fn processor() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    "baseline"
}

fn main() {
    let slowed = std::env::args().any(|argument| argument == "--slow");
    println!("{}", processor());
    for case in cases() {
        let name = case.name.clone();
        let mut prepared = case.prepare();
        counted(&mut prepared, slowed);
        println!("{}\t{name}", prepared.operations);
    }
}
