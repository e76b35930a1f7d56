//! Does the work that is counted, under `callgrind`, which counts what happens inside [`counted`].
//!
//! Prints what depends on the processor, and then the cases in their order, each with the number of
//! its operations. With `--slow`, each does more than it says.

use hedgerow_guard::{Prepared, cases};

/// What callgrind counts, and what it writes a file after: it knows this function by its name.
#[inline(never)]
fn counted(prepared: &mut Prepared, slowed: bool) {
    prepared.run(slowed);
}

/// What BLAKE3 and the C library choose their code by.
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
