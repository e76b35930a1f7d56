//! Runs the cases under `callgrind`, which counts the instructions inside [`counted`].
//!
//! Prints the processor features that select code, then each case in order with the number of its
//! operations. With `--slow`, each case runs more operations than it prints.

use hedgerow_guard::{Prepared, cases};

/// The function whose instructions callgrind counts. It is given to callgrind by name.
#[inline(never)]
fn counted(prepared: &mut Prepared, slowed: bool) {
    prepared.run(slowed);
}

/// The features by which BLAKE3 and the C library select code.
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
